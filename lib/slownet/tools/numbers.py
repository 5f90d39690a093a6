"""The little statistics that a tool's record needs, without the modules that are slow to import in the lab."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Metric = dict[str, Any]
"""``{"mean": ..., "sd": ..., "n": ...}``: what one measurement says about one number; ``sd`` is the sample's."""


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def sample_sd(values: Sequence[float]) -> float:
    """The sample standard deviation; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def metric(mean: float, sd: float, n: int, values: Sequence[float] = (), ordered: bool = False) -> Metric:
    """A metric of a sample's record.

    ``values`` are the single ones, where there are n of them: percentiles take them. ``ordered`` says that they stand in
    the order in which they were measured, so that a warm-up shows.
    """
    record: Metric = {"mean": mean, "sd": sd, "n": n}
    if values and len(values) == n:
        record["values"] = list(values)
        if ordered:
            record["ordered"] = True
    return record
