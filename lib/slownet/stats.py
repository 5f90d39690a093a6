"""Means with 95 % intervals, and the interval of a ratio. Pure functions on numbers.

Only the quantile of Student's t needs scipy, which is imported when it is first asked for.
An interval that is not known (one value, no spread given) reaches from -inf to inf.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from slownet.errors import SlownetError

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Summary:
    """A mean, its 95 % interval, and how many values it rests on; all in the unit of the values."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def known(self) -> bool:
        """Whether the interval is bounded on both sides."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half of the interval, inf where it is not known."""
        return (self.high - self.low) / 2 if self.known else math.inf

    def scaled(self, factor: float) -> Summary:
        """The same summary in another unit."""
        low, high = sorted((self.low * factor, self.high * factor))
        return Summary(self.mean * factor, low, high, self.n)

    def to_json(self) -> dict[str, Any]:
        """``{"mean", "low", "high", "n"}`` with None for what is not finite."""
        values = {"mean": self.mean, "low": self.low, "high": self.high}
        return {name: each if math.isfinite(each) else None for name, each in values.items()} | {"n": self.n}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Summary:
        """The reverse of ``to_json``."""
        mean, low, high = (
            default if record.get(name) is None else float(record[name])
            for name, default in (("mean", math.nan), ("low", -math.inf), ("high", math.inf))
        )
        return cls(mean, low, high, int(record["n"]))


@lru_cache(maxsize=256)
def t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Student's t that a two-sided interval takes: 12.706 for 1 degree of freedom, 1.984 for 99."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))


def from_moments(mean: float, sd: float | None, n: int) -> Summary:
    """The t interval of a mean whose n values had the sample standard deviation ``sd``.

    No spread at all gives an interval of width zero. One value, or ``sd`` None, gives an unknown one.
    """
    if n < 1:
        raise SlownetError(f"a mean of {n} values", fix="a sample needs n of at least 1")
    if n == 1 or sd is None:
        return Summary(mean, -math.inf, math.inf, n)
    half = t_quantile(n - 1) * sd / math.sqrt(n) if sd > 0 else 0.0
    return Summary(mean, mean - half, mean + half, n)


def summarize(values: Sequence[float]) -> Summary:
    """The mean of the values with its t interval. Raises SlownetError when there are none."""
    if not values:
        raise SlownetError("a mean of no values", fix="measure at least once")
    mean = _mean(values)
    return from_moments(mean, _sd(values, mean), len(values))


def pooled(samples: Iterable[Mapping[str, Any]]) -> Summary:
    """One summary of a cell's samples, each ``{"mean", "sd", "n"}``.

    One sample: the t interval of its own values. More: the mean of the samples' means, with the t
    interval of those means, because values within a sample share what the sample had in common
    (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013). ``n`` counts all values.
    """
    records = list(samples)
    if len(records) == 1:
        only = records[0]
        return from_moments(float(only["mean"]), only.get("sd"), int(only["n"]))
    means = summarize([float(each["mean"]) for each in records])
    return Summary(means.mean, means.low, means.high, sum(int(each["n"]) for each in records))


def ratio(over: Summary, under: Summary, shared: float = 0.0) -> Summary:
    """``over / under`` with Fieller's interval, made from the two intervals (MOVER-R: Donner and Zou,
    "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012).

    Exact (zero width) when both intervals have zero width. Unknown when the lower interval holds zero.
    ``shared`` is the product of the half widths of what both have in common, for instance h0**2 when
    the same baseline was taken off both.
    """
    n = min(over.n, under.n)
    mean = over.mean / under.mean if under.mean else math.nan
    if not (over.known and under.known) or under.low <= 0 <= under.high:
        return Summary(mean, -math.inf, math.inf, n)
    low = mean - _fieller(over.mean, over.mean - over.low, under.mean, under.high - under.mean, shared, -1)
    high = mean + _fieller(over.mean, over.high - over.mean, under.mean, under.mean - under.low, shared, +1)
    return Summary(mean, low, high, n)


def _fieller(a: float, half_a: float, b: float, half_b: float, shared: float, side: int) -> float:
    """How far the limit of a/b on one side is from a/b, for half widths of a and b towards that side."""
    if half_a == 0 and half_b == 0:
        return 0.0
    middle = a * b - shared
    below = b * b - half_b * half_b
    root = math.sqrt(max(0.0, middle * middle - (a * a - half_a * half_a) * below))
    return side * ((middle + side * root) / below - a / b)


def _mean(values: Sequence[float]) -> float:
    """The mean, exactly the value when all values are the same."""
    first = values[0]
    return first + math.fsum(each - first for each in values) / len(values)


def _sd(values: Sequence[float], mean: float) -> float:
    """The sample standard deviation; 0 for one value."""
    if len(values) < 2:
        return 0.0
    return math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1))
