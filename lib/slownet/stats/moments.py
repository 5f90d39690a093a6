"""Means of values, or of moments that somebody else computed, with their t intervals. Pure functions on numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slownet.errors import SlownetError
from slownet.stats.student import CONFIDENCE
from slownet.stats.summary import Summary, from_error


def from_moments(mean: float, sd: float | None, n: int, confidence: float = CONFIDENCE) -> Summary:
    """The t interval of a mean whose n values had the sample standard deviation ``sd``.

    No spread at all gives an interval of width zero. One value, or ``sd`` None, gives an unknown one.
    """
    if n < 1:
        raise SlownetError(f"a mean of {n} values", fix="a sample needs n of at least 1")
    if n == 1 or sd is None:
        return Summary(mean, -math.inf, math.inf, n, 0, confidence)
    return from_error(mean, sd / math.sqrt(n), n, n - 1, confidence)


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
