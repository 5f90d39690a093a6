"""A row of the table of a condition's fields, which holds everything that the project knows about the field.

The table is the body of `slownet.links.conditions.field_table.Fields`. Conditions are read and printed by it, `net.plan` takes
tc's words and the values to read back from it, `net.verify` what to expect of a ping, and records their columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

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
    """A name under which a field is stated, the attributes of a condition that it sets, and the reader of its value."""

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
    """Return whether a token bucket has the stated size, in bytes."""
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
    """The names under which it can be stated, if there are others than its own."""
    contrast: str = ""
    """The difference between two of its words, for the error when both are given."""
    narrowed: bool = False
    """If set, ``loss=None`` does not conflict with ``loss_up=...``."""

    @property
    def stated(self) -> tuple[Word, ...]:
        """All names under which it can be stated."""
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
