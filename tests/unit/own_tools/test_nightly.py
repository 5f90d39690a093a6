"""The script of `make nightly`: every job runs to its end, and its time and outcome are recorded."""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]


@pytest.fixture
def nightly(monkeypatch):
    monkeypatch.syspath_prepend(TESTS)
    return importlib.import_module("nightly")


@pytest.fixture
def start(nightly, tmp_path, monkeypatch):
    """`start(jobs, "--status")` runs the script with these jobs and returns its exit status."""
    monkeypatch.setattr(nightly.signal, "signal", lambda number, handler: None)

    def start(jobs, *words):
        monkeypatch.setattr(nightly, "JOBS", jobs)
        return nightly.main([*words, "--keep", str(tmp_path / "kept")])

    return start


JOBS = {"bad": ["sh", "-c", "echo no; exit 3"], "good": ["sh", "-c", "echo yes"]}


def test_a_job_that_fails_keeps_none_from_running_and_its_output_is_kept(start, nightly, tmp_path, capsys):
    assert start(JOBS) == 1
    bad, good = capsys.readouterr().out.splitlines()[-2:]
    assert bad.startswith("bad           failed, status 3 ")
    assert bad.endswith(f"see {tmp_path}/kept/bad.txt")
    assert good.startswith("good          passed ")
    assert "today" in good
    assert (tmp_path / "kept" / "bad.txt").read_text() == "no\n"
    kept = nightly.read(tmp_path / "kept")
    assert {name: each.how for name, each in kept.items()} == {"bad": "failed, status 3", "good": "passed"}
    assert all(each.began <= each.ended <= time.time() for each in kept.values())


def test_the_status_runs_nothing_and_names_what_never_ran(start, tmp_path, capsys):
    assert start({**JOBS, "new": ["true"]}, "--status") == 1
    assert capsys.readouterr().out.splitlines() == [f"{name:<14}has not run here" for name in ("bad", "good", "new")]
    assert not (tmp_path / "kept").exists()
    assert start(JOBS, "good") == 0
    assert start(JOBS, "good", "--status") == 0
    assert start(JOBS, "--status") == 1


def test_an_older_record_of_other_jobs_stays(start, nightly, tmp_path):
    start(JOBS, "good")
    first = nightly.read(tmp_path / "kept")["good"]
    start(JOBS, "bad")
    assert nightly.read(tmp_path / "kept")["good"] == first


def test_how_long_ago_is_said_in_days(nightly):
    last = nightly.Last(1_000_000.0, "abc", 1_007_200.0, "passed")
    assert nightly.line("soak", last, 1_000_000.0 + 2.5 * 86_400, Path("kept")) == (
        "soak          passed                    1970-01-12 13:46 UTC, 2 days ago, after 2.0 h, at abc"
    )


def test_one_that_was_killed_did_not_end(start, nightly, tmp_path, capsys):
    (tmp_path / "kept").mkdir()
    nightly.record(tmp_path / "kept", "good", nightly.Last(time.time(), "abc"))
    assert start(JOBS, "good", "--status") == 1
    assert capsys.readouterr().out.startswith("good          did not end, or is running")


def test_an_interrupt_ends_the_job_and_is_recorded(tmp_path):
    waiting = f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 600"
    code = f"import nightly; nightly.JOBS = {{'waits': ['sh', '-c', {waiting!r}]}}; exit(nightly.main(['--keep', 'kept']))"
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    while not (tmp_path / "pid").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads((tmp_path / "kept" / "nightly.json").read_text())["waits"]["how"] == "interrupted"
    assert "interrupted" in output
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_job_is_not_told_what_this_make_was(start, tmp_path, monkeypatch):
    monkeypatch.setenv("MAKEFLAGS", "-- ONLY=job")
    monkeypatch.setenv("ONLY", "job")
    start({"job": ["sh", "-c", 'echo "[$MAKEFLAGS$ONLY]"']})
    assert (tmp_path / "kept" / "job.txt").read_text() == "[]\n"


def test_an_unknown_job_is_a_mistake(start, capsys):
    with pytest.raises(SystemExit) as error:
        start(JOBS, "god")
    assert error.value.code == 2
    assert "unknown job 'god': choose from bad, good" in capsys.readouterr().err


def test_every_job_is_a_target_of_the_makefile(nightly):
    targets = {line.split(":")[0] for line in (TESTS.parent / "Makefile").read_text().splitlines() if ":" in line}
    assert {command[2] for command in nightly.JOBS.values()} <= targets
