"""The little statistics that a tool's record needs, without the modules that are slow to import in the lab."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Metric = dict[str, Any]
"""``{"mean": ..., "sd": ..., "n": ...}``: what one measurement says about one number; ``sd`` is the sample's, None where one
measurement does not say how it varies."""
Steps = Sequence[tuple[float, int]]
"""A histogram as rising (value, how many values are up to there)."""


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def sample_sd(values: Sequence[float]) -> float:
    """The sample standard deviation; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def metric(
    mean: float, sd: float | None, n: int, values: Sequence[float] = (), ordered: bool = False, steps: Steps = (),
    groups: Sequence[int] = (),
) -> Metric:  # fmt: skip
    """A metric of a sample's record.

    ``values`` are the single ones, where there are n of them: percentiles take them. ``ordered`` says that they stand in
    the order in which they were measured, so that a warm-up shows; ``groups`` that only so many at a time do, while the order
    within each of these groups is not known. ``steps`` are instead of them where the tool kept a
    histogram.
    """
    record: Metric = {"mean": mean, "sd": sd, "n": n}
    if values and len(values) == n:
        record["values"] = list(values)
        if ordered:
            record["ordered"] = True
        elif groups:
            record["groups"] = list(groups)
    if steps:
        record["steps"] = [list(each) for each in steps]
    return record


def single(value: float, n: int, step: float = 0.0) -> Metric:
    """One number of n values together that says nothing of how it varies: the least of them, how long they took, a rate.

    Only the same measurement again tells; where the clock counts nothing that varies it is exact. ``step`` is the place
    that it was rounded to, where there is one: readings that are the same are not known any better.
    """
    record = metric(value, None, n)
    return record | {"step": step} if step else record


def printed(value: float, n: int, percent: float | None = None, of: str = "") -> Metric:
    """A percentile of n values that a tool printed, or their maximum (``percent`` None): one number without a deviation.

    ``of`` is the metric whose record has the values, or the steps, that its interval can be taken from.
    """
    record = single(value, n)
    return record if percent is None else record | {"percent": percent, "of": of}
