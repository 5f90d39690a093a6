"""A cell: one condition of a run and what was measured in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.errors import ExperimentError, TooFewError, UnitError, nearest
from slownet.samples import Sample
from slownet.stats import Summary, mean_and_sd, outliers, percentile, pooled, warm_up
from slownet.units import duration


@dataclass(frozen=True)
class Cell:
    """One condition and what was measured in it."""

    label: Mapping[str, Any]
    """As the experiment wrote it: ``{"rtt": "10ms"}``."""
    condition: Mapping[str, float]
    """In numbers, the unit in the name: ``{"rtt_ms": 10.0}``."""
    samples: tuple[Sample, ...]
    metrics: Mapping[str, Summary]
    """Over the samples that are ok, each without its warm-up."""

    @property
    def error(self) -> str | None:
        """Why the cell failed: the first failed sample's line."""
        for sample in self.samples:
            if sample.get("status") != "ok":
                return str(sample.get("error") or "failed without saying why")
        return None

    @property
    def status(self) -> str:
        """``"ok"``, or ``"failed"`` when any sample failed: those that are left may be the lucky ones."""
        return "ok" if self.error is None else "failed"

    @property
    def verified_rtt_ms(self) -> float | None:
        """The round trip that ping read before measuring, mean over the samples that have one."""
        values = [s["verified_rtt_ms"] for s in self.samples if s.get("verified_rtt_ms") is not None]
        return math.fsum(values) / len(values) if values else None

    @property
    def title(self) -> str:
        """For people: ``"rtt 10ms"``."""
        return ", ".join(f"{name} {value}" for name, value in self.label.items()) or "no condition"

    def summary(self, metric: str) -> Summary:
        """The summary of a metric. Raises ExperimentError with the nearest name."""
        if metric in self.metrics:
            return self.metrics[metric]
        raise ExperimentError(f"no metric '{metric}'", f"in cell {self.title}", nearest(metric, self.metrics))

    def values(self, metric: str) -> list[float]:
        """The single values of a metric over all samples, without warm-ups. Raises ExperimentError where none were kept."""
        self.summary(metric)
        kept = [settled(record) for record in self._records(metric)]
        if not all("values" in record for record in kept):
            named = [name for name in self.metrics if all("values" in each for each in self._records(name))]
            what = f"metric '{metric}' has no single values"
            raise ExperimentError(what, f"in cell {self.title}", f"those of {', '.join(named) or 'no metric'} were kept")
        return [float(value) for record in kept for value in record["values"]]

    def percentile(self, metric: str, percent: float, confidence: float) -> Summary:
        """A percentile of the single values with its interval. Raises ExperimentError where none were kept, TooFewError."""
        values = self.values(metric)
        try:
            return percentile(values, percent, confidence)
        except TooFewError as error:
            raise TooFewError(error.what, f"{metric} in cell {self.title}", error.fix) from error

    @property
    def repetitions(self) -> int:
        """How many samples are ok."""
        return sum(sample.get("status") == "ok" for sample in self.samples)

    @property
    def warm_up(self) -> Mapping[str, int]:
        """How many values were left out as warm-up, by metric; they stay in the samples."""
        found = {name: sum(r["n"] - settled(r)["n"] for r in self._records(name)) for name in self.metrics}
        return {name: count for name, count in found.items() if count}

    @property
    def outliers(self) -> Mapping[str, int]:
        """How many values are far out, by metric: of the single ones where they were kept, else of the samples' means.

        All of them count in the summaries.
        """
        found = {}
        for name in self.metrics:
            records = [settled(record) for record in self._records(name)]
            single = all("values" in record for record in records)
            means = [[record["mean"] for record in records]]
            found[name] = sum(len(outliers(each)) for each in ([r["values"] for r in records] if single else means))
        return {name: count for name, count in found.items() if count}

    def _records(self, metric: str) -> list[Mapping[str, Any]]:
        good = (sample for sample in self.samples if sample.get("status") == "ok")
        return [sample["metrics"][metric] for sample in good if metric in sample.get("metrics", {})]

    def to_json(self) -> dict[str, Any]:
        """The cell as run.json and ``--json`` hold it."""
        return {
            "condition": dict(self.condition),
            "metrics": {name: summary.to_json() for name, summary in self.metrics.items()},
            "verified_rtt_ms": self.verified_rtt_ms,
            "status": self.status,
            "repetitions": self.repetitions,
            "warm_up": dict(self.warm_up),
            "outliers": dict(self.outliers),
        }


def cell_of(samples: Sequence[Sample]) -> Cell:
    """The cell of its samples, oldest first."""
    good = [sample for sample in samples if sample.get("status") == "ok"]
    names = dict.fromkeys(name for sample in good for name in sample.get("metrics") or {})
    metrics = {name: pooled(settled(s["metrics"][name]) for s in good if name in s["metrics"]) for name in names}
    return Cell(samples[0]["cell"], samples[0].get("condition") or {}, tuple(samples), metrics)


def settled(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A metric's record without its warm-up, where its values were kept in the order in which they came (``ordered``)."""
    if not record.get("ordered"):
        return record
    dropped = warm_up(record["values"])
    if not dropped:
        return record
    rest = record["values"][dropped:]
    mean, sd = mean_and_sd(rest)
    return {**record, "mean": mean, "sd": sd, "n": len(rest), "values": rest}


def alike(one: Any, other: Any) -> bool:
    """Whether two values of a condition are the same: ``10ms`` is ``0.01s``."""
    if str(one) == str(other):
        return True
    try:
        return math.isclose(duration(str(one)), duration(str(other)), rel_tol=1e-9, abs_tol=1e-15)
    except UnitError:
        return False
