"""A row of the table of a condition's fields: all that the project knows about the field; and the reading of fields from texts.

The table is the body of `slownet.links.conditions.field_table.Fields`. Conditions are read and printed by it, `net.plan` takes
tc's words and the values to read back from it, `net.verify` what to expect of a ping, and records their columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations
from typing import Any, TypeVar

from slownet.links.conditions import impairment, other_names
from slownet.links.conditions.impairment import Chance, Loss
from slownet.links.conditions.jitter import Table
from slownet.model.errors import ConditionError, nearest
from slownet.model.units import size, whole_number

Fields = dict[str, Any]
"""A condition's attributes by their names; each has a type of its own."""
Model = TypeVar("Model", Chance, Loss)
DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal")


def fields(words: Mapping[str, Row], given: Mapping[str, object]) -> Fields:
    """Return a condition's attributes from the stated fields; None gives a field's default.

    words: the row of each field that can be stated. Raises UnitError, ConditionError.
    """
    for name in given:
        if name not in words:
            raise ConditionError(f"a condition has no field '{name}'", fix=other_names.field(name, words))
    values: Fields = {}
    for row in dict.fromkeys(row for name, row in words.items() if name in given):
        values |= _of_row(row, given)
    return values


def _of_row(row: Row, given: Mapping[str, object]) -> Fields:
    """Read one row. Fields that are None reset attributes first, so that a field with a value wins over them."""
    stated = [word for word in row.stated if given.get(word.name) is not None]
    for one, other in combinations(stated, 2):
        if set(one.sets) & set(other.sets):
            raise ConditionError(f"a condition takes {one.name} or {other.name}, not both", fix=row.contrast)
    taken_back = [word for word in row.stated if word.name in given and word not in stated]
    if row.narrowed and any(len(word.sets) == 1 and word.name in given for word in row.stated):
        taken_back = [word for word in taken_back if len(word.sets) == 1]
    values = {name: row.default for word in taken_back for name in word.sets}
    return values | {name: word.read(given[word.name]) for word in stated for name in word.sets}


def chance(name: str) -> Callable[[Any], Chance | None]:
    """Return a reader for the probability of a field that affects single packets."""
    return lambda value: _any(value if isinstance(value, Chance) else impairment.chance(value, name))


def loss(value: Any) -> Loss | None:
    """Read a loss. Raises UnitError, ConditionError."""
    return _any(impairment.loss(value))


def _any(value: Model) -> Model | None:
    """Return None for 0 %: otherwise a link that loses nothing would count as lossy."""
    return None if isinstance(value, Chance) and not value.probability else value


def whole(name: str, least: int) -> Callable[[Any], int]:
    """Return a reader for whole numbers of at least `least`."""

    def read(value: Any) -> int:
        number = None if isinstance(value, bool) else whole_number(str(value))
        if number is None or number < least:
            raise ConditionError(f"{name} {value!r} is not a whole number of {least} or more")
        return number

    return read


def octets(name: str, most: int) -> Callable[[Any], int | None]:
    """Return a reader for numbers of bytes; 0 gives None."""

    def read(value: Any) -> int | None:
        number = size(value)
        if number > most:
            raise ConditionError(f"{name} '{value}' is more than {most} B", fix="give a smaller one")
        return number or None

    return read


def flag(name: str) -> Callable[[Any], bool]:
    """Return a reader for True, False, "on" or "off"."""

    def read(value: Any) -> bool:
        if value in (True, "on", False, "off"):
            return value in (True, "on")
        raise ConditionError(f"{name} {value!r} is neither on nor off", fix="give True or False")

    return read


def distribution(name: str | Table) -> str | Table:
    """Read the name of one of netem's distributions, or take a measured one. Raises ConditionError with the nearest name."""
    if isinstance(name, Table):
        return name
    if name not in DISTRIBUTIONS:
        raise ConditionError(f"no distribution '{name}'", fix=nearest(str(name), DISTRIBUTIONS))
    return name


# tc prints six digits. A bucket's burst is stored as a time in ticks of 64 ns and is read back a few bytes smaller.
DIGITS = 2e-5
PROBABILITY = 1e-9
NANOSECOND = 1e-9
BURST = 0.01

# The queueing disciplines of `net.plan` that a row may have an option for.
CABLE, LINE, BUCKET, CAKE = "cable", "line", "bucket", "cake"


class Part(Enum):
    """The relation of a field to chance."""

    STEADY = "steady"
    """It treats every packet alike: a ping can verify it."""
    CHANCE = "chance"
    """It may treat packets differently; pings that verify a link are sent without it."""
    OF_CHANCE = "of chance"
    """It qualifies a field of chance, and is left out with it."""


