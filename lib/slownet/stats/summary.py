"""A mean with its interval, and sums, products and quotients of such means. Pure functions on numbers.

An interval that is not known (one value, no spread given) reaches from -inf to inf. Values without variance (virtual
clock, TDF inf) have an interval of width zero, which needs no t and says: another measurement gives the same.

>>> from slownet.stats import from_moments
>>> near, query = from_moments(6.0, 0.2, 25), from_moments(10.0, 0.3, 25)
>>> near.half_width, (near + 10).half_width
(0.0825..., 0.0825...)
>>> print(f"{(near + 2 * query).half_width:.3f}")  # t with 29.2 degrees of freedom times the root of 0.04**2 + 0.12**2
0.259

Two means are independent where they come from different cells. On a clock that charges the CPU, the cells of one boot share
what that boot was like; a sum or a ratio that takes them for independent has too wide an interval then, not too narrow a
one, as long as a fast boot is fast in both. Means that share a cell (`Summary.sources`) are taken for as dependent as they
can be: half widths add up, which is the most that any correlation leaves (the inequality of Cauchy and Schwarz).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar

from slownet.errors import SlownetError
from slownet.stats.student import CONFIDENCE, t_quantile


@dataclass(frozen=True)
class Summary:
    """A mean, its interval, and how many values it rests on; all in the unit of the values.

    ``degrees`` of freedom are those of the t that the interval was made with (n - 1 when not given), ``confidence`` is
    how often such an interval holds the true mean.
    """

    mean: float
    low: float
    high: float
    n: int
    degrees: float | None = field(default=None, compare=False)
    confidence: float = field(default=CONFIDENCE, compare=False)
    sources: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The cells that it was measured in: what shares one is not independent. Empty where that is not known."""

    @property
    def known(self) -> bool:
        """Whether the interval is bounded on both sides."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half of the interval, inf where it is not known."""
        return (self.high - self.low) / 2 if self.known else math.inf

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the interval; 1 where there are none, whose interval is not known anyway."""
        return float(self.n - 1 if self.degrees is None else self.degrees) or 1.0

    @property
    def error(self) -> float:
        """The standard error of the mean, inf where the interval is not known."""
        return self.half_width / t_quantile(self.freedom, self.confidence) if self.half_width else 0.0

    def scaled(self, factor: float) -> Summary:
        """The same summary in another unit."""
        low, high = sorted((self.low * factor, self.high * factor))
        return replace(self, mean=self.mean * factor, low=low, high=high)

    def plus(self, offset: float) -> Summary:
        """The same summary, moved by an exact number."""
        return replace(self, mean=self.mean + offset, low=self.low + offset, high=self.high + offset)

    def at_confidence(self, confidence: float) -> Summary:
        """The same mean with its t interval at another confidence."""
        if confidence == self.confidence:
            return self
        widths = (self.mean - self.low, self.high - self.mean)
        if self.known and any(widths):
            factor = t_quantile(self.freedom, confidence) / t_quantile(self.freedom, self.confidence)
            widths = (widths[0] * factor, widths[1] * factor)
        return replace(self, low=self.mean - widths[0], high=self.mean + widths[1], confidence=confidence)

    # Arithmetic with exact numbers and with other summaries: see the module.
    __array_ufunc__: ClassVar[None] = None  # so that a number of numpy's on the left leaves the operation to us

    def __add__(self, other: Summary | float) -> Summary:
        return difference(self, other.scaled(-1)) if isinstance(other, Summary) else self.plus(_exact(other))

    __radd__ = __add__

    def __neg__(self) -> Summary:
        return self.scaled(-1)

    def __sub__(self, other: Summary | float) -> Summary:
        return self + -other

    def __rsub__(self, other: float) -> Summary:
        return -self + other

    def __mul__(self, other: Summary | float) -> Summary:
        return _product(self, other) if isinstance(other, Summary) else self.scaled(_exact(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Summary | float) -> Summary:
        if isinstance(other, Summary):
            return ratio(self, other)
        if not _exact(other):
            raise SlownetError("a measured number is divided by 0")
        return self.scaled(1 / other)

    def __rtruediv__(self, other: float) -> Summary:
        return _reciprocal(self) * other

    def to_json(self) -> dict[str, Any]:
        """``{"mean", "low", "high", "n", "confidence"}`` with None for what is not finite."""
        values = {"mean": self.mean, "low": self.low, "high": self.high}
        finite = {name: each if math.isfinite(each) else None for name, each in values.items()}
        return finite | {"n": self.n, "confidence": self.confidence}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Summary:
        """The reverse of ``to_json``."""
        mean, low, high = (
            default if record.get(name) is None else float(record[name])
            for name, default in (("mean", math.nan), ("low", -math.inf), ("high", math.inf))
        )
        return cls(mean, low, high, int(record["n"]), confidence=float(record.get("confidence", CONFIDENCE)))


def from_error(mean: float, error: float, n: int, degrees: float, confidence: float = CONFIDENCE) -> Summary:
    """The t interval of an estimate whose standard error is known with so many degrees of freedom."""
    half = t_quantile(degrees, confidence) * error if error > 0 else 0.0
    return Summary(mean, mean - half, mean + half, n, degrees, confidence)


def ratio(over: Summary, under: Summary, shared: float = 0.0) -> Summary:
    """``over / under`` with Fieller's interval, made from the two intervals (MOVER-R: Donner and Zou,
    "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012).

    Exact (zero width) when both intervals have zero width. Unknown when the lower interval holds zero.
    ``shared`` is the product of the half widths of what both have in common, for instance h0**2 when
    the same baseline was taken off both. Where both were measured in the same cell, and nothing else is said of what they
    share, they are taken for as dependent as they can be.
    """
    n, confidence = min(over.n, under.n), min(over.confidence, under.confidence)
    degrees, sources = min(over.freedom, under.freedom), over.sources | under.sources
    mean = over.mean / under.mean if under.mean else math.nan
    if not (over.known and under.known) or under.low <= 0 <= under.high:
        return Summary(mean, -math.inf, math.inf, n, degrees, confidence, sources)
    if over.sources & under.sources and not shared:
        corners = [one / other for one in (over.low, over.high) for other in (under.low, under.high)]
        return Summary(mean, min(corners), max(corners), n, degrees, confidence, sources)
    low = mean - _fieller(over.mean, over.mean - over.low, under.mean, under.high - under.mean, shared, -1)
    high = mean + _fieller(over.mean, over.high - over.mean, under.mean, under.mean - under.low, shared, +1)
    return Summary(mean, low, high, n, degrees, confidence, sources)


def difference(left: Summary, right: Summary) -> Summary:
    """``left - right`` of independent means with Welch's interval (degrees of freedom by Satterthwaite).

    Of two that were measured in the same cell the half widths add up: see the module.
    """
    mean, n, sources = left.mean - right.mean, min(left.n, right.n), left.sources | right.sources
    confidence = min(left.confidence, right.confidence)
    if not (left.known and right.known):
        return Summary(mean, -math.inf, math.inf, n, 0, confidence, sources)
    if left.sources & right.sources:
        one, other = left.at_confidence(confidence), right.at_confidence(confidence)
        degrees = min(left.freedom, right.freedom)
        return Summary(mean, one.low - other.high, one.high - other.low, n, degrees, confidence, sources)
    error, degrees = welch((left.error, left.freedom), (right.error, right.freedom))
    return replace(from_error(mean, error, n, degrees, confidence), sources=sources)


def welch(*parts: tuple[float, float]) -> tuple[float, float]:
    """Standard error and degrees of freedom of a sum of independent parts, each ``(error, degrees)``.

    Source: Satterthwaite, "An approximate distribution of estimates of variance components", 1946. Exact parts add
    nothing.
    """
    variances = [(error * error, degrees) for error, degrees in parts if error > 0]
    total = math.fsum(variance for variance, _ in variances)
    if total == 0:
        return 0.0, max((degrees for _, degrees in parts), default=1.0)
    return math.sqrt(total), total**2 / math.fsum(variance**2 / degrees for variance, degrees in variances)


def _fieller(a: float, half_a: float, b: float, half_b: float, shared: float, side: int) -> float:
    """How far the limit of a/b on one side is from a/b, for half widths of a and b towards that side."""
    if half_a == 0 and half_b == 0:
        return 0.0
    middle = a * b - shared
    below = b * b - half_b * half_b
    root = math.sqrt(max(0.0, middle * middle - (a * a - half_a * half_a) * below))
    return side * ((middle + side * root) / below - a / b)


def _product(left: Summary, right: Summary) -> Summary:
    """``left * right``, as the ratio of one to the reciprocal of the other (Donner and Zou, 2012: see `ratio`).

    Unknown where the intervals of both hold zero.
    """
    for one, other in ((left, right), (right, left)):
        if other.low == other.high:
            return replace(one.scaled(other.mean), sources=left.sources | right.sources)
    if right.low <= 0 <= right.high:
        left, right = right, left
    return replace(ratio(left, _reciprocal(right)), mean=left.mean * right.mean)


def _reciprocal(one: Summary) -> Summary:
    """``1 / one``; unknown where the interval holds zero."""
    known = one.known and not one.low <= 0 <= one.high
    low, high = (1 / one.high, 1 / one.low) if known else (-math.inf, math.inf)
    return replace(one, mean=1 / one.mean if one.mean else math.nan, low=low, high=high)


def _exact(number: object) -> float:
    """A number beside a measured one. Raises SlownetError for what is none."""
    if not isinstance(number, Real) or isinstance(number, bool) or not math.isfinite(number):
        raise SlownetError(f"{number!r} in a calculation with a measured number", fix="give a finite number or a Summary")
    return float(number)
