"""The scales of a plot's axes: linear, logarithmic, and HdrHistogram's scale of percentiles; each with its ticks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from slownet.report.text import trimmed

NEAR = 0.07
"""Least distance of two ticks, as a fraction of the axis; closer labels would overlap."""
WIDE = 20.0
"""Numbers that differ by this factor or more get a logarithmic axis."""
GEOMETRIC = 4.0
"""A line's middle number is about half of its largest one; of numbers that grow by equal factors over `WIDE`, it is at most the
largest one divided by the root of `WIDE`, 4.5."""
LONGEST = 6
"""Digits of a tick left of an axis; a point or a sign takes half of the room."""
EDGE = 0.04
"""Room beside the first and the last value of an axis, as a fraction of it."""
PERCENTILES = (0.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999)


class Scale(Protocol):
    """Maps numbers to places from 0 to 1."""

    @property
    def ticks(self) -> Sequence[tuple[float, str]]:
        """The numbers that are marked, each with its text."""

    def at(self, value: float) -> float:
        """Return the place of a number."""


@dataclass(frozen=True)
class Linear:
    """A linear scale; ``marked`` are its ticks, chosen unless given."""

    low: float
    high: float
    marked: tuple[float, ...] = ()

    def at(self, value: float) -> float:
        return (value - self.low) / ((self.high - self.low) or 1.0)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        return [(value, _written(value)) for value in self.marked or _steps(self.low, self.high)]


@dataclass(frozen=True)
class Log:
    """A logarithmic scale; smaller numbers than its lowest are placed there, because 0 has no place.

    ``marked`` are its ticks, chosen unless given.
    """

    low: float
    high: float
    marked: tuple[float, ...] = ()

    def at(self, value: float) -> float:
        return math.log(max(value, self.low) / self.low) / (math.log(self.high / self.low) or 1.0)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        if self.marked:
            return [(value, _written(value)) for value in self.marked]
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        decades = last - first
        digits = (1, 2, 5) if decades <= 3 else (1,)
        every = max(1, math.ceil(decades / 8))
        found = [digit * 10.0**power for power in range(first, last + 1, every) for digit in digits]
        return [(value, _written(value)) for value in found if self.low * 0.999 <= value <= self.high * 1.001]


@dataclass(frozen=True)
class Named:
    """Places with names instead of numbers: the first is at 0, the next at 1."""

    names: tuple[str, ...]

    def at(self, value: float) -> float:
        return (value + 0.5) / len(self.names)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        return [(float(at), name) for at, name in enumerate(self.names)]


@dataclass(frozen=True)
class Percentiles:
    """The axis of HdrHistogram's plots: each further nine takes the same room. Numbers are percentiles below 100."""

    high: float

    def at(self, value: float) -> float:
        return math.log10(100 / (100 - value)) / math.log10(100 / (100 - self.high))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        return [(each, f"{each:g}") for each in PERCENTILES if 0 < each <= self.high and each != 75]


def titled(title: str, scale: Scale) -> str:
    """Return the title of an axis, with a note if it is logarithmic."""
    return f"{title} (log scale)" if title and isinstance(scale, Log) else title


def from_zero(values: Iterable[float]) -> Linear:
    """Return a linear scale from 0 with room above the largest number, and below the smallest one if that is below 0."""
    found = [0.0, *(value for value in values if math.isfinite(value))]
    low, high = min(found), max(found)
    return Linear(low * 1.06, high * 1.06 if high or low else 1.06)


def along(values: Iterable[float]) -> Linear:
    """Return a linear scale whose ticks are the values, without those whose labels would overlap the one before."""
    ordered = sorted(set(values)) or [0.0, 1.0]
    edge = EDGE * ((ordered[-1] - ordered[0]) or 1.0)
    return Linear(ordered[0] - edge, ordered[-1] + edge, _apart(ordered, Linear(ordered[0], ordered[-1])))


def along_levels(values: Iterable[float]) -> Linear | Log:
    """Return `along`'s scale, or a logarithmic one if the values grow by equal factors rather than by equal steps."""
    ordered = sorted(set(values))
    if not _by_factors(ordered):
        return along(ordered)
    edge = (ordered[-1] / ordered[0]) ** EDGE
    return Log(ordered[0] / edge, ordered[-1] * edge, _apart(ordered, Log(ordered[0], ordered[-1])))


def _by_factors(ordered: Sequence[float]) -> bool:
    if len(ordered) < 3 or ordered[0] <= 0:
        return False
    pairs = list(itertools.pairwise(ordered))
    factors, steps = [after / before for before, after in pairs], [after - before for before, after in pairs]
    return max(factors) / min(factors) < max(steps) / min(steps)


def _apart(ordered: Sequence[float], scale: Scale) -> tuple[float, ...]:
    kept = [ordered[0]]
    for value in ordered[1:]:
        if scale.at(value) - scale.at(kept[-1]) >= NEAR:
            kept.append(value)
    return tuple(kept)


def shades(values: Sequence[float]) -> Linear | Log:
    """Return a scale from the smallest to the largest of some numbers: the one on which their median is nearer to its middle.

    It is logarithmic only if they are above 0 and far apart. A row of cells that take almost nothing does not make it so: all
    others would have one shade.
    """
    low, high = min(values), max(values)
    scales: list[Linear | Log] = [Linear(low, high)]
    if low > 0 and high / low >= WIDE:
        scales.append(Log(low, high))
    return min(scales, key=lambda scale: abs(scale.at(median(values)) - 0.5))


def log(values: Iterable[float]) -> Log:
    """Return a logarithmic scale of the numbers above 0, with some room around them."""
    found = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
    return Log(min(found) / 1.4, max(found) * 1.4)


def fitting(values: Iterable[float], ends: Iterable[float] = ()) -> Linear | Log:
    """Return a scale that starts at 0, or a logarithmic one if the numbers are far apart and all above 0.

    ``ends`` of their intervals have room too; a logarithmic scale goes at most a decade below the numbers for them.
    """
    found = [value for value in values if math.isfinite(value)]
    if not (found and min(found) > 0 and max(found) / min(found) >= WIDE):
        return from_zero([*found, *ends])
    return log([*found, *(end for end in ends if end > min(found) / 10)])


def growing(values: Iterable[float], ends: Iterable[float] = ()) -> Linear | Log:
    """Return `fitting`'s scale for numbers along an axis: linear, too, if few of them are far below the others.

    A law's times rise on a straight line, and the first of them may be almost nothing: a logarithm would make a knee of it.
    """
    found = [value for value in values if math.isfinite(value)]
    return fitting(found, ends) if found and _is_geometric(found) else from_zero([*found, *ends])


def _is_geometric(values: Sequence[float]) -> bool:
    """Return whether numbers above 0 are far apart, and their middle one is far below the largest."""
    low, high = min(values), max(values)
    return low > 0 and high / low >= WIDE and median(values) <= high / GEOMETRIC


def narrow(value: float, text: str) -> str:
    """Write a tick left of an axis; one that has no room there as 2.5e8: cut off at its left, it would be another number."""
    return text if sum(1.0 if each.isalnum() else 0.5 for each in text) <= LONGEST else _by_power(value)


def _written(value: float) -> str:
    text = trimmed(value)
    return text if float(text) or not value else _by_power(value)


def _by_power(value: float) -> str:
    digits, _, power = f"{value:.3e}".partition("e")
    return f"{trimmed(float(digits))}e{int(power)}"


def _steps(low: float, high: float) -> list[float]:
    """Return four to eight round numbers between two others."""
    raw = (high - low) / 5 or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, math.floor(high / step + 1e-9) + 1)]