@dataclass(frozen=True)
class Word:
    """A name of a field, the attributes of a condition that it sets, and the reader of its value."""

    name: str
    sets: tuple[str, ...]
    read: Callable[[Any], Any]


def nearly(stated: Any, found: Any, least: float = PROBABILITY) -> bool:
    """Return whether two numbers are equal to the digits that tc prints; texts and booleans must be equal."""
    if isinstance(stated, bool | str) or isinstance(found, str):
        return bool(stated == found)
    return bool(abs(found - stated) <= DIGITS * abs(stated) + least)


def same_time(stated: float, found: float) -> bool:
    """Return whether two times in seconds are equal to the nanosecond."""
    return nearly(stated, found, NANOSECOND)


def same_whole(stated: int, found: int) -> bool:
    """Return whether two whole numbers are equal."""
    return int(stated) == int(found)


def same_burst(stated: int, found: float) -> bool:
    """Return whether a token bucket has the given size, in bytes."""
    return abs(found - stated) <= BURST * stated + 1


@dataclass(frozen=True)
class Shown:
    """The value that `tc -json` must show for an option, and how to compare it."""

    value: Any
    same: Callable[[Any, Any], bool] = nearly


@dataclass(frozen=True)
class Option:
    """A field's words for tc, and the values that tc must show afterwards, by key; "a.b" is b within a."""

    words: tuple[str, ...]
    shown: Mapping[str, Shown] = field(default_factory=dict)
    first: bool = False
    """True if it precedes the options of the other rows."""


@dataclass(frozen=True)
class Added:
    """The time that a field adds to a small ping in one direction: `low` to `high` seconds; `low` may be negative.

    surely: seconds that are added even when the packet overtakes all delay. lost: whether the ping may get lost.
    """

    low: float = 0.0
    high: float = 0.0
    surely: float = 0.0
    lost: bool = False


Refusal = tuple[bool, str, str]
"""True if it applies, what is wrong, and how to fix it."""


@dataclass(frozen=True, eq=False)
class Row:
    """One field. Its functions take a Condition; those for one direction, a `slownet.links.conditions.oneway.OneWay`.

    name: under which it is stated. read: reads its value from a text; raises UnitError, ConditionError. text: its words in a
    report, such as "loses 1 %"; conditions that differ in the field must differ in these. tc: by queueing discipline, the
    option for one direction, if any; tc keeps an option that it is not given, so an absent value needs an option, too. ping:
    what it adds to a ping of a number of bits. column: name and text -> columns of a record, with the unit in the name;
    without it a record keeps the text. refuse: what the kernel cannot do, or would silently do differently. draws: whether
    the kernel draws random numbers for it. seedless: whether these ignore the seed.
    """

    name: str
    read: Callable[[Any], Any]
    text: Callable[[Any], Iterable[str]]
    default: Any = None
    part: Part = Part.STEADY
    tc: Mapping[str, Callable[[Any], Option | None]] = field(default_factory=dict)
    ping: Callable[[Any, int], Added] = lambda at, bits: Added()
    column: Callable[[str, str], Mapping[str, float | str]] | None = None
    refuse: Callable[[Any], Iterable[Refusal]] = lambda one: ()
    draws: Callable[[Any], bool] = lambda one: False
    seedless: Callable[[Any], bool] = lambda one: False
    words: tuple[Word, ...] = ()
    """Its names, if it has others than its own."""
    contrast: str = ""
    """The difference between two of its words, for the error when both are given."""
    narrowed: bool = False
    """If set, ``loss=None`` does not conflict with ``loss_up=...``."""

    @property
    def stated(self) -> tuple[Word, ...]:
        """All its names."""
        return self.words or (Word(self.name, (self.name,), self.read),)

    @property
    def each(self) -> Any:
        """The attribute of a condition for both directions."""
        return self._attribute(None)

    @property
    def up(self) -> Any:
        """The attribute of a condition for what the first end sends."""
        return self._attribute("up")

    @property
    def down(self) -> Any:
        """The attribute of a condition for what the second end sends."""
        return self._attribute("down")

    def _attribute(self, way: str | None) -> Any:
        return dataclasses.field(default=self.default, metadata={"row": self, "way": way})


def by_direction(name: str, read: Callable[[Any], Any]) -> tuple[Word, ...]:
    """Return the words of a field that may differ between the directions: "rate" for both, "rate_up", "rate_down"."""
    up, down = f"{name}_up", f"{name}_down"
    return Word(name, (up, down), read), Word(up, (up,), read), Word(down, (down,), read)
