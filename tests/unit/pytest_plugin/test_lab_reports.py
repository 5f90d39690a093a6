"""What a lab sends of its pytest: events found in its output, reports rebuilt from them, and nothing believed."""

import json
from types import SimpleNamespace

import pytest

from slownet.lab.run import pytest_inside as inside
from slownet.pytest_plugin.relayed_reports import Alarms, Lines, Reporter, ReportError

NOTHING = (lambda: None, Alarms(lambda: None, lambda: None))
"""What a reporter may ask of a lab."""


def sent(event, monkeypatch, tmp_path):
    """Return an event as the lab's pytest writes it."""
    path = tmp_path / "events"
    with path.open("wb", buffering=0) as file:
        monkeypatch.setenv(inside.EVENTS, str(file.fileno()))
        inside.send(event)
    return path.read_bytes()


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_events_are_found_among_what_tests_print(monkeypatch, tmp_path, size):
    long = {"event": "internal", "text": "x" * 5000}
    start = {"event": "start", "test": "test_a.py::test_\N{GREEK SMALL LETTER ALPHA}"}
    data = b"printed" + sent(start, monkeypatch, tmp_path) + b"\x1eslow\n" + sent(long, monkeypatch, tmp_path) + b"end"
    taken, printed = [], []
    lines = Lines(taken.append, printed.append)
    for at in range(0, len(data), size):
        lines.feed(data[at : at + size])
    assert taken == [start, long]
    assert b"".join(printed) == b"printed\x1eslow\nend"


