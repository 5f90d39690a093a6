"""A mean with its interval, and sums, products and quotients of such means. Pure functions on numbers.

An unknown interval (one value, or no spread given) reaches from -inf to inf. Values without variance (virtual clock, TDF inf)
have an interval of width zero: another measurement would give the same value.

>>> from slownet.theory.stats import from_moments
>>> near, query = from_moments(6.0, 0.2, 25), from_moments(10.0, 0.3, 25)
>>> near.half_width, (near + 10).half_width
(0.0825..., 0.0825...)
>>> print(f"{(near + 2 * query).half_width:.3f}")  # t with 29.2 degrees of freedom times the root of 0.04**2 + 0.12**2
0.259

Means from different cells are treated as independent, unless it is known what each boot measured in both (`Summary.boots`):
then the sum, difference or quotient is computed in each boot, and the interval is that of these values
(`slownet.theory.stats.paired`). Of means that share a cell (`Summary.sources`), and no boots, full correlation is assumed:
their half widths add up, the maximum by the Cauchy-Schwarz inequality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import ClassVar, Required, TypedDict

from slownet.model.errors import SlownetError
from slownet.theory.stats.paired import Boots, of_common_boots, of_factors, of_values
from slownet.theory.stats.student import CONFIDENCE, t_quantile


class Interval(TypedDict, total=False):
    """A mean with its interval as records have it; None for what is not finite."""

    mean: float | None
    low: float | None
    high: float | None
    n: Required[int]
    confidence: float


@dataclass(frozen=True)
class Summary:
    """A mean with its interval.

    Parameters
    ----------
    mean : float
        In the unit of the values.
    low, high : float
        The interval, in the same unit; infinite if unknown.
    n : int
        How many values the mean is taken over.
    df : float, optional
        Degrees of freedom of the t interval; n - 1 unless given.
    confidence : float
        The probability that such an interval contains the true mean.
    sources : frozenset of str
        The keys of the cells that it was measured in, empty if unknown. Summaries that share a cell are not independent.
    is_positive : bool
        Whether the interval is that of a number above 0 whose error is a factor: it is symmetric on a logarithmic scale, and
        ends above 0 at every confidence.
    boots : mapping
        What each boot measured, where boots are the units of the interval and share something that comparisons should not
        contain, such as the speed of the CPU; empty if not. Results of arithmetic have the boots that all operands have.
    """

    mean: float
    low: float
    high: float
    n: int
    df: float | None = field(default=None, compare=False)
    confidence: float = field(default=CONFIDENCE, compare=False)
    sources: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    is_positive: bool = field(default=False, compare=False, repr=False)
    boots: Boots = field(default_factory=dict, compare=False, repr=False)

    @property
    def known(self) -> bool:
        """True if the interval is bounded on both sides."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half of the interval's width, inf if it is unknown."""
        return (self.high - self.low) / 2 if self.known else math.inf

    @property
    def df_or_default(self) -> float:
        """The degrees of freedom of the interval; 1 if none exist, since the interval is unknown then."""
        return float(self.n - 1 if self.df is None else self.df) or 1.0

    @property
    def error(self) -> float:
        """The standard error of the mean, inf if the interval is unknown."""
        if not self.half_width:
            return 0.0
        half = self.mean * self.log_half if self.is_positive else self.half_width
        return half / t_quantile(self.df_or_default, self.confidence)

    @property
    def log_half(self) -> float:
        """Half of the interval's width on a logarithmic scale: 0.1 for about 10 %."""
        return math.log(self.high / self.low) / 2

    def positive(self) -> Summary:
        """Return the interval of the same relative error on a logarithmic scale, if it is known and the mean above 0.

        For an error that is a factor, such as the speed of a CPU: no time is below 0. To first order in the relative error h
        both intervals are the same, as ``exp(h)`` is ``1 + h + h**2 / 2...`` (the delta method).
        """
        if self.is_positive or not self.known or self.mean <= 0 or not self.half_width:
            return self
        return self.with_log_half(self.half_width / self.mean)

    def with_log_half(self, half: float) -> Summary:
        """Return the same mean with this half width on a logarithmic scale."""
        factor = math.exp(half)
        return replace(self, low=self.mean / factor, high=self.mean * factor, is_positive=True)

    def scaled(self, factor: float) -> Summary:
        """Multiply by an exact factor, such as that of another unit."""
        low, high = sorted((self.low * factor, self.high * factor))
        boots = {boot: value * factor for boot, value in self.boots.items()}
        found = replace(self, mean=self.mean * factor, low=low, high=high, boots=boots)
        return replace(found, is_positive=self.is_positive and factor > 0)

    def plus(self, offset: float) -> Summary:
        """Add an exact number."""
        boots = {boot: value + offset for boot, value in self.boots.items()}
        low, high = self.low + offset, self.high + offset
        return replace(self, mean=self.mean + offset, low=low, high=high, is_positive=False, boots=boots)

    def at_confidence(self, confidence: float) -> Summary:
        """Return the same mean with its t interval at another confidence."""
        if confidence == self.confidence:
            return self
        widths = (self.mean - self.low, self.high - self.mean)
        if self.known and any(widths):
            factor = t_quantile(self.df_or_default, confidence) / t_quantile(self.df_or_default, self.confidence)
            if self.is_positive:
                return replace(self.with_log_half(self.log_half * factor), confidence=confidence)
            widths = (widths[0] * factor, widths[1] * factor)
        return replace(self, low=self.mean - widths[0], high=self.mean + widths[1], confidence=confidence)

    # Arithmetic with exact numbers and with other summaries: see the module's docstring.
    __array_ufunc__: ClassVar[None] = None  # makes numpy's numbers on the left leave the operation to this class

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
            raise SlownetError("a measured number divided by 0")
        return self.scaled(1 / other)

    def __rtruediv__(self, other: float) -> Summary:
        return _reciprocal(self) * other

    def to_json(self) -> Interval:
        """Return ``{"mean", "low", "high", "n", "confidence"}``, with None for numbers that are not finite."""
        mean, low, high = (each if math.isfinite(each) else None for each in (self.mean, self.low, self.high))
        return {"mean": mean, "low": low, "high": high, "n": self.n, "confidence": self.confidence}

    @classmethod
    def from_json(cls, record: Interval) -> Summary:
        """Read what `to_json` returned."""
        mean, low, high = record.get("mean"), record.get("low"), record.get("high")
        return cls(
            math.nan if mean is None else float(mean),
            -math.inf if low is None else float(low),
            math.inf if high is None else float(high),
            int(record["n"]),
            confidence=float(record.get("confidence", CONFIDENCE)),
        )


