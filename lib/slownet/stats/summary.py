"""Means with their intervals. Pure functions on numbers.

Only the quantile of Student's t needs scipy, which is imported when it is first asked for.
An interval that is not known (one value, no spread given) reaches from -inf to inf. Values without variance (virtual
clock, TDF inf) have an interval of width zero, which needs no t and says: another measurement gives the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

from slownet.errors import SlownetError

CONFIDENCE = 0.95


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

    # Arithmetic with exact numbers and with other summaries: see `slownet.stats.arithmetic`.
    __array_ufunc__: ClassVar[None] = None  # so that a number of numpy's on the left leaves the operation to us

    def __add__(self, other: Summary | float) -> Summary:
        from slownet.stats import arithmetic

        return arithmetic.total(self, other) if isinstance(other, Summary) else self.plus(arithmetic.exact(other))

    __radd__ = __add__

    def __neg__(self) -> Summary:
        return self.scaled(-1)

    def __sub__(self, other: Summary | float) -> Summary:
        return self + -other

    def __rsub__(self, other: float) -> Summary:
        return -self + other

    def __mul__(self, other: Summary | float) -> Summary:
        from slownet.stats import arithmetic

        return arithmetic.product(self, other) if isinstance(other, Summary) else self.scaled(arithmetic.exact(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Summary | float) -> Summary:
        from slownet.stats import arithmetic, compare

        if isinstance(other, Summary):
            return compare.ratio(self, other)
        if not arithmetic.exact(other):
            raise SlownetError("a measured number is divided by 0")
        return self.scaled(1 / other)

    def __rtruediv__(self, other: float) -> Summary:
        from slownet.stats import arithmetic

        return arithmetic.reciprocal(self) * other

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


@lru_cache(maxsize=4096)
def t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """Student's t that a two-sided interval takes: 12.706 for 1 degree of freedom, 1.984 for 99."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))


def from_moments(mean: float, sd: float | None, n: int, confidence: float = CONFIDENCE) -> Summary:
    """The t interval of a mean whose n values had the sample standard deviation ``sd``.

    No spread at all gives an interval of width zero. One value, or ``sd`` None, gives an unknown one.
    """
    if n < 1:
        raise SlownetError(f"a mean of {n} values", fix="a sample needs n of at least 1")
    if n == 1 or sd is None:
        return Summary(mean, -math.inf, math.inf, n, 0, confidence)
    return from_error(mean, sd / math.sqrt(n), n, n - 1, confidence)


def from_error(mean: float, error: float, n: int, degrees: float, confidence: float = CONFIDENCE) -> Summary:
    """The t interval of an estimate whose standard error is known with so many degrees of freedom."""
    half = t_quantile(degrees, confidence) * error if error > 0 else 0.0
    return Summary(mean, mean - half, mean + half, n, degrees, confidence)


def summarize(values: Sequence[float], confidence: float = CONFIDENCE) -> Summary:
    """The mean of the values with its t interval. Raises SlownetError when there are none."""
    if not values:
        raise SlownetError("a mean of no values", fix="measure at least once")
    mean, sd = mean_and_sd(values)
    return from_moments(mean, sd, len(values), confidence)


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """The mean, exactly the value when all values are the same, and the sample standard deviation (0 for one value)."""
    first = values[0]
    mean = first + math.fsum(each - first for each in values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    return mean, math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1))
