"""Values in the order in which they were measured: where the warm-up ends, and which are outliers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slownet.stats.quantile import quantile

BATCH = 5
LEAST_VALUES = 50
"""Fewer say nothing of a warm-up: of 20 independent values the rule would drop some in 41 % of series."""
CLEAR_GAIN = 0.2
"""What part of the error at most is left without a warm-up. Of series of independent values, normal or with a long tail, some
are dropped in 1.3 to 1.7 % at 50 values, 0 to 0.1 % at 100 (with half of the error: 9 to 11 % and 1 to 3 %)."""
FENCE = 3.0


def warm_up(values: Sequence[float], batch: int = BATCH) -> int:
    """How many of the first values to drop: MSER-5.

    The rest then has the smallest standard error of its mean, taken over means of ``batch`` values; more than half is
    never dropped. Fewer than 50 values say nothing: 0. Outliers count as no further out than the fence, else one of
    them decides. Source: White, Cobb and Spratt, "A comparison of five
    steady-state truncation heuristics for simulation", 2000.
    """
    if len(values) < LEAST_VALUES:
        return 0
    low, high = _fence(values)
    held = [min(max(value, low), high) for value in values] if low < high else values
    means = [math.fsum(held[at : at + batch]) / batch for at in range(0, len(held) - batch + 1, batch)]
    errors = [_marginal_error(means[cut:]) for cut in range(len(means) // 2 + 1)]
    best = min(range(len(errors)), key=lambda cut: errors[cut])
    # What varies without a trend has its least error anywhere; only a clear gain is a warm-up.
    return best * batch if errors[best] < CLEAR_GAIN * errors[0] else 0


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Where values stand that are far out: beyond three times the quartiles' distance (Tukey, 1977).

    They are for the reader to see; nothing drops them. Fewer than five values have none.
    """
    if len(values) < 5:
        return ()
    low, high = _fence(values)
    return tuple(at for at, value in enumerate(values) if value < low or value > high)


def _fence(values: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(values)
    lower, upper = quantile(ordered, 0.25), quantile(ordered, 0.75)
    return lower - FENCE * (upper - lower), upper + FENCE * (upper - lower)


def _marginal_error(means: Sequence[float]) -> float:
    middle = math.fsum(means) / len(means)
    return math.fsum((each - middle) ** 2 for each in means) / len(means) ** 2
