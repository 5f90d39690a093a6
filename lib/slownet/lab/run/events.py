"""Progress events of a program in a place, written to its standard output: one JSON object per line, after a marker.

Anything that an experiment prints shares this output. The marker begins with the record separator of JSON text sequences (RFC
7464), so that printed text is not taken for an event, and an event is found even after an unfinished line.

An experiment, or a program that it runs, can write an event, too, so the host checks all of them: `Reader` takes those of its
grammar, each once, and an error ends the boot for any other. A forged event can lie about what was measured, as an experiment
can in any case; it cannot do more.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, Self

from slownet.model.control_characters import visible
from slownet.model.errors import LabError
from slownet.model.shapes import Json, Shape, ShapeError

MARK = b"\x1eslownet "
LINE_BYTES = 1 << 16
"""A longer line that an experiment prints is passed on in pieces of this size, each on a line of its own."""
EVENT_BYTES = 32 << 20
"""Of one event; that of a sample holds all its values."""
EVENT_VALUES = 4_000_000
"""Commas and brackets in one event: its values as Python's objects take up to 70 bytes each."""
TOO_LARGE = f"more than {EVENT_BYTES >> 20} MB or {EVENT_VALUES} values"
LAST = ("end", "error")
"""A program sends no further event after one of these."""

Event = dict[str, Json]
"""One event: its name as "event", and the keys of its shape."""
Handle = Callable[[Event], None]
Grammar = Mapping[str, Shape]
"""The shape of each event without its name, by that."""


class EventError(LabError):
    """A line that looks like an event and does not come from the measuring program."""

    @classmethod
    def of(cls, what: str) -> EventError:
        """Return the error; its constructor is that of all errors, with which a sweep's workers send it to the planner."""
        fix = "the boot was ended; an experiment, or a program that it runs, printed the mark of slownet's events"
        return cls(f"the lab sent an invalid event: {what}", fix=fix)


def line(event: str, **values: Any) -> bytes:
    """Return an event as `tell` writes it. Raises LabError if it is too large to be taken."""
    data = MARK + json.dumps({"event": event, **values}).encode() + b"\n"
    if len(data) > EVENT_BYTES or _values(data) > EVENT_VALUES:
        what = f"{len(data) / 2**20:.0f} MB, {_values(data)} values, are too much for one measurement"
        raise LabError(what, fix=f"at most {EVENT_BYTES >> 20} MB and {EVENT_VALUES} values: return fewer, or summarize them")
    return data


def tell(event: str, **values: Any) -> None:
    """Write an event after everything printed before it."""
    data = line(event, **values)
    sys.stdout.flush()
    while data:
        data = data[os.write(1, data) :]


class Reader:
    """A sink for that output, in pieces of any size: events go to ``handle``, the rest to standard error.

    Control characters of the rest are shown. Time is linear in the output, memory bounded by one event. Use it as a context
    manager, or call `close`. Raises EventError for an event that is not of the grammar or comes a second time; those with an
    "index" may come once for each.
    """

    def __init__(self, handle: Handle, grammar: Grammar) -> None:
        self._handle, self._grammar = handle, grammar
        self._pending = bytearray()
        self._searched = 0
        self._seen: set[tuple[str, object]] = set()
        self._ended_by = ""

    def __call__(self, data: bytes) -> None:
        """Take the next piece."""
        self._pending += data
        at = 0
        try:
            for begin, end in self._lines():
                at = end + 1
                self._take(bytes(self._pending[begin:end]))
        finally:
            del self._pending[:at]
        self._pass_on_early()
        self._searched = len(self._pending)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Pass on what was printed without the end of a line. An event that was cut short does not count."""
        printed = bytes(self._pending).partition(MARK)[0]
        self._pending.clear()
        self._searched = 0
        if printed:
            _pass_on(printed)

    def _lines(self) -> Iterator[tuple[int, int]]:
        """Yield where the lines that are complete begin and end. Only the new data is searched."""
        begin, search = 0, self._searched
        while (end := self._pending.find(b"\n", search)) >= 0:
            yield begin, end
            begin = search = end + 1

    def _pass_on_early(self) -> None:
        """Pass on the beginning of a line that is getting long, but what may turn out to be a part of the marker."""
        if len(self._pending) < LINE_BYTES + len(MARK):
            return
        mark = self._pending.find(MARK)
        most = mark if mark >= 0 else len(self._pending) - len(MARK)
        begin = 0
        while most - begin >= LINE_BYTES or (begin < most == mark):
            end = _cut(self._pending, begin, mark)
            _show(bytes(self._pending[begin:end]))
            begin = end
        del self._pending[:begin]
        if len(self._pending) - len(MARK) > EVENT_BYTES:
            raise EventError.of(TOO_LARGE)

    def _take(self, whole: bytes) -> None:
        printed, mark, text = whole.partition(MARK)
        if printed or not mark:
            _pass_on(printed)
        if mark:
            self._handle(self._event(text))

    def _event(self, text: bytes) -> Event:
        """Return the event of a line. Raises EventError."""
        event = _parsed(text)
        name = event.get("event") if isinstance(event, dict) else None
        if not isinstance(event, dict) or not isinstance(name, str):
            raise EventError.of("no object with the name of an event")
        if name not in self._grammar:
            raise EventError.of(f"its name {name[:40]!r} is unknown")
        try:
            self._grammar[name]({key: value for key, value in event.items() if key != "event"}, f"'{name}'")
        except ShapeError as error:
            raise EventError.of(str(error)) from error
        self._check_order(name, event.get("index"))
        return event

    def _check_order(self, name: str, index: Any) -> None:
        if self._ended_by:
            raise EventError.of(f"'{name}' after '{self._ended_by}'")
        if (name, index) in self._seen:
            raise EventError.of(f"a second '{name}'" + (f" of {index}" if index is not None else ""))
        self._seen.add((name, index))
        if name in LAST:
            self._ended_by = name


def _parsed(text: bytes) -> Any:
    if len(text) > EVENT_BYTES or _values(text) > EVENT_VALUES:
        raise EventError.of(TOO_LARGE)
    try:
        return json.loads(text.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise EventError.of("no JSON") from error


def _values(text: bytes) -> int:
    """Return the most values that a JSON text can have."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _cut(data: bytes | bytearray, begin: int, last: int) -> int:
    """Return where the next piece of a long line ends: not within a character of UTF-8. last: the line's end, -1 if unknown."""
    end = begin + LINE_BYTES
    if 0 <= last <= end:
        return last
    return next((end - back for back in range(4) if data[end - back] & 0xC0 != 0x80), end)


def _pass_on(printed: bytes) -> None:
    """Show a line in pieces."""
    begin = 0
    while not begin or begin < len(printed):
        end = _cut(printed, begin, len(printed))
        _show(printed[begin:end])
        begin = end or 1


def _show(printed: bytes) -> None:
    print(visible(printed.decode(errors="replace") + "\n"), end="", file=sys.stderr)
