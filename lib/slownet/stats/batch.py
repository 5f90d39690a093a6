"""Means of values that follow each other in time, each of which has something of the one before: batch means.

The formula of independent values promises too much for such: of 100 values with a correlation of 0.7 from one to the next its
95 % interval holds the mean in 64 % of cases. Means of batches of them are nearly independent once batches are long enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist

from slownet.errors import SlownetError

LEAST_BATCHES = 5
LEAST_IN_SERIES = 3
SMALL = 20
"""Values from which a series is cut into batches."""
LEVEL = 0.2
"""Of the test that finds batches correlated: it is there to find it, and a batch too long costs little."""
MOST_CORRELATED = 0.9


def correlated_error(*series: Sequence[float]) -> tuple[float, float]:
    """The standard error of the mean of all values of one or several independent series, with its degrees of freedom.

    Each series stands in time's order. Batches have n^(1/3) values, and twice as many again while von Neumann's ratio of
    their means says that these are correlated, down to five batches in all (Fishman and Yarberry, "An implementation of the
    batch means method", 1997, who double them by this test). What correlation the means have then widens the error by
    sqrt((1 + r) / (1 - r)) (Tafazzoli and Wilson, "Skart", 2011, 3.2). Several series spread around one common mean, so
    that what differs between them counts. Raises SlownetError for fewer than two values.
    """
    if sum(map(len, series)) < 2:
        raise SlownetError("the error of a mean of one value", fix="measure at least twice")
    size = _first_size(series)
    while _are_correlated(means := [_batches(each, size) for each in series]) and _may_double(series, size):
        size *= 2
    units = [each for one in means for each in one]
    middle = math.fsum(units) / len(units)
    variance = math.fsum((each - middle) ** 2 for each in units) / (len(units) - 1)
    left = _correlation(means)
    return math.sqrt(variance / len(units) * (1 + left) / (1 - left)), len(units) - 1.0


def _first_size(series: Sequence[Sequence[float]]) -> int:
    shortest = min(map(len, series))
    return 1 if shortest < SMALL else int(shortest ** (1 / 3) + 1e-9)


def _may_double(series: Sequence[Sequence[float]], size: int) -> bool:
    counts = [len(each) // (2 * size) for each in series]
    return sum(counts) >= LEAST_BATCHES and min(counts) >= LEAST_IN_SERIES


def _batches(values: Sequence[float], size: int) -> list[float]:
    """The means of batches; the first values are left over where they do not fill one."""
    first = len(values) % size
    return [math.fsum(values[at : at + size]) / size for at in range(first, len(values), size)]


def _are_correlated(means: Sequence[Sequence[float]]) -> bool:
    """Whether batch means follow the ones before: von Neumann's ratio, one-sided ("Distribution of the ratio of the mean
    square successive difference to the variance", 1941), over all series together."""
    square, steps, spread = 0.0, 0.0, 0.0
    for each in means:
        count, middle = len(each), math.fsum(each) / len(each)
        if count < LEAST_IN_SERIES:
            continue
        square += math.fsum((one - middle) ** 2 for one in each)
        steps += math.fsum((after - before) ** 2 for before, after in pairwise(each))
        spread += (count * count - 1) / (count - 2)
    if not square:
        return False
    return (1 - steps / (2 * square)) * math.sqrt(spread) > NormalDist().inv_cdf(1 - LEVEL)


def _correlation(means: Sequence[Sequence[float]]) -> float:
    """How far batch means follow the ones before, 0 to 0.9, without the bias of few (Marriott and Pope, 1954)."""
    squares, products, counts = 0.0, 0.0, []
    for each in means:
        middle = math.fsum(each) / len(each)
        off = [one - middle for one in each]
        squares += math.fsum(one * one for one in off)
        products += math.fsum(one * after for one, after in pairwise(off))
        counts.append(len(each))
    if not squares or max(counts) < LEAST_IN_SERIES:
        return 0.0
    found = products / squares
    return min(MOST_CORRELATED, max(0.0, found + (1 + 3 * found) * len(counts) / sum(counts)))
