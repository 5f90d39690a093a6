"""Means with t intervals, from values or from moments that a tool computed. Pure functions on numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slownet.model.errors import SlownetError
from slownet.theory.stats.estimate import Summary, from_error
from slownet.theory.stats.student import CONFIDENCE


def from_moments(mean: float, sd: float | None, n: int, confidence: float = CONFIDENCE) -> Summary:
    """Make a mean with its t interval from moments.

    Parameters
    ----------
    mean : float
        The mean of the values.
    sd : float or None
        Their sample standard deviation; 0 gives an interval of width zero, None an unknown one.
    n : int
        The number of values; 1 gives an unknown interval.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        In the unit of ``mean``.

    Raises
    ------
    SlownetError
        ``n`` is below 1.
    """
    if n < 1:
        raise SlownetError(f"a mean of {n} values", fix="a sample has at least 1 value")
    if n == 1 or sd is None:
        return Summary(mean, -math.inf, math.inf, n, 0, confidence)
    return from_error(mean, sd / math.sqrt(n), n, n - 1, confidence)


def summarize(values: Sequence[float], confidence: float = CONFIDENCE) -> Summary:
    """Compute the mean of values with its t interval.

    Parameters
    ----------
    values : sequence of float
        One or more.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        In the unit of the values.

    Raises
    ------
    SlownetError
        No values are given.
    """
    if not values:
        raise SlownetError("a mean without values", fix="measure at least once")
    mean, sd = mean_and_sd(values)
    return from_moments(mean, sd, len(values), confidence)


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Compute mean and sample standard deviation.

    Parameters
    ----------
    values : sequence of float
        One or more.

    Returns
    -------
    tuple of float
        The mean, which is exactly the value if all values are equal, and the standard deviation, 0 for one value.
    """
    first = values[0]
    mean = first + math.fsum(each - first for each in values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    return mean, math.sqrt(math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1))
