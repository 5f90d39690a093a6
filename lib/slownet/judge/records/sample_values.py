"""The values of a metric in samples: its records without warm-up, its single values, its outliers.

`slownet.judge.records.intervals` makes intervals of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

from slownet.model.errors import UnitError
from slownet.model.sample import Metric, Sample
from slownet.model.units import TIMES, duration, unit_of
from slownet.theory.stats import mean_and_sd, outliers, warm_up

Reading = Metric
"""``{"mean", "sd", "n"}``, and if they were kept the single ``values``, with ``ordered`` true if they are in time order."""


MILLISECONDS = {each.name: float(each.seconds * 1000) for each in TIMES if each.of_metrics}
"""The milliseconds in a unit that metrics end with."""
PER_SECOND = ("_per_second", "_per_s")


def good(samples: Iterable[Sample], metric: str) -> list[Sample]:
    """Return the successful samples that have the metric."""
    return [each for each in samples if each.get("status") == "ok" and metric in (each.get("metrics") or {})]


def records(samples: Iterable[Sample], metric: str) -> list[Reading]:
    """Return the metric's records in the successful samples."""
    return [sample["metrics"][metric] for sample in good(samples, metric)]


def boots(samples: Iterable[Sample]) -> list[list[Sample]]:
    """Group samples by their boot; a sample without a recorded boot is a group of its own."""
    found: dict[Any, list[Sample]] = {}
    for number, sample in enumerate(samples):
        boot = sample.get("boot")
        found.setdefault(("alone", number) if boot is None else boot, []).append(sample)
    return list(found.values())


def is_printed(record: Reading) -> bool:
    """Return whether a record is a single number without a spread."""
    return record.get("sd", 0.0) is None and not record.get("count")


def settled(samples: Iterable[Sample], metric: str) -> list[Reading]:
    """Return the records, each without its warm-up if its values were kept in time order."""
    return [settle(sample, metric) for sample in good(samples, metric)]


def values(samples: Sequence[Sample], metric: str) -> list[float] | None:
    """Return the single values of all samples without warm-ups; None if some were not kept."""
    kept = settled(samples, metric)
    if not all("values" in record for record in kept):
        return None
    return [float(value) for record in kept for value in record["values"]]


def dropped(samples: Sequence[Sample], metric: str) -> int:
    """Return the number of values in the warm-ups."""
    pairs = zip(records(samples, metric), settled(samples, metric), strict=True)
    return sum(int(record["n"]) - int(rest["n"]) for record, rest in pairs)


def far_out(samples: Sequence[Sample], metric: str) -> int:
    """Return the number of outliers: single values within each sample if they were kept, else means of samples."""
    kept = settled(samples, metric)
    if all("values" in record for record in kept):
        return sum(len(outliers(record["values"])) for record in kept)
    return len(outliers([float(record["mean"]) for record in kept]))


def furthest_ms(samples: Sequence[Sample], metric: str, part: float = 0.0) -> float | None:
    """Return how far the furthest outlier is from the median, in ms; None if the metric is neither a time nor a rate.

    A rate counts as the time between two of what is counted. part: outliers within this part of the median do not count.
    """
    unit = unit_of(metric)
    kept = settled(samples, metric)
    groups = [list(map(float, record["values"])) for record in kept] if all("values" in record for record in kept) else [
        [float(record["mean"]) for record in kept]
    ]  # fmt: skip
    if unit in MILLISECONDS:
        times = [[value * MILLISECONDS[unit] for value in group] for group in groups]
    elif metric.endswith(PER_SECOND) and all(value > 0 for group in groups for value in group):
        times = [[1000 / value for value in group] for group in groups]
    else:
        return None
    far = [(abs(group[at] - median(group)), part * median(group)) for group in times for at in outliers(group)]
    return max((off for off, little in far if off > little), default=0.0)


def counts(samples: Sequence[Sample], metrics: Iterable[str], count: Callable[[Sequence[Sample], str], int]) -> dict[str, int]:
    """Return a count by metric, without zeros."""
    found = {name: count(samples, name) for name in metrics}
    return {name: number for name, number in found.items() if number}


def alike(one: Any, other: Any) -> bool:
    """Return whether two values of a condition are equal: ``10ms`` is ``0.01s``."""
    if str(one) == str(other):
        return True
    try:
        return math.isclose(duration(str(one)), duration(str(other)), rel_tol=1e-9, abs_tol=1e-15)
    except UnitError:
        return False


def settle(sample: Sample, metric: str) -> Reading:
    """Return a sample's record of a metric without its warm-up, which runs under a schedule do not have."""
    record: Reading = sample["metrics"][metric]
    cut = warm_up(record["values"]) if record.get("ordered") and not sample.get("played") else 0
    if not cut:
        return record
    rest = record["values"][cut:]
    mean, sd = mean_and_sd(rest)
    return {**record, "mean": mean, "sd": sd, "n": len(rest), "values": rest}
