"""The metrics of a tool's record, and the few statistics for them, without modules that are slow to import in the lab."""

from __future__ import annotations

import math
from collections.abc import Sequence

from slownet.model.sample import Metric as Metric

Steps = Sequence[tuple[float, int]]
"""A cumulative histogram: rising pairs (value, number of values up to it)."""


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return math.fsum(values) / len(values)


def sample_sd(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def metric(
    mean: float, sd: float | None, n: int, values: Sequence[float] = (), ordered: bool = False, steps: Steps = (),
    groups: Sequence[int] = (), step: float = 0.0,
) -> Metric:  # fmt: skip
    """Return one metric of a sample's record.

    mean: the mean of the n values.
    sd: their sample standard deviation; None if one measurement does not show it.
    n: the number of values.
    values: the values themselves, which percentiles are computed from; left out unless there are n of them.
    ordered: whether ``values`` are in the order of measurement, so that a warm-up can be seen.
    groups: sizes of consecutive groups of ``values``: the groups are in order, the order within each group is unknown.
    steps: a cumulative histogram in place of ``values``, see `Steps`.
    step: the unit that ``mean`` was rounded to, 0 if it was not: its interval is not narrower than that.
    returns: the metric as JSON, see `Metric`.
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
    if step:
        record["step"] = step
    return record


def series(values: Sequence[float]) -> Metric:
    """Return the metric of values in the order of measurement."""
    return metric(mean(values), sample_sd(values), len(values), values, ordered=True)


def single(value: float, n: int, step: float = 0.0) -> Metric:
    """Return a metric of n values whose deviation is unknown: their minimum, their total time, a rate.

    Only repetition shows how much it varies. It is exact if the clock counts nothing that varies.

    value: the number.
    n: how many values it is about.
    step: the unit that it was rounded to, 0 if it was not: its interval is not narrower than that.
    returns: the metric, see `Metric`.
    """
    return metric(value, None, n, step=step)


def printed(value: float, n: int, percent: float | None = None, of: str = "") -> Metric:
    """Return a metric for a percentile of n values, or their maximum, that a tool printed. It has no deviation.

    value: the percentile or maximum.
    n: the number of values.
    percent: which percentile; None for the maximum.
    of: the metric whose values or steps give the percentile's interval.
    returns: the metric, see `Metric`.
    """
    record = single(value, n)
    if percent is not None:
        record |= {"percent": percent, "of": of}
    return record
