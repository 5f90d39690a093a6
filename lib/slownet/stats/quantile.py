"""Percentiles with intervals that assume nothing about the distribution.

The interval of a percentile reaches from one of the sorted values to another (Conover, "Practical nonparametric
statistics", 1999, 3.2): how many values lie below the true percentile is binomial. So a 99th percentile takes hundreds
of values before anything above it has been seen often enough to bound it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from slownet.errors import SlownetError, TooFewError
from slownet.stats.summary import CONFIDENCE, Summary


def median(values: Sequence[float], confidence: float = CONFIDENCE) -> Summary:
    """The median with its interval. Raises TooFewError when there are too few values."""
    return percentile(values, 50, confidence)


def percentile(values: Sequence[float], percent: float, confidence: float = CONFIDENCE) -> Summary:
    """A percentile (linear between values) with its distribution-free interval.

    Values that are all the same give an interval of width zero, once there are enough of them. Raises TooFewError when
    they are too few for both limits; ``needed`` says how many it takes.
    """
    _check(percent)
    least = needed(percent, confidence)
    if len(values) < least:
        what = f"{len(values)} value{'s' * (len(values) != 1)} for a percentile of {percent:g}"
        raise TooFewError(what, fix=f"its {100 * confidence:g} % interval takes {least} or more")
    ordered = sorted(values)
    low, high = _ranks(len(ordered), percent / 100, confidence)
    return Summary(quantile(ordered, percent / 100), ordered[low], ordered[high], len(ordered), len(ordered) - 1, confidence)


def needed(percent: float, confidence: float = CONFIDENCE) -> int:
    """How many values the two-sided interval of a percentile takes: 6 for the median, 368 for the 99th, at 95 %."""
    _check(percent)
    part = max(percent / 100, 1 - percent / 100)
    return math.ceil(math.log((1 - confidence) / 2) / math.log(part) - 1e-9)


def _check(percent: float) -> None:
    if not 0 < percent < 100:
        raise SlownetError(f"percentile {percent:g} is not between 0 and 100", fix="write 99 for the 99th")


@lru_cache(maxsize=256)
def _ranks(n: int, part: float, confidence: float) -> tuple[int, int]:
    """Where the limits stand among the sorted values, from 0, each wrong in at most half of what is left."""
    from scipy.special import bdtr

    tail = (1 - confidence) / 2
    # value[low] is above the percentile when at most `low` values lie below it, value[high] below it when more than `high`.
    low = max(rank for rank in range(n) if bdtr(rank, n, part) <= tail)
    high = min(rank for rank in range(n) if 1 - bdtr(rank, n, part) <= tail)
    return low, high


def quantile(ordered: Sequence[float], part: float) -> float:
    """What part (0 to 1) of sorted values lies below, linear between two of them, as numpy's default."""
    place = part * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
