"""The script of `make soak`: it counts failures."""

import importlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slownet.lab.host import owner

FOLDER = Path(__file__).parents[2]


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("soak")


@pytest.fixture
def start(soak, tmp_path, monkeypatch):
    """Run the script for that many rounds and one whole round, with the test's commands."""
    monkeypatch.setattr(soak.signal, "signal", lambda number, handler: None)

    def start(rounds):
        words = ["soak", "--rounds", str(rounds), "--whole", "1", "--hogs", "0", "--keep", str(tmp_path / "kept")]
        monkeypatch.setattr(sys, "argv", words)
        return soak.main()

    return start


def test_every_round_is_run_and_failures_are_counted_and_kept(soak, tmp_path, capsys):
    failing = "print('FAILED tests/unit/test_x.py::test_y[a b] - AssertionError: no - no'); raise SystemExit(1)"
    steps = [{"good": [sys.executable, "-c", ""], "bad": [sys.executable, "-c", failing]}, {"last": ["true"]}]
    tally = soak.Tally()
    soak.soak("whole round", 2, steps, tmp_path / "kept", tally)
    assert (tally.rounds, tally.failed) == (2, 2)
    assert tally.failures == {"tests/unit/test_x.py::test_y[a b]": 2}
    assert sorted(path.name for path in tmp_path.glob("kept/*")) == ["whole-round-1-bad.txt", "whole-round-2-bad.txt"]
    assert soak.tell({"whole rounds": tally}, tmp_path) == 1
    assert "0 of 2 passed, 0 in a row\n    2 times tests/unit/test_x.py::test_y[a b]\n" in capsys.readouterr().out


def test_what_never_ends_is_ended(soak, monkeypatch):
    monkeypatch.setattr(soak, "PATIENCE_S", 0.2)
    monkeypatch.setattr(soak, "GRACE_S", 0.2)
    ignoring = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(600)"
    codes = {"sleeps": "import time; time.sleep(600)", "ignores": ignoring}
    found = soak.run({name: [sys.executable, "-c", code] for name, code in codes.items()})
    assert list(found) == ["sleeps", "ignores"]
    for seconds, output in found.values():
        assert seconds >= 0.2
        assert "ended after 0.2 s" in output


def test_an_interrupt_ends_what_runs(soak, tmp_path, monkeypatch):
    class Interrupting:
        """A clock for soak that raises the interrupt in its sleep."""

        monotonic = staticmethod(time.monotonic)

        @staticmethod
        def sleep(seconds):
            if (tmp_path / "pid").exists():
                raise KeyboardInterrupt

    monkeypatch.setattr(soak, "time", Interrupting)
    waiting = f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 600"
    with pytest.raises(KeyboardInterrupt):
        soak.run({"first": ["true"], "waits": ["sh", "-c", waiting]})
    assert owner.started(int((tmp_path / "pid").read_text())) is None


def test_a_soak_goes_on_where_it_was_interrupted(soak, start, capsys, monkeypatch):
    """On the same commit: rounds and failures accumulate."""
    monkeypatch.setattr(soak, "SMOKE", [{"bad": ["false"]}])
    monkeypatch.setattr(soak, "WHOLE", [{"good": ["true"]}])
    monkeypatch.setattr(soak, "tree", lambda: "")
    assert [start(2), start(3)] == [1, 1]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in lines if " of " in line and "(" in line] == [
        "round 1 of 2", "round 2 of 2", "whole round 1 of 1", "round 3 of 3",
    ]  # fmt: skip
    assert lines[-4:-1] == [
        "rounds: 0 of 3 passed, 0 in a row", "    3 times bad: no test by name", "whole rounds: 1 of 1 passed, 1 in a row",
    ]  # fmt: skip


def test_the_longest_row_is_told(soak):
    tally = soak.Tally()
    for passed in (True, True, False, True):
        tally.add(passed)
    assert (tally.rounds, tally.failed, tally.row, tally.longest) == (4, 1, 1, 2)


@pytest.mark.skipif(not shutil.which("git"), reason="no git here")
def test_a_round_in_which_the_files_changed_does_not_count(soak, start, tmp_path, capsys, monkeypatch):
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", clone], check=True)
    monkeypatch.setattr(soak, "ROOT", clone)
    monkeypatch.setattr(soak, "SMOKE", [{"same": ["true"]}])
    monkeypatch.setattr(soak, "WHOLE", [{"writes": ["touch", "new.py"]}])
    assert start(1) == 2
    said = capsys.readouterr()
    assert said.out.count("passed") == 1
    assert said.err == f"{clone}: files changed during a round, so it does not count; soak a clone that nobody works in\n"
    tallies = soak.read(tmp_path / "kept" / soak.TALLY)
    assert {name: tally.rounds for name, tally in tallies.items()} == {"rounds": 1, "whole rounds": 0}


def test_its_files_are_there(soak):
    files = [word for steps in (*soak.SMOKE, *soak.WHOLE) for command in steps.values() for word in command if "tests/" in word]
    assert len(files) > 5
    assert [each for each in files if not (soak.ROOT / each).exists()] == []
