"""Programs of one's own without claims, with defaults, compared with themselves and with what takes a little longer."""

import json

import pytest
from command_line import slownet

# It imports little: most of what a run of it costs would be its own start.
PROGRAM = """
import os
import sys
import time

began = time.monotonic()
assert os.system("ping -c 1 -q " + sys.argv[1] + " > /dev/null") == 0
drawn = int.from_bytes(os.urandom(4)) / 2**32
time.sleep(0.007 * float(os.environ["TIMES"]) + drawn * float(os.environ["DRAWN"]))
print(1000 * (time.monotonic() - began))
"""
MINE = """
import sys
from pathlib import Path

from slownet import TwoHosts, experiment


@experiment(topology=TwoHosts, vary={"rtt": ["0ms", "20ms"]}, unit="ms")
def mine(net, rtt):
    \"\"\"How long does my program take?\"\"\"
    with net.link("client", "server").set(rtt=rtt):
        words = [sys.executable, "-I", "-S", str(Path(__file__).parent / "program.py"), net["server"].IP()]
        return [float(net["client"].popen(words, stdout=-1, text=True).communicate()[0]) for _ in range(3)]
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """measured(name, times, drawn, ...) returns the folder of a run, named from the folder that the commands run in."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "mine.py").write_text(MINE)

    def measure(name, times=1.0, drawn=0.0, *more):
        if not (folder / name).exists():
            given = ["--env", f"TIMES={times}", "--env", f"DRAWN={drawn}"]
            done = slownet("run", "mine.py", "--tdf", "inf", "--runs", name, *given, *more, cwd=folder)
            assert done.returncode == 0, done.stderr
        (found,) = (folder / name).iterdir()
        return found

    return measure


def compared(first, second, *words):
    return slownet("compare", str(first), str(second), *words, cwd=first.parent.parent)


def test_two_runs_of_one_program_are_equal(measured):
    found = compared(measured("one"), measured("again"))
    assert found.returncode == 0, found.stdout + found.stderr
    assert "equal: all 2 comparisons are equivalent" in found.stdout
    assert "margin 0.5 %" in found.stdout
    facts = json.loads((measured("one") / "run.json").read_text())
    assert len(facts["boots"]) == 4
    assert facts["sampling"]["finds"] == 0.01
    assert facts["sampling"]["why"] == "4 repetitions: a difference of 1 % would be found between two such runs"


@pytest.mark.parametrize(
    ("name", "times", "words", "status", "said"),
    [
        ("more", 1.04, [], 1, "worse: "),
        ("more", 1.04, ["--fail-if-slower", "2%"], 1, "worse: "),
        ("more", 1.04, ["--fail-if-slower", "5%"], 0, "no slower: "),
        ("more", 1.04, ["--within", "0.05"], 0, "equal: "),
        pytest.param("a little more", 1.015, [], 1, "worse: ", marks=pytest.mark.long),
        pytest.param("less", 0.96, [], 0, "better: ", marks=pytest.mark.long),
    ],
)
def test_work_that_takes_a_little_longer_is_found(measured, name, times, words, status, said):
    found = compared(measured("one"), measured(name, times), *words)
    assert found.returncode == status, found.stdout
    assert said in found.stdout
    assert "inconclusive" not in found.stdout
    assert "round trips changed" not in found.stdout


def test_a_baseline_is_decided_too(measured):
    folder = measured("one").parent.parent
    done = slownet("compare", "save", str(measured("one")), "baseline.json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    for name, times, status in (("again", 1.0, 0), ("more", 1.04, 1)):
        done = slownet("compare", "baseline.json", str(measured(name, times)), cwd=folder)
        assert done.returncode == status, done.stdout


def test_one_boot_that_was_asked_for_says_what_measures_more_and_that_decides(measured):
    once = measured("once", 1.0, 0.0, "--repeat", "1")
    folder = once.parent.parent
    other = measured("more", 1.04)
    open_one = compared(once, other)
    assert open_one.returncode == 3, open_one.stdout
    command = f"slownet run --resume once/{once.name} --repeat 4"
    assert command in " ".join(open_one.stdout.split())
    saved = slownet("compare", "save", str(once), "once.json", cwd=folder)
    assert saved.returncode == 0
    assert command in saved.stderr
    before = (once / "samples.jsonl").read_text().splitlines()
    given = ("--env", "TIMES=1.0", "--env", "DRAWN=0.0")  # no file keeps them
    done = slownet("run", "--resume", str(once), "--repeat", "4", *given, cwd=folder)
    assert done.returncode == 0, done.stderr
    after = (once / "samples.jsonl").read_text().splitlines()
    assert after[: len(before)] == before
    assert len(after) == 4 * len(before)
    assert compared(once, other).returncode == 1
    assert compared(measured("one"), once).returncode == 0


def test_a_gate_does_not_pass_what_was_not_measured_again(measured):
    less = measured("less of it", 1.0, 0.0, "--vary", "rtt=0ms")
    found = compared(measured("one"), less, "--fail-if-slower", "5%")
    assert found.returncode == 3
    assert "rtt 20ms (not measured again)" in found.stdout
    assert compared(less, measured("one"), "--fail-if-slower", "5%").returncode == 0


@pytest.mark.long
def test_a_program_that_draws_is_repeated_until_ten_per_cent_would_be_found(measured):
    found = compared(measured("drawn", 1.0, 0.0007), measured("drawn again", 1.0, 0.0007))
    assert found.returncode == 0, found.stdout
    facts = json.loads((measured("drawn") / "run.json").read_text())
    assert 5 <= len(facts["boots"]) <= 30
    assert facts["sampling"]["finds"] in (0.01, 0.1)
    found = compared(measured("drawn"), measured("drawn and more", 1.2, 0.0007))
    assert found.returncode == 1, found.stdout
