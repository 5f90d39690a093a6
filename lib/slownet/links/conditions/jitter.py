"""Jitter with a measured distribution: netem's table, computed like iproute2's `maketable`.

For each packet netem draws one entry of the table, all equally likely, and adds entry * jitter / 8192 to the configured delay.
So the table is the inverse of the distribution function, in units of the jitter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import pstdev

from slownet.model.errors import ConditionError

# From iproute2's netem/maketable.c: number of entries, value of one unit, units from the middle to each end, steps per unit.
SIZE, UNIT, ENDS, STEPS = 4096, 8192, 4, 50_000
LOWEST, HIGHEST = -32768, 32767
FEWEST = 10


@dataclass(frozen=True)
class Table:
    """The distribution of a jitter.

    values: quantiles from the lowest to the highest, in 8192ths of a unit; shape (4096,) when measured.
    """

    values: tuple[int, ...]

    @classmethod
    def measured(cls, samples: Sequence[float]) -> tuple[Table, float, float]:
        """Return the table of a sample, with the mean and the unit that reproduce it.

        Unlike `maketable`, it neither cuts values further than four standard deviations from the mean nor adds values above
        the largest one.

        samples: 10 numbers or more, in any unit.
        returns: in the unit of the samples. `unit` is the standard deviation, or a quarter of the largest distance from the
            mean if that is more.
        Raises ConditionError: too few numbers, or all of them equal.
        """
        if len(samples) < FEWEST or not all(map(math.isfinite, samples)):
            raise ConditionError(f"{len(samples)} numbers are not a distribution", fix=f"measure {FEWEST} finite ones")
        if min(samples) == max(samples):
            raise ConditionError("all numbers of the sample are the same", fix="give a delay without jitter")
        mean, deviation = moments(samples)
        unit = max(deviation, max(max(samples) - mean, mean - min(samples)) / ENDS)
        highest = min(HIGHEST, round((max(samples) - mean) / unit * UNIT))
        return cls(tuple(min(value, highest) for value in maketable(samples, mean, unit))), mean, unit

    @cached_property
    def name(self) -> str:
        """Its name for tc; equal tables have equal names."""
        import hashlib  # it loads OpenSSL, and most runs have no table

        packed = b"".join(value.to_bytes(2, "little", signed=True) for value in self.values)
        return f"measured-{hashlib.sha256(packed).hexdigest()[:16]}"

    @property
    def reach(self) -> float:
        """The distance of the lowest value below the middle, in units."""
        return -min(0, *self.values) / UNIT

    @cached_property
    def deviation(self) -> float:
        """The standard deviation, in units."""
        return pstdev(self.values) / UNIT

    def __str__(self) -> str:
        return "measured"


def moments(samples: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the sample standard deviation (n - 1), as `maketable` uses them."""
    mean = math.fsum(samples) / len(samples)
    return mean, math.sqrt(math.fsum((each - mean) ** 2 for each in samples) / (len(samples) - 1))


def maketable(samples: Sequence[float], mean: float, unit: float) -> list[int]:
    """Compute iproute2's table exactly: 4096 quantiles of (sample - mean) / unit, cut at four units.

    Where the distribution function is flat, the upper end of the step counts; between steps, and from the last step to the end
    of the scale, it is interpolated.

    samples: in any unit.
    mean, unit: in the same unit.
    returns: 4096 entries, in 8192ths of a unit.
    """
    last = 2 * ENDS * STEPS - 1
    counts = Counter(min(max(round(((each - mean) / unit + ENDS) * STEPS), 0), last) for each in samples)
    risen = sorted(counts)
    table: list[int | None] = [None] * SIZE
    below = 0
    for start, end in zip([0, *risen], [*risen, last + 1], strict=True):
        if start == end:
            continue  # the first sample is at the start of the scale
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
    """Divide integers as C does, rounding towards 0."""
    return -(-number // divisor) if number < 0 else number // divisor
