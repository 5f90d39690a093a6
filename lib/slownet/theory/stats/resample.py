"""Bootstrap intervals (BCa) for any statistic of values: medians, percentiles, ratios of them.

Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 14. For few values, t intervals of means and
order-statistic intervals of percentiles have better coverage.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from slownet.model.errors import SlownetError
from slownet.theory.stats.student import CONFIDENCE
from slownet.theory.stats.summary import Summary

RESAMPLES = 9_999
Statistic = Callable[..., Any]
"""A function of arrays and ``axis``, such as ``numpy.mean`` or ``numpy.median``."""


def bootstrap(
    values: Sequence[float],
    statistic: Statistic,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> Summary:
    """Compute a statistic of values with its BCa interval.

    Parameters
    ----------
    values : sequence of float
        Two or more.
    statistic : callable
        A function of arrays and ``axis``, such as ``numpy.median``.
    confidence : float
        Of the interval.
    resamples : int
        Number of resamples.
    seed : int
        The same seed gives the same interval.

    Returns
    -------
    Summary
        With an interval of width zero if all values are equal.

    Raises
    ------
    SlownetError
        There are fewer than two values.
    """
    return _bootstrap((values,), statistic, confidence, resamples, seed)


def bootstrap_ratio(
    over: Sequence[float],
    under: Sequence[float],
    statistic: Statistic,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> Summary:
    """Compute the ratio of a statistic of two independent samples with its BCa interval.

    Parameters
    ----------
    over, under : sequence of float
        The samples, two or more values each; their sizes may differ.
    statistic : callable
        A function of arrays and ``axis``, such as ``numpy.median``.
    confidence : float
        Of the interval.
    resamples : int
        Number of resamples.
    seed : int
        The same seed gives the same interval.

    Returns
    -------
    Summary
        The ratio ``over / under``.

    Raises
    ------
    SlownetError
        A sample has fewer than two values.
    """

    def quotient(one: Any, other: Any, axis: int = -1) -> Any:
        return statistic(one, axis=axis) / statistic(other, axis=axis)

    return _bootstrap((over, under), quotient, confidence, resamples, seed)


def bca(data: Sequence[Any], statistic: Statistic, confidence: float, resamples: int, seed: int) -> tuple[Any, Any]:
    """Compute both limits of the BCa interval; each of ``data`` is one sample, or an array with one sample per row."""
    import numpy as np
    from scipy import stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # the limits are nan then; the caller handles it
        found = stats.bootstrap(
            data,
            statistic,
            n_resamples=resamples,
            confidence_level=confidence,
            method="BCa",
            rng=np.random.default_rng(seed),
            axis=-1,
            vectorized=True,
        )
    low, high = found.confidence_interval
    return low, high


def _bootstrap(data: Sequence[Sequence[float]], statistic: Statistic, confidence: float, resamples: int, seed: int) -> Summary:
    import numpy as np

    n = min(len(each) for each in data)
    if n < 2:
        raise SlownetError(f"a bootstrap of {n} value{'s' * (n != 1)}", fix="measure at least twice")
    arrays = [np.asarray(each, dtype=float) for each in data]
    found = float(statistic(*arrays, axis=-1))
    if all(each.min() == each.max() for each in arrays):
        return Summary(found, found, found, n, n - 1, confidence)
    low, high = (float(limit) for limit in bca(arrays, statistic, confidence, resamples, seed))
    if math.isnan(low) or math.isnan(high):  # the statistic is the same in nearly every resample
        low, high = -math.inf, math.inf
    return Summary(found, low, high, n, n - 1, confidence)
