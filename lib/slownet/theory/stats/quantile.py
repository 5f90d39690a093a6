"""Percentiles with distribution-free intervals.

The interval of a percentile reaches from one of the sorted values to another (Conover, "Practical nonparametric
statistics", 1999, 3.2): the number of values below the true percentile is binomial. So an upper limit of a 99th percentile
needs hundreds of values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from slownet.model.errors import SlownetError, TooFewError
from slownet.model.sample import Metric
from slownet.theory.stats.estimate import Summary
from slownet.theory.stats.student import CONFIDENCE


def median(values: Sequence[float], confidence: float = CONFIDENCE) -> Summary:
    """Estimate the median.

    Parameters
    ----------
    values : sequence of float
        The sample.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        With the interval of `percentile`.

    Raises
    ------
    TooFewError
        There are too few values for the interval.
    """
    return percentile(values, 50, confidence)


def percentile(values: Sequence[float], percent: float, confidence: float = CONFIDENCE) -> Summary:
    """Estimate a percentile (linear between values) with its distribution-free interval.

    Parameters
    ----------
    values : sequence of float
        The sample.
    percent : float
        Above 0 and below 100.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        In the unit of the values; with an interval of width zero if all values are equal.

    Raises
    ------
    TooFewError
        There are fewer values than `needed` for the interval.
    SlownetError
        ``percent`` is out of range.
    """
    _check(percent)
    least = needed(percent, confidence)
    if len(values) < least:
        what = f"{len(values)} value{'s' * (len(values) != 1)} for a percentile of {percent:g}"
        raise TooFewError(what, fix=f"its {100 * confidence:g} % interval needs {least} or more")
    ordered = sorted(values)
    low, high = _ranks(len(ordered), percent / 100, confidence)
    return Summary(quantile(ordered, percent / 100), ordered[low], ordered[high], len(ordered), len(ordered) - 1, confidence)


def printed(record: Metric, others: Mapping[str, Metric], confidence: float = CONFIDENCE) -> Summary:
    """Attach an interval to a percentile printed by a tool, using the recorded values or the steps of its histogram.

    Parameters
    ----------
    record : mapping
        ``{"mean", "n", "percent", "of"}``: the printed value, and the name of the metric whose values it is a percentile of.
    others : mapping
        The records of the same measurement by name.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        With an unknown interval if no values were kept, for a maximum, and if there are too few values.
    """
    value, n = float(record["mean"]), int(record["n"])
    source = others.get(str(record.get("of")))
    steps: Sequence[Sequence[float]] = []
    if source is not None:
        steps = source.get("steps") or [(each, count) for count, each in enumerate(sorted(source.get("values", ())), 1)]
    count = int(steps[-1][1]) if steps else 0
    if "percent" not in record or count < needed(float(record["percent"]), confidence):
        return Summary(value, -math.inf, math.inf, n, 0, confidence)
    low, high = (_step_of(steps, rank) for rank in _ranks(count, float(record["percent"]) / 100, confidence))
    return Summary(value, min(value, low[0]), max(value, high[1]), n, n - 1, confidence)


def _step_of(steps: Sequence[Sequence[float]], rank: int) -> tuple[float, float]:
    """Return the bounds of the value of a rank (from 0) in a cumulative histogram; they are equal if its step has one value."""
    at = next(number for number, (_, count) in enumerate(steps) if count > rank)
    before, count = steps[at - 1] if at else (steps[0][0], 0)
    return float(steps[at][0] if steps[at][1] - count == 1 else before), float(steps[at][0])


def needed(percent: float, confidence: float = CONFIDENCE) -> int:
    """Return the number of values that the interval of a percentile needs.

    Parameters
    ----------
    percent : float
        Above 0 and below 100.
    confidence : float
        Of the two-sided interval.

    Returns
    -------
    int
        At 95 %, 6 for the median and 368 for the 99th percentile.

    Raises
    ------
    SlownetError
        ``percent`` is out of range.
    """
    _check(percent)
    part = max(percent / 100, 1 - percent / 100)
    return math.ceil(math.log((1 - confidence) / 2) / math.log(part) - 1e-9)


def _check(percent: float) -> None:
    if not 0 < percent < 100:
        raise SlownetError(f"percentile {percent:g} is not between 0 and 100", fix="write 99 for the 99th")


@lru_cache(maxsize=256)
def _ranks(n: int, part: float, confidence: float) -> tuple[int, int]:
    """Return the ranks of the limits among the sorted values, from 0; each limit errs with half of 1 - confidence."""
    from scipy.special import bdtr

    tail = (1 - confidence) / 2
    # value[low] is above the percentile if at most `low` values lie below it; value[high] is below it if more than `high` do.
    low = max(rank for rank in range(n) if bdtr(rank, n, part) <= tail)
    high = min(rank for rank in range(n) if 1 - bdtr(rank, n, part) <= tail)
    return low, high


def quantile(ordered: Sequence[float], part: float) -> float:
    """Compute a quantile, linear between values, like numpy's default.

    Parameters
    ----------
    ordered : sequence of float
        The sorted values, one or more.
    part : float
        The fraction of values below the quantile, 0 to 1.

    Returns
    -------
    float
        In the unit of the values.
    """
    place = part * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
