"""The messages between host and lab: one JSON object a line, of a bounded size and with a known shape.

Root in a lab can write to its channel, so the host checks each line before it uses anything in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from slownet.model import shapes
from slownet.model.errors import LabError
from slownet.model.shapes import Json, Shape, ShapeError

LINE_BYTES = 1 << 20
"""Of one line, in either direction."""
TICK_S = 0.25
"""The time between two readings of the meters."""

Message = dict[str, Json]


def line(**values: Json) -> bytes:
    """Return a message as it is sent."""
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


class Lines:
    """Takes bytes in pieces of any size and yields the lines that are complete."""

    def __init__(self, most: int = LINE_BYTES) -> None:
        self._most = most
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the whole lines. Raises LabError for one that is too long."""
        self._pending += data
        while (end := self._pending.find(b"\n")) >= 0:
            whole = bytes(self._pending[:end])
            del self._pending[: end + 1]
            yield whole
        if len(self._pending) > self._most:
            raise LabError(f"the lab sent a line of more than {self._most >> 20} MB", fix="it was stopped")


_NAME, _KEY = shapes.text(64), shapes.text(150)
_LINE = shapes.text(4000)
_ID = shapes.text(40)
_COUNT = shapes.number(0)
_MAYBE = shapes.optional(shapes.number(0))
_SHOWN = {"text": _LINE, "rtt_ms": _COUNT, "loss": _COUNT, "rate": _MAYBE}
_STATED = {"key": _KEY, **_SHOWN}
_LINK_METERS = {
    "key": _KEY, "up": _COUNT, "down": _COUNT, "dropped": _COUNT, "queue": _COUNT, "ping_ms": _MAYBE, "lost": shapes.flag,
}  # fmt: skip
_HOST_METERS = {"name": _NAME, "retransmitted": _COUNT}
_POINT = {"rtt_ms": _COUNT, "ms": _COUNT}

FIELDS: Mapping[str, Mapping[str, Shape]] = {
    "built": {
        "nodes": lambda value, where: None,
        "wires": lambda value, where: None,
        "pages": shapes.each(_LINE, 100),
        "containers": shapes.each(_NAME, 1000),
    },
    "conditions": {"links": lambda value, where: _all(value, where, _STATED)},
    "paths": {"pings": lambda value, where: _all(value, where, {"key": _KEY, "words": _LINE})},
    "meters": {
        "at": _COUNT,
        "links": lambda value, where: _all(value, where, _LINK_METERS),
        "hosts": lambda value, where: _all(value, where, _HOST_METERS),
    },
    "taken": {"id": _ID, "ms": _COUNT},
    "failed": {"id": _ID, "line": _LINE},
    "result": {"id": _ID, "title": _LINE, "text": _LINE, "raw": shapes.text(40_000)},
    "cost": {
        "id": _ID,
        "key": _KEY,
        "operation": _LINE,
        "k": shapes.number(),
        "why": _LINE,
        "t0_ms": _COUNT,
        "point": lambda value, where: _all([value], where, _POINT),
        "under": _LINE,
    },
    "shell": {"id": _ID, "data": shapes.text(100_000)},
    "closed": {"id": _ID},
    "played": {"key": _KEY, "what": _LINE},
}
"""The fields of each message from a lab, by its kind; those of "built" are checked as a network is read."""


def _all(value: Any, where: str, fields: Mapping[str, Shape]) -> None:
    """Raise ShapeError unless a value is a list of objects with exactly these fields."""
    if not isinstance(value, list) or len(value) > 5000:
        raise ShapeError(f"{where} is not a list")
    for each in value:
        if not isinstance(each, dict) or each.keys() != fields.keys():
            raise ShapeError(f"an item of {where} does not have the fields {', '.join(fields)}")
        for name, shape in fields.items():
            shape(each[name], f"{name} of {where}")


def read(text: bytes) -> Message:
    """Return a message from a lab. Raises LabError for one that its own program does not send."""
    try:
        found = json.loads(text.decode(), parse_constant=_no_number)
        kind = found.get("kind") if isinstance(found, dict) else None
        if not isinstance(kind, str) or kind not in FIELDS:
            raise ShapeError("a message without a known kind")
        fields = FIELDS[kind]
        if found.keys() != {"kind", *fields}:
            raise ShapeError(f"'{kind}' does not have the fields {', '.join(fields)}")
        for name, shape in fields.items():
            shape(found[name], f"{name} of '{kind}'")
    except (ValueError, RecursionError) as error:
        raise LabError(f"the lab sent an invalid message: {error}", fix="it was stopped") from error
    message: Message = found
    return message


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")
