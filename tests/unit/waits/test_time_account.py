"""The section of a run's report about where the time went."""

from types import SimpleNamespace

import pytest
from told import Told, opened

from slownet.report import html_page as section
from slownet.report.html_page import time_account
from slownet.waits import of_run

FREE = {"clock": "virtual", "tdf": "inf", "cpu": "free", "source": "client_delay"}
BESIDE = {"cell": {"rtt": "0ms"}, "status": "ok"}


@pytest.fixture
def run(tmp_path):
    """A run of two cells, of which the second one has captures: a handshake and a question of 80 ms."""
    told = Told(tmp_path)
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=60.0, came=80.0, ports=(80, 40000), payload=b"!")
    captures = [
        {"file": each.main, "before": each.before, "host": each.host, "addresses": list(each.addresses), "packets": 6}
        for each in told.captures()
    ]
    sample = {"cell": {"rtt": "40ms"}, "status": "ok", "captures": captures}
    cells = [SimpleNamespace(samples=[each]) for each in (BESIDE, sample)]
    return SimpleNamespace(directory=tmp_path, facts=dict(FREE), cells=cells, experiment="client_delay")


def test_the_account_of_the_cell_that_has_captures(run):
    found = time_account(run, "client delay")
    assert found.cell == "rtt 40ms"
    assert found.seen.answer == "80 ms: 2 round trips to web (1 TCP handshake, 1 question and answer)"
    assert found.seen.stem == "why-client-delay"
    assert (found.line, found.command) == ("Other cells:", f"slownet why {run.directory.name} --cell rtt=0ms")


def test_without_captures_there_is_the_command(run):
    del run.cells[1]
    found = time_account(run, "x")
    assert (found.seen, found.cell) == (None, "")
    assert found.line == "The time of an operation, step by step:"
    assert found.command == f"slownet why {run.directory.name} --cell rtt=0ms"


@pytest.mark.parametrize(
    "facts",
    [
        {"clock": "real", "tdf": None, "cpu": None},
        {"clock": "virtual", "tdf": "1", "cpu": "time"},
    ],
)
def test_on_another_clock_there_is_nothing(run, facts):
    run.facts |= facts
    assert time_account(run, "x") is None


@pytest.mark.parametrize("facts", [{"compose": {"project": "shop"}}, {"source": "test_it.py::test_far"}, {"source": None}])
def test_what_cannot_be_measured_again_has_no_command(run, facts):
    del run.cells[1]
    run.facts |= facts
    assert time_account(run, "x") is None


def test_captures_that_cannot_be_read_are_a_line(run):
    for path in run.directory.glob("*.pcap"):
        path.write_bytes(b"no capture at all, but some bytes")
    found = time_account(run, "x")
    assert found.seen is None
    assert found.line.startswith("The time of rtt 40ms has no account: ")


def test_a_bug_in_the_engine_costs_no_report(run, monkeypatch):
    monkeypatch.setattr(of_run, "of_sample", lambda *asked: 1 / 0)
    assert "has no account: ZeroDivisionError: 'division by zero'" in time_account(run, "x").line


def test_large_captures_are_left_to_the_command(run, monkeypatch):
    monkeypatch.setattr(section, "MOST_PACKETS", 10)
    found = time_account(run, "x")
    assert found.seen is None
    assert found.command == f"slownet why {run.directory.name} --cell rtt=40ms"
