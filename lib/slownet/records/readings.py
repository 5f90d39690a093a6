"""What samples say about a metric: its records without warm-ups, its single values, how many of them are far out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slownet.errors import UnitError
from slownet.records.samples import Sample
from slownet.stats import CONFIDENCE, Summary, from_moments, mean_and_sd, outliers, pooled, printed, warm_up
from slownet.units import duration

Reading = Mapping[str, Any]
"""``{"mean", "sd", "n"}``, and where they were kept the single ``values``, ``ordered`` if they stand in time's order."""


def records(samples: Iterable[Sample], metric: str) -> list[Reading]:
    """The metric's records in the samples that are ok."""
    good = (sample.get("metrics") or {} for sample in samples if sample.get("status") == "ok")
    return [metrics[metric] for metrics in good if metric in metrics]


def summary(samples: Sequence[Sample], metric: str, exact: bool, confidence: float = CONFIDENCE) -> Summary:
    """A metric over the samples that are ok.

    A percentile that a tool printed says nothing of its spread. One measurement of it, or several that are the same, has
    the interval of the recorded values; where the clock counts nothing that varies (``exact``) it has no width. Another
    single number has no interval until it was measured again; readings that are the same for rounding vary as rounding
    does, by its step over the square root of 12 ("Guide to the expression of uncertainty in measurement", 2008, F.2.2.1).
    """
    kept = settled(samples, metric)
    first = kept[0]
    if not _prints(first) or len({(each["mean"], each["n"]) for each in kept}) > 1:
        return pooled(kept, confidence)
    if exact:
        return Summary(first["mean"], first["mean"], first["mean"], int(first["n"]), None, confidence)
    if len(kept) > 1 and first.get("step"):
        rounded = from_moments(float(first["mean"]), float(first["step"]) / math.sqrt(12), len(kept), confidence)
        return replace(rounded, n=sum(int(each["n"]) for each in kept), degrees=len(kept) - 1)
    others = next(sample["metrics"] for sample in samples if sample.get("status") == "ok" and metric in sample["metrics"])
    return printed(first, others, confidence)


def prints(samples: Sequence[Sample]) -> frozenset[str]:
    """The metrics that are such numbers."""
    good = (sample.get("metrics") or {} for sample in samples if sample.get("status") == "ok")
    return frozenset(name for metrics in good for name, record in metrics.items() if _prints(record))


def _prints(record: Reading) -> bool:
    return record.get("sd", 0.0) is None


def settled(samples: Iterable[Sample], metric: str) -> list[Reading]:
    """The same without the warm-up of each, where its values were kept in the order in which they came."""
    return [_settle(record) for record in records(samples, metric)]


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


def _settle(record: Reading) -> Reading:
    cut = warm_up(record["values"]) if record.get("ordered") else 0
    if not cut:
        return record
    rest = record["values"][cut:]
    mean, sd = mean_and_sd(rest)
    return {**record, "mean": mean, "sd": sd, "n": len(rest), "values": rest}
