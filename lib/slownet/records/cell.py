"""One condition of a run, and what was measured in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from slownet.counters import total
from slownet.errors import ExperimentError, TooFewError, nearest
from slownet.records import readings
from slownet.records.samples import Sample, cell_key
from slownet.stats import Summary, percentile, quantile

TIME = "time_per_request_ms"


@dataclass(frozen=True)
class Cell:
    """One condition and what was measured in it."""

    label: Mapping[str, Any]
    """As the experiment wrote it: ``{"rtt": "10ms"}``."""
    condition: Mapping[str, Any]
    """In numbers, the unit in the name: ``{"rtt_ms": 10.0}``; a text where the condition is none of those."""
    samples: tuple[Sample, ...]
    metrics: Mapping[str, Summary]
    """Over the samples that are ok, each without its warm-up."""
    printed: frozenset[str] = frozenset()
    """The metrics that are single numbers, such as printed percentiles: see `slownet.records.readings.summary`."""

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
    def rate_bit_s(self) -> float | None:
        """The highest rate that one of its links was told."""
        return max((sample["rate_bit_s"] for sample in self.samples if sample.get("rate_bit_s")), default=None)

    @property
    def title(self) -> str:
        """For people: ``"rtt 10ms"``."""
        return ", ".join(f"{name} {value}" for name, value in self.label.items()) or "no condition"

    def summary(self, metric: str) -> Summary:
        """The summary of a metric, which says that it is this cell's. Raises ExperimentError with the nearest name."""
        if metric in self.metrics:
            return replace(self.metrics[metric], sources=frozenset({cell_key(self.label)}))
        raise ExperimentError(f"no metric '{metric}'", f"in cell {self.title}", nearest(metric, self.metrics))

    def percentile(self, metric: str, percent: float, confidence: float) -> Summary:
        """A percentile of the single values of all samples. Raises TooFewError, ExperimentError where none were kept."""
        self.summary(metric)
        values, where = readings.values(self.samples, metric), f"in cell {self.title}"
        if values is None:
            kept = [name for name in self.metrics if readings.values(self.samples, name) is not None]
            fix = f"those of {', '.join(kept) or 'no metric'} were kept"
            raise ExperimentError(f"metric '{metric}' has no single values", where, fix)
        try:
            return percentile(values, percent, confidence)
        except TooFewError as error:
            raise TooFewError(error.what, f"{metric} {where}", error.fix) from error

    def quantile(self, metric: str, percent: float) -> Summary:
        """The same percentile without its interval, for which there may be too few values. Raises ExperimentError."""
        values = sorted(readings.values(self.samples, metric) or ())
        if not values:
            raise ExperimentError(f"metric '{metric}' has no single values", f"in cell {self.title}")
        return Summary(quantile(values, percent / 100), -math.inf, math.inf, len(values), 0)

    @property
    def repetitions(self) -> int:
        """How many samples are ok."""
        return sum(sample.get("status") == "ok" for sample in self.samples)

    @property
    def labs(self) -> tuple[int, ...]:
        """Which of the labs side by side measured it, a repetition each; empty where that is not known."""
        return tuple(sample["lab"] for sample in self.samples if sample.get("lab"))

    @property
    def warm_up(self) -> Mapping[str, int]:
        """How many values were left out as warm-up, by metric; they stay in the samples."""
        return readings.counts(self.samples, self.metrics, readings.dropped)

    @property
    def outliers(self) -> Mapping[str, int]:
        """How many values are far out, by metric; all of them count in the summaries."""
        return readings.counts(self.samples, self.metrics, readings.far_out)

    def to_json(self) -> dict[str, Any]:
        """The cell as run.json and ``--json`` hold it."""
        return {
            "condition": dict(self.condition),
            "metrics": {name: summary.to_json() for name, summary in self.metrics.items()},
            "verified_rtt_ms": self.verified_rtt_ms,
            "counters": total([sample.get("counters") or {} for sample in self.samples]),
            "rate_bit_s": self.rate_bit_s,
            "status": self.status,
            "repetitions": self.repetitions,
            "labs": list(self.labs),
            "warm_up": dict(self.warm_up),
            "outliers": dict(self.outliers),
        }


def of_samples(samples: list[Sample], is_exact: bool) -> Cell:
    """The cell that these samples are of; ``is_exact`` as `slownet.records.repeating.exact` says of their run."""
    good = [sample for sample in samples if sample.get("status") == "ok"]
    names = dict.fromkeys(name for sample in good for name in sample.get("metrics") or {})
    metrics = {name: readings.summary(samples, name, is_exact) for name in names}
    condition = samples[0].get("condition") or {}
    return Cell(samples[0]["cell"], condition, tuple(samples), metrics, readings.prints(samples))
