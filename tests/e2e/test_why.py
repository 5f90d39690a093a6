"""`slownet why` on a run: the account adds up to what was measured, and its slopes are the law's round trips."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.judge.records.result import load
from slownet.why import of_run
from slownet.why.account_text import slopes


def slownet(*words):
    return subprocess.run([sys.executable, "-m", "slownet.cli", *map(str, words)], capture_output=True, text=True, check=False)


def test_a_page_whose_reader_is_far(tmp_path):
    """The run has no captures: its last cell is measured again. The law of client_delay has k = 4."""
    made = slownet("run", "client_delay", "--tdf", "inf", "--repeat", "1", "--vary", "rtt=10ms,40ms", "--runs", tmp_path)
    assert made.returncode == 0, made.stderr
    (run,) = tmp_path.iterdir()
    done = slownet("why", run, "--cell", "rtt=40ms", "--json")
    assert done.returncode == 0, done.stderr
    assert "has no captures: rtt 40ms is measured once more with them" in done.stderr
    found = json.loads(done.stdout)
    measured = load(run).at({"rtt": "40ms"}).summary("time_per_request_ms").mean
    assert found["elapsed_ms"] == pytest.approx(measured, abs=0.1)
    assert sum(each["ms"] for each in found["steps"]) == pytest.approx(found["elapsed_ms"], abs=1e-3)
    assert found["remainder_ms"] == 0
    again = load(Path(found["run"]))
    account = of_run.of_sample(again, of_run.sample_of(again, {"rtt": "40ms"}))
    links = of_run.links_between(again.facts["topology"])
    assert slopes(account, links)["client-switch"] == pytest.approx(4.0, abs=0.1)
    shown = slownet("why", found["run"])
    assert shown.stdout.startswith("160 ms: 4 round trips to web (2 window, 1 TCP handshake, 1 question and answer)\n")
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_mistakes_are_one_line(tmp_path):
    for words, what in (
        ((tmp_path / "none",), "no run"),
        ((tmp_path, "--cell", "rtt"), "unclear cell 'rtt', --cell: write NAME=VALUE such as rtt=40ms"),
    ):
        done = slownet("why", *words)
        assert done.returncode == 2
        assert what in done.stderr or "run.json" in done.stderr
        assert "Traceback" not in done.stderr
