"""Percentiles with intervals that assume nothing about the distribution.

The interval of a percentile reaches from one of the sorted values to another (Conover, "Practical nonparametric
statistics", 1999, 3.2): how many values lie below the true percentile is binomial. So a 99th percentile takes hundreds
of values before anything above it has been seen often enough to bound it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from slownet.errors import SlownetError, TooFewError
from slownet.stats.student import CONFIDENCE
from slownet.stats.summary import Summary


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


def printed(record: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]], confidence: float = CONFIDENCE) -> Summary:
    """A percentile that a tool printed, with the interval that the recorded values allow, or the histogram's ``steps``.

    ``record`` is ``{"mean", "n", "percent", "of"}``, ``others`` the records of the same measurement by name. The interval
    is not known where nothing was kept, for a maximum, and where there are too few values.
    """
    value, n = float(record["mean"]), int(record["n"])
    source = others.get(str(record.get("of")), {})
    values = enumerate(sorted(source.get("values", ())), 1)
    steps: Sequence[Sequence[float]] = source.get("steps") or [(each, count) for count, each in values]
    count = int(steps[-1][1]) if steps else 0
    if "percent" not in record or count < needed(float(record["percent"]), confidence):
        return Summary(value, -math.inf, math.inf, n, 0, confidence)
    low, high = (_step_of(steps, rank) for rank in _ranks(count, float(record["percent"]) / 100, confidence))
    return Summary(value, min(value, low[0]), max(value, high[1]), n, n - 1, confidence)


def _step_of(steps: Sequence[Sequence[float]], rank: int) -> tuple[float, float]:
    """Between which values the one stands that is at a place, from 0, among the sorted ones: the same where it is alone."""
    at = next(number for number, (_, count) in enumerate(steps) if count > rank)
    before, count = steps[at - 1] if at else (steps[0][0], 0)
    return float(steps[at][0] if steps[at][1] - count == 1 else before), float(steps[at][0])


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
