"""What samples say about a metric: its records without warm-ups, its single values, how many of them are far out.

The intervals themselves are made in `slownet.records.intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from slownet.errors import UnitError
from slownet.records.samples import Sample
from slownet.stats import mean_and_sd, outliers, warm_up
from slownet.units import duration

Reading = Mapping[str, Any]
"""``{"mean", "sd", "n"}``, and where they were kept the single ``values``, ``ordered`` if they stand in time's order."""


def good(samples: Iterable[Sample], metric: str) -> list[Sample]:
    """The samples that are ok and have the metric."""
    return [each for each in samples if each.get("status") == "ok" and metric in (each.get("metrics") or {})]


def records(samples: Iterable[Sample], metric: str) -> list[Reading]:
    """The metric's records in the samples that are ok."""
    return [sample["metrics"][metric] for sample in good(samples, metric)]


def boots(samples: Iterable[Sample]) -> list[list[Sample]]:
    """The samples by the boot in which they were taken; each is a boot of its own where records do not tell boots."""
    found: dict[Any, list[Sample]] = {}
    for number, sample in enumerate(samples):
        boot = sample.get("boot")
        found.setdefault(("alone", number) if boot is None else boot, []).append(sample)
    return list(found.values())


def prints(samples: Sequence[Sample]) -> frozenset[str]:
    """The metrics that are single numbers, which say nothing of their spread: printed percentiles, maxima."""
    metrics = (sample.get("metrics") or {} for sample in samples if sample.get("status") == "ok")
    return frozenset(name for each in metrics for name, record in each.items() if is_printed(record))


def is_printed(record: Reading) -> bool:
    """Whether a record is a single number that says nothing of its spread."""
    return record.get("sd", 0.0) is None and not record.get("count")


def settled(samples: Iterable[Sample], metric: str) -> list[Reading]:
    """The records without the warm-up of each, where its values were kept in the order in which they came."""
    return [settle(record) for record in records(samples, metric)]


def values(samples: Sequence[Sample], metric: str) -> list[float] | None:
    """The single values over all samples, without warm-ups; None where not all were kept."""
    kept = settled(samples, metric)
    if not all("values" in record for record in kept):
        return None
    return [float(value) for record in kept for value in record["values"]]


def dropped(samples: Sequence[Sample], metric: str) -> int:
    """How many values the warm-ups hold."""
    pairs = zip(records(samples, metric), settled(samples, metric), strict=True)
    return sum(int(record["n"]) - int(rest["n"]) for record, rest in pairs)


def far_out(samples: Sequence[Sample], metric: str) -> int:
    """How many values are outliers: single ones among those of their sample, where kept, else samples among samples."""
    kept = settled(samples, metric)
    if all("values" in record for record in kept):
        return sum(len(outliers(record["values"])) for record in kept)
    return len(outliers([float(record["mean"]) for record in kept]))


def counts(samples: Sequence[Sample], metrics: Iterable[str], count: Callable[[Sequence[Sample], str], int]) -> dict[str, int]:
    """A count by metric, without those that have none."""
    found = {name: count(samples, name) for name in metrics}
    return {name: number for name, number in found.items() if number}


def alike(one: Any, other: Any) -> bool:
    """Whether two values of a condition are the same: ``10ms`` is ``0.01s``."""
    if str(one) == str(other):
        return True
    try:
        return math.isclose(duration(str(one)), duration(str(other)), rel_tol=1e-9, abs_tol=1e-15)
    except UnitError:
        return False


def settle(record: Reading) -> Reading:
    """A record without its warm-up."""
    cut = warm_up(record["values"]) if record.get("ordered") else 0
    if not cut:
        return record
    rest = record["values"][cut:]
    mean, sd = mean_and_sd(rest)
    return {**record, "mean": mean, "sd": sd, "n": len(rest), "values": rest}
