"""One condition of a run, and what was measured in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from slownet.counters import total
from slownet.errors import ExperimentError, TooFewError, nearest
from slownet.records import intervals, readings
from slownet.records.charging import UNKNOWN, Charging, Terms
from slownet.records.samples import Sample, cell_key
from slownet.stats import CONFIDENCE, Summary, quantile

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
    """The metrics that are single numbers, such as printed percentiles: see `slownet.records.intervals.summary`."""
    terms: Terms = UNKNOWN
    """What the intervals depend on beside the numbers."""
    deciding: bool = False
    """Whether claims are decided on the intervals: those of too few boots are not known then."""

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
        where = f"in cell {self.title}"
        if readings.values(self.samples, metric) is None:
            kept = [name for name in self.metrics if readings.values(self.samples, name) is not None]
            fix = f"those of {', '.join(kept) or 'no metric'} were kept"
            raise ExperimentError(f"metric '{metric}' has no single values", where, fix)
        try:
            return self._decided(intervals.percentile_of(self.samples, metric, percent, self.terms, confidence))
        except TooFewError as error:
            raise TooFewError(error.what, f"{metric} {where}", error.fix) from error

    def quantile(self, metric: str, percent: float) -> Summary:
        """The same percentile without its interval, for which there may be too few values. Raises ExperimentError."""
        values = sorted(readings.values(self.samples, metric) or ())
        if not values:
            raise ExperimentError(f"metric '{metric}' has no single values", f"in cell {self.title}")
        return Summary(quantile(values, percent / 100), -math.inf, math.inf, len(values), 0)

    def at_confidence(self, confidence: float) -> Cell:
        """The same cell with intervals of another confidence."""
        return replace(self, metrics={name: self._decided(self._summary(name, confidence)) for name in self.metrics})

    def _summary(self, metric: str, confidence: float) -> Summary:
        if not readings.good(self.samples, metric):
            return self.metrics[metric].at_confidence(confidence)
        return intervals.summary(self.samples, metric, self.terms, confidence)

    def for_verdicts(self, confidence: float) -> Cell:
        """The same cell as claims are decided on it: of too few boots to know how they differ no interval is known."""
        return replace(self, deciding=True).at_confidence(confidence)

    def _decided(self, found: Summary) -> Summary:
        return replace(found, low=-math.inf, high=math.inf, degrees=0) if self.has_too_few else found

    @property
    def has_too_few(self) -> bool:
        """Whether a claim is to be decided on it and it has fewer boots than that takes."""
        return self.deciding and 0 < self.repetitions < self.verdict_from

    @property
    def is_random(self) -> bool:
        """Whether a link drew by chance while it was measured, so that boots are seeds."""
        return intervals.is_random(self.samples)

    @property
    def is_exact(self) -> bool:
        """Whether another repetition gives the same numbers."""
        return intervals.is_exact(self.samples, self.terms)

    @property
    def verdict_from(self) -> int:
        """How many boots a verdict on it takes."""
        return (self.terms.charging or Charging.WORK).verdict_from(self.is_random)

    @property
    def repetitions(self) -> int:
        """How many boots measured it."""
        return len(readings.boots(sample for sample in self.samples if sample.get("status") == "ok"))

    @property
    def labs(self) -> tuple[int, ...]:
        """Which of the labs side by side measured it, boot by boot; empty where that is not known."""
        boots = readings.boots(self.samples)
        return tuple(boot[0]["lab"] for boot in boots if boot[0].get("lab"))

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


def of_samples(samples: list[Sample], terms: Terms = UNKNOWN, confidence: float = CONFIDENCE) -> Cell:
    """The cell that these samples are of; ``terms`` as those of their run."""
    good = [sample for sample in samples if sample.get("status") == "ok"]
    names = dict.fromkeys(name for sample in good for name in sample.get("metrics") or {})
    metrics = {name: intervals.summary(samples, name, terms, confidence) for name in names}
    condition = samples[0].get("condition") or {}
    return Cell(samples[0]["cell"], condition, tuple(samples), metrics, readings.prints(samples), terms)
