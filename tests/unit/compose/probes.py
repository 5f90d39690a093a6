"""Files with one value each, right or wrong, at every place of a compose file that the table of values knows.

tests/compose_go writes and compares data/values.json: for each place a text with a character for each of `PROBES`, 1 if
compose's schema allows the probe there, 0 if not, and - where the probe is not a file.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from slownet.compose import kinds
from slownet.compose.document import Items, Map, Place
from slownet.model.errors import ComposeError

FILE = Path(__file__).with_name("data") / "values.json"
PROBES = (
    None, True, 5, 0, -1, 101, -1001, 2**32, 1.5, 3.0, "", "x", "5", "-", "all", "z", "Z", "bind", "binds", "host", "daily",
    "every_5m", "every_", "sync", "restart", "forbid", "skip", "start-first", "enabled", "service_healthy", [], ["x"], ["x",
    "y"], ["x", "x"], [5], [5, 6], [None], [True], [[]], [{}], [{"k": 1}, {"k": 1}], {}, {"k": None}, {"k": True}, {"k": 5},
    {"k": "x"}, {"k": []}, {"k": ["x"]}, {"k": {}}, {"K": []}, {"a b": "x"}, {"": "x"}, {"": []}, {"a\n": "x"}, {"x-k": []},
    {"x-k": "x"}, {"type": "bind"}, {"type": "bind", "x-k": 1}, {"type": "binds"}, {"source": "x"}, {"source": 5}, {"path":
    "x"}, {"path": "x", "x-k": 1}, {"path": "x", "action": "sync"}, {"name": "x"}, {"name": 5}, {"image": "x", "tty": "x"},
    {"image": 5}, {"capabilities": ["gpu"]}, {"condition": "service_started"}, {"condition": "started"}, {"service": "x"},
    {"service": "x", "k": 1}, {"soft": 1}, {"soft": 1, "hard": "2"}, {"command": None}, {"model": "x"}, {"cron": "x"},
    {"manual": True}, {"schedule": []}, {"triggers": {"manual": True}}, {"discrete_resource_spec": {}}, {"service": "x",
    "x-k": 1},
)  # fmt: skip
TAKEN_OUT = {"include.*", "services.*.extends"}
"""Compose takes these out of a file before it checks it, so that fields of theirs that begin with x- do no harm."""


@dataclass(frozen=True)
class Spot:
    """A place of a compose file, with the kind of its value."""

    path: str
    kind: kinds.Kind
    around: Spot | None = None
    key: str | None = None
    """In a mapping; None in a list."""

    def holding(self, value):
        """Return a file that is right but for the value, which it has here."""
        if self.around is None:
            return value
        beside = required(self.around.kind) if self.key in self.around.kind.fields else {}
        return self.around.holding([value] if self.key is None else {**beside, self.key: value})


def required(kind):
    return {name: minimal(kind.fields[name]) for name in (*kind.required, *kind.one_of[:1])}


def minimal(kind):
    """Return a small value that a kind allows."""
    if kinds.A_MAPPING in kind.kinds:
        return required(kind)
    return kind.choices[0] if kind.choices else "x" if kinds.A_TEXT in kind.kinds else True


def spots(kind, spot=None):
    """Yield all places of a kind of file, its own first."""
    here = spot or Spot("", kind)
    yield here
    dot = "." if here.path else ""
    inner = [(f"{dot}{name}", each, name) for name, each in kind.fields.items()]
    inner += [(f"{dot}*", kind.named, "k")] if kind.named else []
    inner += [(f"{dot}*", kind.element, None)] if kind.element else []
    for path, each, key in inner:
        yield from spots(each, Spot(f"{here.path}{path}", each, here, key))


def as_read(value, lines=None):
    """Return a plain value as the parser would, each value on a line of its own."""
    lines = lines or itertools.count(1)
    if isinstance(value, dict):
        made = Map(Place("compose.yaml", next(lines), 1))
        for name, each in value.items():
            made.put(name, as_read(each, lines), Place("compose.yaml", next(lines), 1))
        return made
    if isinstance(value, list):
        items = Items(Place("compose.yaml", next(lines), 1))
        for each in value:
            items.add(as_read(each, lines), Place("compose.yaml", next(lines), 1))
        return items
    return value


def files(spot):
    """Return what the file is for each probe; None for a probe that is no file."""
    held = (spot.holding(each) for each in PROBES)
    return [each if isinstance(each, dict) else None for each in held]


def answers(kind):
    """Return what we allow, in the form of data/values.json; of a place that two kinds have, the first."""
    found = {}
    for spot in spots(kind):
        found.setdefault(spot.path, "".join(_answer(each, kind) for each in files(spot)))
    return found


def _answer(file, kind):
    if file is None:
        return "-"
    try:
        kinds.check(as_read(file), kind)
    except ComposeError:
        return "0"
    return "1"


def without_those_taken_out(path, letters):
    """Return answers for a place, of which those of `TAKEN_OUT` leave out the probes with a field that begins with x-."""
    extended = [isinstance(each, dict) and "x-k" in each for each in PROBES]
    return "".join("-" if path in TAKEN_OUT and out else each for each, out in zip(letters, extended, strict=True))
