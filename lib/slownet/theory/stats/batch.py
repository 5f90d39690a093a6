"""Batch means: the error of the mean of values that are correlated in time.

The formula for independent values is too optimistic for these: its 95 % interval of 100 values with a correlation of 0.7
between neighbours contains the mean in 64 % of cases. The means of long enough batches are nearly independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

from slownet.model.errors import SlownetError

LEAST_BATCHES = 5
LEAST_IN_SERIES = 3
SMALL = 20
"""Series of fewer values are not divided into batches."""
LEVEL = 0.35
"""Significance level of the test for correlated batches: high, because batches that are too long cost little."""
MOST_CORRELATED = 0.9


def correlated_error(*series: Sequence[float]) -> tuple[float, float]:
    """Compute the standard error of the mean of correlated values.

    Parameters
    ----------
    *series : sequence of float
        One or several independent series, each in time order, around a common mean.

    Returns
    -------
    tuple of float
        The standard error in the unit of the values, and its degrees of freedom.

    Raises
    ------
    SlownetError
        There are fewer than two values.

    Notes
    -----
    Batches start with n^(1/3) values and are doubled while von Neumann's ratio finds their means correlated, as long as five
    batches are left (Fishman and Yarberry, "An implementation of the batch means method", 1997, double by this test). The
    remaining correlation r of the means widens the error by sqrt((1 + r) / (1 - r)) (Tafazzoli and Wilson, "Skart", 2011,
    3.2). Differences between the series count.
    """
    if sum(map(len, series)) < 2:
        raise SlownetError("the mean of one value has no standard error", fix="measure at least twice")
    return _correlated_error(tuple(map(tuple, series)))


@lru_cache(maxsize=1024)  # the intervals of a cell are computed anew at each confidence
def _correlated_error(series: tuple[tuple[float, ...], ...]) -> tuple[float, float]:
    size = _first_size(series)
    while _are_correlated(means := [_batches(each, size) for each in series]) and _may_double(series, size):
        size *= 2
    units = [each for one in means for each in one]
    middle = math.fsum(units) / len(units)
    variance = math.fsum((each - middle) ** 2 for each in units) / (len(units) - 1)
    left = _correlation(means)
    return math.sqrt(variance / len(units) * (1 + left) / (1 - left)), len(units) - 1.0


def of_groups(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    """Average consecutive groups of values whose order within a group is unknown.

    Parameters
    ----------
    values : sequence of float
        The values, group by group.
    groups : sequence of int
        The sizes of the groups. Groups are joined with the next ones until they have n^(1/3) values.

    Returns
    -------
    list of float
        The means; empty if there are fewer than five.
    """
    least = max(1, int(len(values) ** (1 / 3) + 1e-9))
    means: list[float] = []
    first, end = 0, 0
    for size in groups:
        end += size
        if end - first >= least:
            means.append(math.fsum(values[first:end]) / (end - first))
            first = end
    return means if len(means) >= LEAST_BATCHES else []


def _first_size(series: Sequence[Sequence[float]]) -> int:
    shortest = min(map(len, series))
    return 1 if shortest < SMALL else int(shortest ** (1 / 3) + 1e-9)


def _may_double(series: Sequence[Sequence[float]], size: int) -> bool:
    counts = [len(each) // (2 * size) for each in series]
    return sum(counts) >= LEAST_BATCHES and min(counts) >= LEAST_IN_SERIES


def _batches(values: Sequence[float], size: int) -> list[float]:
    """Return the means of batches; the first values that do not fill a batch are left out."""
    first = len(values) % size
    return [math.fsum(values[at : at + size]) / size for at in range(first, len(values), size)]


def _are_correlated(means: Sequence[Sequence[float]]) -> bool:
    """Test whether batch means are correlated with the ones before, over all series together.

    One-sided, by von Neumann's ratio ("Distribution of the ratio of the mean square successive difference to the variance",
    1941).
    """
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
    """Estimate the lag-1 correlation of batch means, 0 to 0.9, with small-sample correction (Marriott and Pope, 1954)."""
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
