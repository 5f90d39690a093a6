"""A row of the table of a condition's fields: all that the rest of the project knows of a field is in its row.

The table is the body of `slownet.conditions.link.Condition`. A condition is read and put into words by it, `net.plan`
tells tc what it says and compares what the kernel shows, `net.verify` expects of a ping what it says, and records take
their columns from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

# tc prints six digits. A bucket's burst is kept as a time in ticks of 64 ns, and comes back a few bytes smaller.
DIGITS = 2e-5
PROBABILITY = 1e-9
NANOSECOND = 1e-9
BURST = 0.01

# The queueing disciplines of `net.plan` that a row may have an option of.
CABLE, LINE, BUCKET, CAKE = "cable", "line", "bucket", "cake"


class Part(Enum):
    """What a field has to do with chance."""

    STEADY = "steady"
    """It does the same to every packet: a ping can verify it."""
    CHANCE = "chance"
    """With it, a packet may fare otherwise than the one before it; a ping is sent without it."""
    OF_CHANCE = "of chance"
    """It says more of such a field, and goes with it."""


@dataclass(frozen=True)
class Word:
    """A name by which a field is stated: the condition's attributes that it sets, and the reader of its value."""

    name: str
    sets: tuple[str, ...]
    read: Callable[[Any], Any]


def nearly(stated: Any, found: Any, least: float = PROBABILITY) -> bool:
    """Whether two numbers are one as far as tc prints digits; texts and truth values are one when they are equal."""
    if isinstance(stated, bool | str) or isinstance(found, str):
        return bool(stated == found)
    return bool(abs(found - stated) <= DIGITS * abs(stated) + least)


def same_time(stated: float, found: float) -> bool:
    """Whether two times in seconds are one to the nanosecond."""
    return nearly(stated, found, NANOSECOND)


def same_whole(stated: int, found: int) -> bool:
    """Whether two whole numbers are one to the last digit."""
    return int(stated) == int(found)


def same_burst(stated: int, found: float) -> bool:
    """Whether a token bucket has the size that was stated, in bytes."""
    return abs(found - stated) <= BURST * stated + 1


@dataclass(frozen=True)
class Shown:
    """What `tc -json` must show for an option, and whether what it shows is the same."""

    value: Any
    same: Callable[[Any, Any], bool] = nearly


@dataclass(frozen=True)
class Option:
    """What tc is told of a field, and what it must show then: by name, "a.b" is b within a."""

    words: tuple[str, ...]
    shown: Mapping[str, Shown] = field(default_factory=dict)
    first: bool = False
    """Whether it goes before those of the other rows."""


@dataclass(frozen=True)
class Added:
    """What a field adds to the time of a small ping in one direction: from `low` to `high` seconds, and `low` may be below 0.

    surely: seconds by which it is late even where a packet may overtake all delay. lost: whether the ping may get lost.
    """

    low: float = 0.0
    high: float = 0.0
    surely: float = 0.0
    lost: bool = False


Refusal = tuple[bool, str, str]
"""Whether it applies, what is wrong, and how to put it right."""


@dataclass(frozen=True, eq=False)
class Row:
    """One field. Its functions take a Condition, those for one direction a `slownet.conditions.oneway.OneWay`.

    name: how it is stated. read: its value from a person's text; raises UnitError, ConditionError. text: its words for people,
    such as "loses 1 %"; conditions that differ in it must differ in their words. tc: by queueing discipline, what tc is told
    in one direction, if anything; an option that tc is not told stays as it was, so an absent value is told as well. ping:
    what it adds to a ping of so many bits. column: the word as stated and its text -> columns of a record, the unit in the
    name; without it a record keeps the text. refuse: what the kernel cannot do, or does silently otherwise. draws: whether
    the kernel draws by chance for it. seedless: whether it draws from a random number that no seed changes.
    """

    name: str
    read: Callable[[Any], Any]
    text: Callable[[Any], Iterable[str]]
    default: Any = None
    part: Part = Part.STEADY
    tc: Mapping[str, Callable[[Any], Option | None]] = field(default_factory=dict)
    ping: Callable[[Any, int], Added] = lambda at, bits: Added()
    column: Callable[[str, str], Mapping[str, Any]] | None = None
    refuse: Callable[[Any], Iterable[Refusal]] = lambda one: ()
    draws: Callable[[Any], bool] = lambda one: False
    seedless: Callable[[Any], bool] = lambda one: False
    words: tuple[Word, ...] = ()
    """The names by which it is stated, if not by its own alone."""
    contrast: str = ""
    """What tells two of its words apart that say the same twice."""
    narrowed: bool = False
    """Whether None for both directions changes nothing beside a direction's own word."""

    @property
    def stated(self) -> tuple[Word, ...]:
        """All the names by which it is stated."""
        return self.words or (Word(self.name, (self.name,), self.read),)

    @property
    def each(self) -> Any:
        """The condition's attribute for both directions."""
        return self._attribute(None)

    @property
    def up(self) -> Any:
        """The condition's attribute for what the first end sends."""
        return self._attribute("up")

    @property
    def down(self) -> Any:
        """The condition's attribute for what the second end sends."""
        return self._attribute("down")

    def _attribute(self, way: str | None) -> Any:
        return dataclasses.field(default=self.default, metadata={"row": self, "way": way})


def by_direction(name: str, read: Callable[[Any], Any]) -> tuple[Word, ...]:
    """The words of a field that may differ between the directions: "rate" for both, "rate_up", "rate_down"."""
    up, down = f"{name}_up", f"{name}_down"
    return Word(name, (up, down), read), Word(up, (up,), read), Word(down, (down,), read)
