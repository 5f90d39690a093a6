"""A history: operations of clients with their begins and ends, in the order of time, one JSON object a line.

Each line has these keys, and no others:

- ``time``: nanoseconds since the history's begin, a whole number that never goes back;
- ``process``: the client, a whole number from 0; or "faults" for what was broken or repaired;
- ``type``: "invoke" when an operation begins; then "ok" if it was done, "fail" if it surely was not, or "info" if unknown,
  as after a timeout: it may have happened, or may still happen. A client has one operation at a time;
- ``op``: its name, such as "write"; of faults, the verb;
- ``value``: what was asked, at "ok" what came back; any JSON value;
- ``error``: why it failed or is unknown, a text; only with "fail" and "info".

That is Jepsen's history, with two differences: ``f`` is called ``op``, and a client keeps its number after "info".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from slownet.links.fault_space import REPAIRS
from slownet.model import userfile
from slownet.model.errors import SlownetError
from slownet.model.units import show_duration

FILE = "history.jsonl"
"""The suffix of their files' names."""
FAULTS = "faults"
"""The process of faults."""
INVOKE, OK, FAIL, INFO = "invoke", "ok", "fail", "info"
TYPES = (INVOKE, OK, FAIL, INFO)
KEYS = ("time", "process", "type", "op", "value")
SHOWN = 60


class HistoryError(SlownetError):
    """A history that cannot be read, or that a check cannot judge."""


@dataclass(frozen=True)
class Event:
    """One line of a history; for the attributes see this module."""

    time: int
    process: int | str
    type: str
    op: str
    value: Any = None
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the line's content."""
        found = {name: getattr(self, name) for name in KEYS}
        return {**found, "error": self.error} if self.error else found


@dataclass(frozen=True)
class Operation:
    """An operation from its begin to its end.

    process: the client.
    op: its name.
    value: what was asked.
    result: what came back; None unless it was acknowledged.
    type: "ok", "fail" or "info"; "info" also if it never ended.
    begin: nanoseconds since the history's begin.
    end: the same of its end; None if it is unknown whether it happened.
    error: why it was not acknowledged.
    """

    process: int
    op: str
    value: Any
    result: Any
    type: str
    begin: int
    end: int | None
    error: str = ""

    @property
    def is_acknowledged(self) -> bool:
        """True if the system reported that it was done."""
        return self.type == OK

    def __str__(self) -> str:
        value = "" if self.value is None else f" {short(self.value)}"
        return f"{self.op}{value} at {self.begin / 1e9:.3f} s"


