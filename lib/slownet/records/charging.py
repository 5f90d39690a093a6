"""What a run's clock charges for the CPU: one value, made once from the clock or from a run's facts.

How far a time varies from boot to boot, how many boots a verdict takes, and whether another run gives the same numbers
all follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

from slownet.errors import SlownetError, nearest
from slownet.lab import clock

USUAL_MARGIN = 0.05
"""The margin that claims have unless they state another. What speaks of the network alone, and so more narrowly, runs
with free CPU."""
SPREAD_TAKES = 3
"""Boots, or seeds, from which their own spread is estimated: with two of them, Student's t of one degree of freedom."""
FIRST_SHARE = 0.005
"""What the first look may be wrong at where the spread between boots was measured beforehand: half of 1 %."""


class Charging(Enum):
    """What a clock charges for the CPU; the value is the word that records have for it."""

    REAL = "real"
    """The real clock, in a lab or natively: everything counts that the machine does."""
    TIME = clock.TIME
    """Virtual clock, CPU time."""
    WORK = clock.WORK
    """Virtual clock, retired instructions counted always."""
    FREE = clock.FREE
    """Virtual clock, the CPU costs nothing (TDF inf)."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Charging:
        """From a run's facts: ``clock``, ``tdf`` and ``cpu``, which records made before it existed do not have.

        Raises SlownetError for a word in ``cpu`` that no clock has.
        """
        if facts.get("clock") != "virtual":
            return cls.REAL
        told = facts.get("cpu") or (clock.FREE if facts.get("tdf") == clock.TDF_INF else clock.TIME)
        charged = {each.value: each for each in (cls.TIME, cls.WORK, cls.FREE)}
        if told not in charged:
            raise SlownetError(f"a clock that charges '{told}'", "cpu in the facts of a run", nearest(str(told), charged))
        return charged[told]

    @property
    def waver(self) -> float:
        """Relative standard deviation of the CPU's part of a time between boots, and between blocks of one boot."""
        return WAVER[self]

    @property
    def is_virtual(self) -> bool:
        """Whether it is a virtual clock."""
        return self is not Charging.REAL

    @property
    def is_measured(self) -> bool:
        """Whether its waver is known well enough to stand in for the spread of boots that were not made."""
        return self is Charging.WORK

    def verdict_from(self, is_random: bool) -> int:
        """Boots before a verdict: three where only their own spread tells how they differ, else one.

        ``is_random``: whether a link's condition draws by chance, so that boots are seeds.
        """
        return SPREAD_TAKES if is_random or self in (Charging.REAL, Charging.TIME) else 1

    def first_look(self, is_random: bool) -> int:
        """Boots before the claims are judged for the first time.

        Where the waver was measured, as many as bring the interval of a ratio of two times that are all CPU to half of
        the usual margin: 1 for WORK (1.2 %). With TIME's waver that
        would be 364; three show what it is in the case at hand.
        """
        if not self.is_measured:
            return self.verdict_from(is_random)
        half = NormalDist().inv_cdf(1 - FIRST_SHARE / 2) * math.sqrt(2) * self.waver
        return max(self.verdict_from(is_random), math.ceil((half / (USUAL_MARGIN / 2)) ** 2))

    def __str__(self) -> str:
        return IN_WORDS[self]


WAVER: Mapping[Charging, float] = MappingProxyType(
    {Charging.REAL: 0.12, Charging.TIME: 0.12, Charging.WORK: 0.003, Charging.FREE: 0.0}
)
"""With room around what was measured of client_delay's T0 at TDF 1, five boots each (DESIGN.md, "The clock charges work"):
CPU time 10.6 % alone, 10 to 19 % at other hours and beside other work; instructions counted always 0.10 % alone, 0.19 % over
boots alone and beside busy loops. `make trust` measures all of them again."""

IN_WORDS: Mapping[Charging, str] = MappingProxyType(
    {
        Charging.REAL: "the real clock",
        Charging.TIME: "the virtual clock with CPU time charged",
        Charging.WORK: "the virtual clock with counted work charged",
        Charging.FREE: "the virtual clock with free CPU",
    }
)


@dataclass(frozen=True)
class Terms:
    """What intervals depend on beside the numbers: what the clock charges (None where no clock is recorded, as in the field),
    and whether a program in the lab draws random numbers of its own, so that even with free CPU runs differ a little."""

    charging: Charging | None = None
    chance: bool = False

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Terms:
        """From a run's facts. Raises SlownetError as `Charging.of`."""
        return cls(Charging.of(facts) if facts.get("clock") else None, bool(facts.get("chance")))

    @property
    def waver(self) -> float:
        """The charging's, 0 where no clock is recorded."""
        return self.charging.waver if self.charging else 0.0

    @property
    def repeats(self) -> bool:
        """Whether another run gives the same numbers, as far as no link draws by chance: the CPU is free, and no program
        draws numbers of its own."""
        return self.charging is Charging.FREE and not self.chance


UNKNOWN = Terms()
"""Those of numbers of which nothing is told but themselves."""