def from_error(mean: float, error: float, n: int, df: float, confidence: float = CONFIDENCE) -> Summary:
    """Make a t interval from a standard error.

    Parameters
    ----------
    mean, error : float
        The estimate and its standard error, in one unit; an error of 0 gives an interval of width zero.
    n : int
        The number of values.
    df : float
        Degrees of freedom of ``error``.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        In the same unit.
    """
    half = t_quantile(df, confidence) * error if error > 0 else 0.0
    return Summary(mean, mean - half, mean + half, n, df, confidence)


def ratio(over: Summary, under: Summary, shared: float = 0.0) -> Summary:
    """Divide two means.

    Parameters
    ----------
    over, under : Summary
        Numerator and denominator. If they share a cell and ``shared`` is 0, full correlation is assumed.
    shared : float
        Product of the half widths of their common part, such as h0**2 if the same baseline was subtracted from both.

    Returns
    -------
    Summary
        If both have the same boots, with the interval of the boots' quotients, on a logarithmic scale. Else with Fieller's
        interval, computed from the two intervals: of width zero if both are, unknown if the interval of the denominator
        contains zero.

    References
    ----------
    MOVER-R: Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012.
    """
    n, confidence = min(over.n, under.n), min(over.confidence, under.confidence)
    df, sources = min(over.df_or_default, under.df_or_default), over.sources | under.sources
    mean = over.mean / under.mean if under.mean else math.nan
    if paired := _paired_ratio(over, under, mean):
        return paired
    if not (over.known and under.known) or under.low <= 0 <= under.high:
        return Summary(mean, -math.inf, math.inf, n, df, confidence, sources)
    if over.sources & under.sources and not shared:
        corners = [one / other for one in (over.low, over.high) for other in (under.low, under.high)]
        return Summary(mean, min(corners), max(corners), n, df, confidence, sources)
    low = mean - _fieller(over.mean, over.mean - over.low, under.mean, under.high - under.mean, shared, -1)
    high = mean + _fieller(over.mean, over.high - over.mean, under.mean, under.mean - under.low, shared, +1)
    return Summary(mean, low, high, n, df, confidence, sources)