@dataclass(frozen=True)
class History:
    """The operations of clients while something was broken.

    Attributes
    ----------
    events : sequence of Event
        In the order of time.
    """

    events: Sequence[Event] = field(default_factory=tuple)

    @classmethod
    def read(cls, text: str, where: str = "the history") -> History:
        """Read the lines of a history.

        Raises
        ------
        HistoryError
            A line does not have this module's format; the error names it.
        """
        events: list[Event] = []
        under_way: dict[int | str, str] = {}
        for number, line in enumerate(text.splitlines(), 1):
            try:
                event = _event(userfile.json(line))
                _follows(event, events, under_way)
            except ValueError as error:
                raise HistoryError(
                    f"line {number}: {error}", where, "see the documentation of histories for its form"
                ) from error
            events.append(event)
        return cls(tuple(events))

    def to_text(self) -> str:
        """Return the lines."""
        return "".join(f"{json.dumps(each.to_json())}\n" for each in self.events)

    @property
    def digest(self) -> str:
        """The SHA-256 of the lines, in hexadecimal digits: the same for histories that agree in every digit."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, in the order of their begins."""
        found: list[Operation] = []
        open_: dict[int | str, tuple[int, Event]] = {}
        for event in self.events:
            if event.process == FAULTS:
                continue
            if event.type == INVOKE:
                open_[event.process] = (len(found), event)
                found.append(_operation(event, None))
            else:
                index, begin = open_.pop(event.process)
                found[index] = _operation(begin, event)
        return tuple(found)

    def of(self, op: str) -> tuple[Operation, ...]:
        """Return the operations of a name. Raises HistoryError if none exists, with the names that there are."""
        found = tuple(each for each in self.operations if each.op == op)
        if not found:
            names = sorted({each.op for each in self.operations})
            raise HistoryError(f"the history has no operation '{op}'", fix=f"it has {', '.join(names) or 'none at all'}")
        return found

    @property
    def faults(self) -> tuple[Event, ...]:
        """The faults and their repairs."""
        return tuple(each for each in self.events if each.process == FAULTS)

    @property
    def repaired(self) -> int | None:
        """Nanoseconds when the last fault was repaired; None if none was, or if something was broken after that."""
        last = self.faults[-1] if self.faults else None
        return last.time if last and last.op in REPAIRS else None

    @property
    def recovery_ns(self) -> int | None:
        """Nanoseconds from then until the last client that had an acknowledged operation before has one again."""
        since = self.repaired
        if since is None:
            return None
        before = {each.process for each in self._acknowledged() if each.end is not None and each.end <= since}
        first: dict[int, int] = {}
        for each in self._acknowledged():
            if each.end is not None and each.end > since:
                first.setdefault(each.process, each.end)
        if not before or before - set(first):
            return None
        return max(first[process] for process in before) - since

    def _acknowledged(self) -> Iterator[Operation]:
        return (each for each in self.operations if each.is_acknowledged)

    @property
    def timeless(self) -> list[Event]:
        """The events without their times."""
        return [replace(each, time=0) for each in self.events]

    def differs_from(self, other: History) -> str:
        """Return how another history differs, as text: by its times alone, or where first; empty if in no digit."""
        later = [abs(own.time - its.time) for own, its in zip(self.events, other.events, strict=False)]
        if any(later) and self.timeless == other.timeless:
            return f"the same operations, but times differ by up to {show_duration(max(later) / 1e9, 3)}"
        for number, (own, its) in enumerate(zip(self.events, other.events, strict=False), 1):
            if own != its:
                return f"line {number}: {json.dumps(own.to_json())}, not {json.dumps(its.to_json())}"
        if len(self.events) != len(other.events):
            return f"it has {len(other.events)} lines, not {len(self.events)}"
        return ""


def short(value: Any) -> str:
    """Return a value for a sentence."""
    text = json.dumps(value) if not isinstance(value, str) else value
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _event(found: Any) -> Event:
    if not isinstance(found, Mapping):
        raise ValueError("it is not a JSON object")
    for key in KEYS:
        if key not in found:
            raise ValueError(f"it has no '{key}'")
    for key in found:
        if key not in (*KEYS, "error"):
            raise ValueError(f"it has an unknown key '{key}'")
    return _checked(Event(**{"error": "", **found}))


def _checked(event: Event) -> Event:
    """Return an event whose values are of the right kinds. Raises ValueError."""
    time, process, kind, op, error = event.time, event.process, event.type, event.op, event.error
    if type(time) is not int or time < 0:
        raise ValueError(f"time is {short(time)}, not a whole number of nanoseconds")
    if process != FAULTS and (type(process) is not int or process < 0):
        raise ValueError(f'process is {short(process)}, neither a whole number from 0 nor "{FAULTS}"')
    if kind not in TYPES:
        raise ValueError(f"type is {short(kind)}, none of {', '.join(TYPES)}")
    if not isinstance(op, str) or not op:
        raise ValueError(f"op is {short(op)}, not a name")
    if not isinstance(error, str):
        raise ValueError(f"error is {short(error)}, not a text")
    return event


def _follows(event: Event, before: Sequence[Event], under_way: dict[int | str, str]) -> None:
    """Raise ValueError if a line cannot come after those before it; note what its client does."""
    if before and event.time < before[-1].time:
        raise ValueError(f"time goes back from {before[-1].time} to {event.time}")
    if event.process == FAULTS:
        if event.type != INFO:
            raise ValueError(f"the type of a fault is {INFO}")
        return
    begun = under_way.pop(event.process, None)
    if event.type == INVOKE:
        if begun:
            raise ValueError(f"process {event.process} invokes '{event.op}' before '{begun}' has ended")
        under_way[event.process] = event.op
    elif begun != event.op:
        raise ValueError(f"'{event.op}' of process {event.process} ends, but was not invoked")


def _operation(begin: Event, end: Event | None) -> Operation:
    kind = end.type if end else INFO
    result = end.value if end and kind == OK else None
    assert isinstance(begin.process, int)
    known = end.time if end and kind != INFO else None
    return Operation(
        begin.process, begin.op, begin.value, result, kind, begin.time, known, end.error if end else "it never ended"
    )
