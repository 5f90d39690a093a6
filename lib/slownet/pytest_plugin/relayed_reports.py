"""Reports here what happens in the pytest of a lab, so that a session is one session wherever its tests run.

Nothing that comes is believed: an event has its shape or ends the session, a test is one that was sent there, and what a report
has beside pytest's own values cannot replace a method. A forged report can lie about its test, as the test itself can.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pytest

from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.events import Event, Handle
from slownet.model import shapes
from slownet.model.control_characters import visible
from slownet.model.errors import LabError

EVENT_BYTES = 64 << 20
LINE_BYTES = len(inside.MARK) + inside.PIECE + 3
HEARD_S = 10.0
"""Real time after which a test has not heard of its timeout: where computing is free, a program that does nothing else keeps
all others from running, as no time passes in which it would be their turn."""
ALARMS = ("alarm", "calm")
WAIT = "wait"
"""The event of a worker that has no test to run."""
SUMMARIES = pytest.StashKey[list[tuple[str, str]]]()
"""The summaries of plugins at the end of sessions in labs: their names, and their texts."""
PHASES = ("setup", "call", "teardown", "collect")
TEXT_CHARACTERS = 16 << 20


def _text(value: Any, where: str) -> None:
    if not isinstance(value, str) or len(value) > TEXT_CHARACTERS:
        raise shapes.ShapeError(f"{where} is not a text, or too long")


def _anything(value: Any, where: str) -> None:
    pass


GRAMMAR: Mapping[str, Mapping[str, shapes.Shape]] = {
    "start": {"test": _text},
    "finish": {"test": _text},
    "report": {"report": _anything},
    "collected": {"report": _anything},
    "warning": {
        "text": _text, "module": _text, "name": _text, "file": _text, "line": shapes.whole(), "when": _text,
        "test": _text, "location": _anything,
    },
    "interrupt": {"kind": _text, "reason": _text, "status": _anything},
    "internal": {"text": _text},
    "left_out": {"text": _text},
    "ask": {},
    "alarm": {"test": _text, "after": shapes.number(0)},
    "calm": {},
    "wait": {},
    "summary": {"plugin": _text, "text": _text},
    "end": {"failed": _text},
}  # fmt: skip


class ReportError(LabError):
    """A lab sent what is not an event of pytest's."""

    @classmethod
    def of(cls, what: str) -> ReportError:
        fix = "the lab was ended; a test, or a program that it runs, printed the mark of slownet's events"
        return cls(f"the lab sent an invalid event: {what}", fix=fix)