@pytest.mark.parametrize(
    "line",
    [
        b".{", b".[]", b'.{"event": "start"}', b'.{"event": "start", "test": 3}',
        b'.{"event": "start", "test": "a", "more": 1}',
        b'.{"event": "evil"}', b"?{}", b"." + b"[" * 100_000, b"+" + b"x" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_event_ends_the_session(line):
    lines = Lines(print, print)
    with pytest.raises(ReportError):
        lines.feed(inside.MARK + line + (b"" if line.startswith(b"+") else b"\n"))  # a line without an end grows


@pytest.fixture
def reporter(request):
    """A reporter of this test, with what it would report: (reporter, reports)."""
    heard = []
    hook = SimpleNamespace(
        pytest_runtest_logstart=lambda **_: None, pytest_runtest_logfinish=lambda **_: None,
        pytest_runtest_logreport=lambda report: heard.append(report),
    )  # fmt: skip
    item = SimpleNamespace(
        nodeid="test_a.py::test_it", location=("test_a.py", 3, "test_it"), ihook=hook, keywords={"test_it": 1}
    )
    return Reporter(SimpleNamespace(config=request.config, shouldfail=False), [item], *NOTHING), heard


def data(config, **changed):
    """Return what a lab sends of a failed test, with changes."""
    try:
        assert 6 * 7 == 41
    except AssertionError:
        info = pytest.ExceptionInfo.from_current()
    longrepr = info.getrepr(style="short")
    report = pytest.TestReport(
        "test_a.py::test_it", ("test_b.py", 4, "test_b"), {"test_it": 1}, "failed", longrepr, "call", [("out", "text")],
        duration=3600, user_properties=[("size", 7)],
    )  # fmt: skip
    found = json.loads(json.dumps(config.hook.pytest_report_to_serializable(config=config, report=report)))
    return {"event": "report", "report": found | changed}


def test_a_report_is_what_it_was_with_this_machines_times(reporter, request):
    found, heard = reporter
    found.take({"event": "start", "test": "test_a.py::test_it"})
    found.take(data(request.config))
    (report,) = heard
    assert report.nodeid == "test_a.py::test_it"
    assert report.location == ("test_a.py", 3, "test_it")
    assert 0 <= report.duration < 60
    assert (report.sections, report.user_properties) == ([("out", "text")], [("size", 7)])
    assert "6 * 7" in report.longreprtext
    assert found.left == []


def test_a_skipped_test_has_its_place_and_reason(reporter, request):
    found, heard = reporter
    found.take(data(request.config, outcome="skipped", longrepr=["test_a.py", 3, "Skipped: no"]))
    assert heard[0].longrepr == ("test_a.py", 3, "Skipped: no")


@pytest.mark.parametrize(
    "changed",
    [
        {"nodeid": "test_other.py::test_b"}, {"outcome": "so so"}, {"outcome": 7},
        {"when": "never"}, {"longrepr": 7}, {"longrepr": [1]},
        {"toterminal": "text"}, {"failed": False}, {"__class__": "x"}, {"_from_json": 1}, {"sections": 3}, {"sections": [[1]]},
        {"longrepr": {"reprcrash": 1, "reprtraceback": 2}}, {"$report_type": "OtherReport"}, {"user_properties": [1]},
    ],
)  # fmt: skip
def test_a_report_that_cannot_be_is_refused(reporter, request, changed):
    found, heard = reporter
    with pytest.raises(ReportError):
        found.take(data(request.config, **changed))
    assert heard == []


def test_a_plugins_own_outcome_is_passed_on(reporter, request):
    found, heard = reporter
    found.take(data(request.config, outcome="rerun"))
    assert (heard[0].outcome, heard[0].failed, heard[0].passed) == ("rerun", False, False)


def test_a_report_that_is_no_object_is_refused(reporter):
    for value in (None, 3, [], "text"):
        with pytest.raises(ReportError):
            reporter[0].take({"event": "report", "report": value})


def test_a_session_without_workers_has_none_that_waits(reporter):
    with pytest.raises(ReportError, match="'wait'"):
        reporter[0].take({"event": "wait"})


@pytest.mark.parametrize("plugins", [{}, {"playwright": "the lab has no module 'greenlet'"}])
def test_a_test_that_the_lab_does_not_have_is_explained_by_the_plugins_that_it_lacks(reporter, plugins):
    found, heard = reporter
    for name, why in plugins.items():
        found.take({"event": "left_out", "text": f"pytest's plugin {name} is left out in the lab: {why}\x1b[2J"})
    found.fail_missing()
    text = heard[0].longrepr
    assert ("pytest's plugin playwright is left out in the lab: the lab has no module 'greenlet'" in text) == bool(plugins)
    assert ("collected on this machine, and not in the lab" in text) == (not plugins)
    assert "\x1b" not in text


def test_a_warning_names_what_this_process_knows_or_is_a_plain_one(request, monkeypatch, tmp_path):
    heard = []
    hook = SimpleNamespace(pytest_warning_recorded=SimpleNamespace(call_historic=lambda kwargs: heard.append(kwargs)))
    found = Reporter(SimpleNamespace(config=SimpleNamespace(hook=hook), shouldfail=False), [], *NOTHING)
    plain = {"event": "warning", "text": "careful\x1b[2J", "file": "a.py", "line": 3, "when": "runtest", "test": "t",
             "location": ["a.py", 3, "f"]}  # fmt: skip
    for module, name in [("builtins", "DeprecationWarning"), ("os", "system"), ("this", "x"), ("builtins", "ValueError")]:
        found.take(plain | {"module": module, "name": name})
    assert [each["warning_message"].category for each in heard] == [DeprecationWarning, UserWarning, UserWarning, UserWarning]
    assert [str(each["warning_message"].message) for each in heard[:2]] == [r"careful\x1b[2J", r"system: careful\x1b[2J"]
    assert heard[0]["location"] == ("a.py", 3, "f")


def test_a_test_whose_lab_ended_and_one_that_the_lab_does_not_have(reporter):
    found, heard = reporter
    found.fail_missing()
    assert (heard[0].outcome, heard[0].when) == ("failed", "setup")
    found.not_collected.append("test_a.py")
    found.fail_missing()
    assert len(heard) == 1
    found.take({"event": "start", "test": "test_a.py::test_it"})
    found.fail_running("slownet: the lab died")
    assert heard[1].longreprtext == "slownet: the lab died"
