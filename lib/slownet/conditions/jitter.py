"""Jitter of a distribution that somebody measured: netem's table, made as iproute2's `maketable` makes it.

netem draws one of the table's entries for each packet, all alike, and delays the packet by entry * jitter / 8192 more
than stated. So the table is the inverse of the distribution function, in units of the jitter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import pstdev

from slownet.errors import ConditionError

# iproute2, netem/maketable.c: entries, what one unit is in them, the units from the middle to each end, steps of a unit.
SIZE, UNIT, ENDS, STEPS = 4096, 8192, 4, 50_000
LOWEST, HIGHEST = -32768, 32767
FEWEST = 10


@dataclass(frozen=True)
class Table:
    """What a jitter looks like: `values` are the quantiles from the lowest to the highest, in 8192ths of a unit."""

    values: tuple[int, ...]

    @classmethod
    def measured(cls, samples: Sequence[float]) -> tuple[Table, float, float]:
        """The table of a sample, with the mean and the unit (both in the sample's unit) that give it back.

        The unit is the standard deviation, or more where a value lies further than four of them from the mean: there
        `maketable` would cut. Nor are there values beyond the largest one, as `maketable`'s last entries are. Raises
        ConditionError.
        """
        if len(samples) < FEWEST or not all(map(math.isfinite, samples)):
            raise ConditionError(f"{len(samples)} numbers are no distribution", fix=f"measure {FEWEST} or more")
        if min(samples) == max(samples):
            raise ConditionError("all numbers of the sample are the same: nothing varies", fix="give a delay without jitter")
        mean, deviation = moments(samples)
        unit = max(deviation, max(max(samples) - mean, mean - min(samples)) / ENDS)
        highest = min(HIGHEST, round((max(samples) - mean) / unit * UNIT))
        return cls(tuple(min(value, highest) for value in maketable(samples, mean, unit))), mean, unit

    @cached_property
    def name(self) -> str:
        """What tc knows it by: the same table has the same name."""
        import hashlib  # loads OpenSSL, and most runs have no table

        packed = b"".join(value.to_bytes(2, "little", signed=True) for value in self.values)
        return f"measured-{hashlib.sha256(packed).hexdigest()[:16]}"

    @property
    def reach(self) -> float:
        """How far the lowest value is below the middle, in units."""
        return -min(0, *self.values) / UNIT

    @cached_property
    def deviation(self) -> float:
        """The standard deviation, in units."""
        return pstdev(self.values) / UNIT

    def __str__(self) -> str:
        return "measured"


def moments(samples: Sequence[float]) -> tuple[float, float]:
    """The mean and the sample's standard deviation, as `maketable` takes them."""
    mean = math.fsum(samples) / len(samples)
    return mean, math.sqrt(math.fsum((each - mean) ** 2 for each in samples) / (len(samples) - 1))


def maketable(samples: Sequence[float], mean: float, unit: float) -> list[int]:
    """iproute2's algorithm to the digit: 4096 quantiles of (sample - mean) / unit, cut at four units.

    Where a step of the distribution function is flat, its upper end counts; between steps it is interpolated, towards
    the end of the scale behind the last one.
    """
    last = 2 * ENDS * STEPS - 1
    counts = Counter(min(max(round(((each - mean) / unit + ENDS) * STEPS), 0), last) for each in samples)
    risen = sorted(counts)
    table: list[int | None] = [None] * SIZE
    below = 0
    for start, end in zip([0, *risen], [*risen, last + 1], strict=True):
        if start == end:
            continue  # nothing lies before the first one
        below += counts[start]
        place = min(round(below / len(samples) * SIZE), SIZE - 1)
        table[place] = min(max(round(((end - 1) / STEPS - ENDS) * UNIT), LOWEST + 1), HIGHEST)
    return _interpolated(table)


def _interpolated(table: Sequence[int | None]) -> list[int]:
    known = [(place, value) for place, value in enumerate(table) if value is not None]
    filled: list[int] = []
    for (start, low), (end, high) in zip([(-1, LOWEST), *known], [*known, (len(table), HIGHEST)], strict=True):
        gap = end - start
        filled += [low] * (start >= 0)
        filled += [low + _quotient(step * (high - low), gap) for step in range(1, gap)]
    return filled


def _quotient(number: int, divisor: int) -> int:
    """C's division of integers, towards 0."""
    return -(-number // divisor) if number < 0 else number // divisor