class Lines:
    """Finds events in the output of a pytest that forwards them, in pieces of any size; the rest is passed on as it comes."""

    def __init__(self, handle: Handle, rest: Callable[[bytes], None]) -> None:
        self._handle, self._rest = handle, rest
        self._pending = b""
        self._event = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next piece. Raises ReportError."""
        self._pending += data
        while self._pending:
            at = self._pending.find(inside.MARK)
            if at < 0:
                held = self._held()
                self._pass(len(self._pending) - held)
                return
            self._pass(at)
            end = self._pending.find(b"\n")
            if end < 0:
                if len(self._pending) > LINE_BYTES:
                    raise ReportError.of("a line without an end")
                return
            line, self._pending = self._pending[len(inside.MARK) : end].rstrip(b"\r"), self._pending[end + 1 :]
            self._take(line)

    def _held(self) -> int:
        """Return how many of the last bytes may be the beginning of a mark."""
        sizes = range(min(len(inside.MARK) - 1, len(self._pending)), 0, -1)
        return next((size for size in sizes if self._pending.endswith(inside.MARK[:size])), 0)

    def _pass(self, size: int) -> None:
        if size:
            passed, self._pending = self._pending[:size], self._pending[size:]
            self._rest(passed)

    def _take(self, line: bytes) -> None:
        kind, piece = line[:1], line[1:]
        self._event += piece
        if kind not in (inside.MORE, inside.LAST) or len(self._event) > EVENT_BYTES:
            raise ReportError.of("too long" if kind in (inside.MORE, inside.LAST) else "a line of unknown kind")
        if kind == inside.LAST:
            data = bytes(self._event)
            self._event.clear()
            self._handle(_event(data))


def _event(data: bytes) -> Event:
    try:
        found = json.loads(data)
        shape = GRAMMAR[found["event"]]
        if found.keys() != {"event", *shape}:
            raise ReportError.of(f"values of '{found['event']}'")
        for name, check in shape.items():
            check(found[name], name)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReportError.of(visible(f"{type(error).__name__}: {error}")[:200]) from None
    return dict(found)


class Alarms:
    """Rings in a lab when the time of its running test is over, and ends a lab that does not hear."""

    def __init__(self, ring: Callable[[], None], end_lab: Callable[[], None]) -> None:
        self._ring, self._end_lab = ring, end_lab
        self._alarm: threading.Timer | None = None
        self.timed_out = ""
        """The report of the test whose time is over."""

    def take(self, event: Event) -> None:
        """Take an event: "alarm", with the test and its seconds, or "calm"."""
        self.stop()
        self._alarm, self.timed_out = None, ""
        if event["event"] == "alarm":
            self._wait(min(event["after"], threading.TIMEOUT_MAX), lambda: self._over(event))

    def _over(self, event: Event) -> None:
        self.timed_out = f"Timeout (>{event['after']:g}s) from pytest-timeout: {visible(event['test'])}"
        self._ring()
        self._wait(HEARD_S, self._give_up)

    def _give_up(self) -> None:
        self.timed_out += ": it does not hear of it, which ended its lab"
        self._end_lab()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._alarm = threading.Timer(seconds, then)
        self._alarm.daemon = True
        self._alarm.start()

    def stop(self) -> None:
        """Cancel an alarm, because the lab has ended."""
        if self._alarm:
            self._alarm.cancel()


class Reporter:
    """Reports the tests of one place, and knows how its session ended."""

    def __init__(self, session: pytest.Session, items: Sequence[pytest.Item], ask: Callable[[], None], alarms: Alarms) -> None:
        """ask: reads a line for a test."""
        self._session, self._config, self._answer = session, session.config, ask
        self.alarms = alarms
        self._items: dict[str, list[pytest.Item]] = {}
        for item in items:
            self._items.setdefault(item.nodeid, []).append(item)
        self.left = [item.nodeid for item in items]
        """Tests that did not begin yet, in order."""
        self.running: pytest.Item | None = None
        self.not_collected: list[str] = []
        """Nodes that failed to be collected there, or were skipped."""
        self.errors = 0
        """The number of these that failed."""
        self.left_out = ""
        """The plugins that pytest leaves out in that session, and why."""
        self.interrupt: Event | None = None
        self.internal = self.ended = False
        self._since = time.monotonic()

    def take(self, event: Event) -> None:
        """Take an event. Raises ReportError."""
        if event["event"] in ALARMS:
            if event["event"] == "alarm":
                self._item(event["test"])
            self.alarms.take(event)
        else:
            getattr(self, f"_{event['event']}")(event)

    def _wait(self, event: Event) -> None:
        raise ReportError.of("'wait', of a session without workers")

    def _item(self, name: str) -> pytest.Item:
        if name not in self._items:
            raise ReportError.of(f"of a test that was not sent to the lab: {visible(name)[:200]}")
        return self._items[name][0]

    def _start(self, event: Event) -> None:
        item = self._item(event["test"])
        if item.nodeid in self.left:
            self.left.remove(item.nodeid)
        self.running, self._since = item, time.monotonic()
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)

    def _finish(self, event: Event) -> None:
        item = self._item(event["test"])
        self.running = None
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _report(self, event: Event) -> None:
        data = _checked(event["report"])
        item = self._item(data["nodeid"])
        now = time.monotonic()
        took, self._since = now - self._since, now
        data |= {"location": item.location, "duration": took, "stop": time.time(), "start": time.time() - took}
        item.ihook.pytest_runtest_logreport(report=self._built(data, pytest.TestReport))

    def _collected(self, event: Event) -> None:
        data = _checked(event["report"])
        report = self._built(data | {"result": []}, pytest.CollectReport)
        self.not_collected.append(report.nodeid)
        self.errors += report.failed
        self._config.hook.pytest_collectreport(report=report)

    def _built(self, data: Event, kind: type) -> Any:
        """Return the report, after it was shown once: what cannot be shown is refused before anything depends on it."""
        try:
            report = self._config.hook.pytest_report_from_serializable(config=self._config, data=data)
            good = isinstance(report, kind) and isinstance(getattr(report, "longreprtext", None), str)
        except Exception as error:
            raise ReportError.of(f"a report ({type(error).__name__})") from None
        if not good:
            raise ReportError.of("a report of unknown kind")
        return report

    def _warning(self, event: Event) -> None:
        module = sys.modules.get(event["module"])
        kind = vars(module).get(event["name"]) if module else None
        known = isinstance(kind, type) and issubclass(kind, Warning)
        category: Any = kind if known else UserWarning
        text = event["text"] if known else f"{event['name']}: {event['text']}"
        message = warnings.WarningMessage(UserWarning(visible(text)), category, visible(event["file"]), event["line"])
        location = event["location"]
        if event["when"] not in ("config", "collect", "runtest"):
            raise ReportError.of("a warning of unknown phase")
        right = isinstance(location, list) and [type(each) for each in location] == [str, int, str]
        self._config.hook.pytest_warning_recorded.call_historic(kwargs={
            "warning_message": message, "when": event["when"], "nodeid": event["test"],
            "location": tuple(location) if right else None,
        })  # fmt: skip

    def _left_out(self, event: Event) -> None:
        self.left_out = visible(event["text"])

    def _interrupt(self, event: Event) -> None:
        self.interrupt = event

    def _internal(self, event: Event) -> None:
        self.internal = True
        for line in event["text"].splitlines():
            print(f"INTERNALERROR> {visible(line)}", file=sys.stderr)

    def _ask(self, event: Event) -> None:
        self._answer()

    def _summary(self, event: Event) -> None:
        self._config.stash.setdefault(SUMMARIES, []).append((visible(event["plugin"]), event["text"]))

    def _end(self, event: Event) -> None:
        self.ended = True
        if event["failed"] and not self._session.shouldfail:
            self._session.shouldfail = visible(event["failed"])

    def fail_running(self, why: str) -> None:
        """Report the test that runs as failed, because its lab ended."""
        if self.running is not None:
            self._fail(self.running, why, "call")
            self._finish({"test": self.running.nodeid})

    def fail_missing(self) -> None:
        """Report tests that the other session does not have, unless it explained why: it collects for itself."""
        for name in self.left:
            item = self._items[name][0]
            if not any(name.startswith(node) for node in self.not_collected):
                item.ihook.pytest_runtest_logstart(nodeid=name, location=item.location)
                why = "collected on this machine, and not in the lab: is its name, or whether it exists, another one there?"
                self._fail(item, f"slownet: {self.left_out or why}", "setup")
                item.ihook.pytest_runtest_logfinish(nodeid=name, location=item.location)

    def _fail(self, item: pytest.Item, why: str, when: Any) -> None:
        keywords: dict[str, Literal[1]] = dict.fromkeys(item.keywords, 1)
        took = time.monotonic() - self._since
        report = pytest.TestReport(item.nodeid, item.location, keywords, "failed", why, when, duration=took)
        item.ihook.pytest_runtest_logreport(report=report)


def _checked(data: Any) -> Event:
    """Return the values of a report, as far as their kinds are fixed. Raises ReportError."""
    try:
        # plugins have outcomes of their own, such as "rerun"
        known = str.isidentifier(data["outcome"]) and data.get("when", "collect") in PHASES
        if not known or not isinstance(data["nodeid"], str):
            raise ReportError.of("a report of unknown outcome")
        methods = {*dir(pytest.TestReport)} - {"nodeid"}
        clash = [name for name in data if name in methods or name.startswith("__")]
        if clash:
            raise ReportError.of(f"a report with a value for {visible(clash[0])}")
        texts = [[str(each) for each in pair] for pair in data["sections"]]
        properties = [(str(name), value) for name, value in data.get("user_properties", ())]
        if any(len(pair) != 2 for pair in texts):
            raise ReportError.of("a report's sections")
        longrepr = data["longrepr"]
        if isinstance(longrepr, list):
            path, line, reason = longrepr
            longrepr = (str(path), int(line), str(reason))
        elif longrepr is not None and not isinstance(longrepr, (str, dict)):
            raise ReportError.of("a report's text")
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise ReportError.of(f"a report ({type(error).__name__})") from None
    changed: dict[str, object] = {"sections": [tuple(pair) for pair in texts], "longrepr": longrepr}
    if "user_properties" in data:
        changed["user_properties"] = properties
    return {**data, **changed}
