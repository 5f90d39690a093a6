"""Values in the order in which they were measured: where the warm-up ends, and which are outliers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slownet.stats.quantile import quantile

BATCH = 5
FENCE = 3.0


def warm_up(values: Sequence[float], batch: int = BATCH) -> int:
    """How many of the first values to drop: MSER-5.

    The rest then has the smallest standard error of its mean, taken over means of ``batch`` values; more than half is
    never dropped. Fewer than four batches say nothing: 0. Source: White, Cobb and Spratt, "A comparison of five
    steady-state truncation heuristics for simulation", 2000.
    """
    means = [math.fsum(values[at : at + batch]) / batch for at in range(0, len(values) - batch + 1, batch)]
    if len(means) < 4:
        return 0
    errors = [_marginal_error(means[cut:]) for cut in range(len(means) // 2 + 1)]
    best = min(range(len(errors)), key=lambda cut: errors[cut])
    # What varies without a trend has its least error anywhere; only a clear gain is a warm-up.
    return best * batch if errors[best] < errors[0] / 2 else 0


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Where values stand that are far out: beyond three times the quartiles' distance (Tukey, 1977).

    They are for the reader to see; nothing drops them. Fewer than five values have none.
    """
    if len(values) < 5:
        return ()
    ordered = sorted(values)
    lower, upper = quantile(ordered, 0.25), quantile(ordered, 0.75)
    reach = FENCE * (upper - lower)
    return tuple(at for at, value in enumerate(values) if value < lower - reach or value > upper + reach)


def _marginal_error(means: Sequence[float]) -> float:
    middle = math.fsum(means) / len(means)
    return math.fsum((each - middle) ** 2 for each in means) / len(means) ** 2