def _paired_ratio(over: Summary, under: Summary, mean: float) -> Summary | None:
    """Return a quotient from the boots' quotients; None if the two have too few boots in common, or one is not above 0."""
    pairs = of_common_boots(over.boots, under.boots) if over.known and under.known else {}
    if not pairs or min(min(pair) for pair in pairs.values()) <= 0:
        return None
    boots, confidence = {boot: one / other for boot, (one, other) in pairs.items()}, min(over.confidence, under.confidence)
    middle, half = of_factors(boots, mean if over.boots.keys() == under.boots.keys() else None, confidence)
    n, sources = min(over.n, under.n), over.sources | under.sources
    found = Summary(middle, middle, middle, n, len(boots) - 1.0, confidence, sources, boots=boots)
    return found.with_log_half(half) if half else found


def difference(left: Summary, right: Summary) -> Summary:
    """Subtract two means.

    Parameters
    ----------
    left, right : Summary
        In one unit.

    Returns
    -------
    Summary
        ``left - right``: if both have the same boots, with the interval of the boots' differences. Else with Welch's interval
        if they are independent (degrees of freedom by Satterthwaite). If they share a cell their half widths add up.
    """
    mean, n, sources = left.mean - right.mean, min(left.n, right.n), left.sources | right.sources
    confidence = min(left.confidence, right.confidence)
    if not (left.known and right.known):
        return Summary(mean, -math.inf, math.inf, n, 0, confidence, sources)
    if pairs := of_common_boots(left.boots, right.boots):
        boots = {boot: one - other for boot, (one, other) in pairs.items()}
        middle, half = of_values(boots, mean if left.boots.keys() == right.boots.keys() else None, confidence)
        return Summary(middle, middle - half, middle + half, n, len(boots) - 1.0, confidence, sources, boots=boots)
    if left.sources & right.sources:
        one, other = left.at_confidence(confidence), right.at_confidence(confidence)
        df = min(left.df_or_default, right.df_or_default)
        return Summary(mean, one.low - other.high, one.high - other.low, n, df, confidence, sources)
    error, df = welch((left.error, left.df_or_default), (right.error, right.df_or_default))
    return replace(from_error(mean, error, n, df, confidence), sources=sources)


def welch(*parts: tuple[float, float]) -> tuple[float, float]:
    """Combine the standard errors of independent parts of a sum.

    Parameters
    ----------
    *parts : tuple of float
        The standard error of each part, 0 if it is exact, with its degrees of freedom.

    Returns
    -------
    tuple of float
        Standard error and degrees of freedom of the sum.

    References
    ----------
    Satterthwaite, "An approximate distribution of estimates of variance components", 1946.
    """
    variances = [(error * error, df) for error, df in parts if error > 0]
    total = math.fsum(variance for variance, _ in variances)
    if total == 0:
        return 0.0, max((df for _, df in parts), default=1.0)
    return math.sqrt(total), total**2 / math.fsum(variance**2 / df for variance, df in variances)


def _fieller(a: float, half_a: float, b: float, half_b: float, shared: float, side: int) -> float:
    """Compute the distance of one limit of a/b from a/b, for the half widths of a and b towards that side."""
    if half_a == 0 and half_b == 0:
        return 0.0
    middle = a * b - shared
    below = b * b - half_b * half_b
    root = math.sqrt(max(0.0, middle * middle - (a * a - half_a * half_a) * below))
    return side * ((middle + side * root) / below - a / b)


def _product(left: Summary, right: Summary) -> Summary:
    """Multiply, as the ratio of one to the reciprocal of the other (Donner and Zou, 2012: see `ratio`).

    The interval is unknown if both intervals contain zero.
    """
    for one, other in ((left, right), (right, left)):
        if other.low == other.high:
            return replace(one.scaled(other.mean), sources=left.sources | right.sources)
    if right.low <= 0 <= right.high:
        left, right = right, left
    return replace(ratio(left, _reciprocal(right)), mean=left.mean * right.mean)


def _reciprocal(one: Summary) -> Summary:
    """Return ``1 / one``; its interval is unknown if that of ``one`` contains zero."""
    known = one.known and not one.low <= 0 <= one.high
    low, high = (1 / one.high, 1 / one.low) if known else (-math.inf, math.inf)
    return replace(one, mean=1 / one.mean if one.mean else math.nan, low=low, high=high)


def _exact(number: object) -> float:
    """Check the exact operand of a calculation. Raises SlownetError unless it is a finite number."""
    if not isinstance(number, Real) or isinstance(number, bool) or not math.isfinite(number):
        raise SlownetError(f"{number!r} in a calculation with a measured number", fix="give a finite number or a Summary")
    return float(number)
