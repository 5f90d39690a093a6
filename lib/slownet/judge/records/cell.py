"""A cell of a run: one condition and its measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from slownet.judge.records import exactness, intervals, sample_values
from slownet.judge.records.charging import UNKNOWN, Terms, woken_late
from slownet.judge.records.intervals import Scope
from slownet.judge.records.samples import cell_key
from slownet.lab.run.counters import total
from slownet.model.errors import ExperimentError, TooFewError, nearest
from slownet.model.sample import Label, Sample, cell_in_words
from slownet.model.units import amount, unit_of
from slownet.theory.stats import CONFIDENCE, Summary, quantile
from slownet.theory.stats.paired import Boots

TIME = "time_per_request_ms"


def by_error(failed: Iterable[tuple[str, str | None]]) -> list[str]:
    """List which cells failed with which error, from pairs of title and error: "rtt 0ms and rtt 10ms: ab timed out"."""
    titles: dict[str | None, list[str]] = {}
    for title, error in failed:
        titles.setdefault(error, []).append(title)
    found = []
    for error, named in titles.items():
        found.append(f"{listed(named)}: {error}")
    return found


def listed(titles: Sequence[str]) -> str:
    """Join titles of cells: "rtt 0ms, rtt 10ms and rtt 20ms", with semicolons where they have commas themselves."""
    comma = "; " if any(", " in each for each in titles) else ", "
    return " and ".join(filter(None, (comma.join(titles[:-1]), titles[-1])))


@dataclass(frozen=True)
class Cell:
    """One condition and its measurements."""

    label: Label
    """The condition as the experiment writes it: ``{"rtt": "10ms"}``."""
    condition: Mapping[str, float | str]
    """The condition in numbers, with units in the names: ``{"rtt_ms": 10.0}``; a text if it is not a number."""
    samples: tuple[Sample, ...]
    metrics: Mapping[str, Summary]
    """Summaries of the successful samples, each without its warm-up. Their intervals have the cell's `scope`."""
    terms: Terms = UNKNOWN
    """The inputs of the intervals besides the numbers."""
    scope: Scope = Scope.BETWEEN_RUNS
    """The variation in its intervals: between runs in what is printed; within its run for verdicts, most of which compare its
    cells, and then the intervals are unknown with too few boots."""
    run: str = ""
    """The key of the run, so that boots of different runs are not paired."""

    @property
    def error(self) -> str | None:
        """The error of the first failed sample; None if no sample failed."""
        for sample in self.samples:
            if sample.get("status") != "ok":
                return str(sample.get("error") or "failed without an error message")
        return None

    @property
    def status(self) -> str:
        """``"ok"``, or ``"failed"`` if any sample failed, because the others may be a biased selection."""
        return "ok" if self.error is None else "failed"

    @property
    def verified_rtt_ms(self) -> float | None:
        """The round trip that ping measured beforehand, the mean over the samples that have one."""
        values = [each for sample in self.samples if (each := sample.get("verified_rtt_ms")) is not None]
        return math.fsum(values) / len(values) if values else None

    @property
    def rate_bit_s(self) -> float | None:
        """The highest rate that is configured on one of its links."""
        return max((each for sample in self.samples if (each := sample.get("rate_bit_s"))), default=None)

    @property
    def window_limited(self) -> float:
        """The share of the time in which the receive window limited the senders, if it did in most samples; else 0."""
        found = [sample["limited"] for sample in self.samples if sample.get("limited")]
        if 2 * len(found) <= len(self.samples):
            return 0.0
        return math.fsum(each["share"] for each in found) / len(found)

    @property
    def paced(self) -> tuple[float, float] | None:
        """The mean time in ms between two packets of ping, and the stated one, of the first sample where it is longer."""
        for sample in self.samples:
            facts = sample.get("facts") or {}
            every, asked = facts.get("sent_every_ms"), facts.get("stated_interval_ms")
            if isinstance(every, float | int) and isinstance(asked, float | int):
                return every, asked
        return None

    @property
    def title(self) -> str:
        """The condition as text: ``"rtt 10ms"``."""
        return cell_in_words(self.label) or "no condition"

    def summary(self, metric: str, scope: Scope | None = None) -> Summary:
        """Return the summary of a metric, with its source and boots. Raises ExperimentError with the nearest name.

        scope: the variation that its interval holds: the cell's own, unless given.
        """
        if metric not in self.metrics:
            raise ExperimentError(f"no metric '{metric}'", f"in cell {self.title}", nearest(metric, self.metrics))
        found = self.metrics[metric]
        if scope not in (None, self.scope) and sample_values.good(self.samples, metric):
            found = self._decided(intervals.summary(self.samples, metric, self.terms, found.confidence, scope))
        boots: Boots = {(self.run, boot): mean for boot, mean in intervals.by_boot(self.samples, metric, self.terms).items()}
        return replace(found, sources=frozenset({cell_key(self.label)}), boots=boots)

    def amount(self, metric: str, digits: int = 3) -> str:
        """Write the mean of a metric with its unit, for a sentence: "44.1 s". Raises ExperimentError like `summary`."""
        return amount(self.summary(metric).mean, unit_of(metric), digits)

    def percentile(self, metric: str, percent: float, confidence: float) -> Summary:
        """Estimate a percentile of the values of all samples. Raises TooFewError, ExperimentError if they were not kept."""
        self.summary(metric)
        where = f"in cell {self.title}"
        if sample_values.values(self.samples, metric) is None:
            kept = [name for name in self.metrics if sample_values.values(self.samples, name) is not None]
            fix = f"metrics with single values: {', '.join(kept) or 'none'}"
            raise ExperimentError(f"no single values of '{metric}' were kept", where, fix)
        try:
            found = intervals.percentile_of(self.samples, metric, percent, self.terms, confidence)
            return self._decided(intervals.across_runs(self.samples, metric, self.terms, found))
        except TooFewError as error:
            raise TooFewError(error.what, f"{metric} {where}", error.fix) from error

    def quantile(self, metric: str, percent: float) -> Summary:
        """Return a percentile without an interval, if there are too few values for one. Raises ExperimentError."""
        values = sorted(sample_values.values(self.samples, metric) or ())
        if not values:
            raise ExperimentError(f"no single values of '{metric}' were kept", f"in cell {self.title}")
        return Summary(quantile(values, percent / 100), -math.inf, math.inf, len(values), 0)

    def with_intervals(self, confidence: float, scope: Scope | None = None) -> Cell:
        """Return the cell with intervals of another confidence, and of another scope if one is given."""
        cell = replace(self, scope=scope or self.scope)
        return replace(cell, metrics={name: cell._decided(cell._interval(name, confidence)) for name in self.metrics})

    def _interval(self, metric: str, confidence: float) -> Summary:
        if not sample_values.good(self.samples, metric):
            return self.metrics[metric].at_confidence(confidence)
        return intervals.summary(self.samples, metric, self.terms, confidence, self.scope)

    def _decided(self, found: Summary) -> Summary:
        return replace(found, low=-math.inf, high=math.inf, df=0) if self.has_too_few else found

    @property
    def has_too_few(self) -> bool:
        """True if claims are judged on it and it has fewer boots than a verdict requires."""
        return self.scope is Scope.WITHIN_RUN and self.lacks_boots

    @property
    def lacks_boots(self) -> bool:
        """True if it has fewer boots than show how these differ."""
        return 0 < self.repetitions < self.verdict_from

    @property
    def is_random(self) -> bool:
        """True if a link's condition was random, such as loss, so that each boot had another seed."""
        return exactness.is_random(self.samples)

    @property
    def is_exact(self) -> bool:
        """True if another repetition would give the same numbers."""
        return exactness.is_exact(self.samples, self.terms)

    @property
    def verdict_from(self) -> int:
        """The number of boots that a verdict on it requires, as far as its samples show."""
        return exactness.verdict_from(self.samples, self.terms)

    @property
    def late(self) -> float:
        """At most the share of its times that is due to late wake-ups: `slownet.judge.records.charging.woken_late`."""
        shares = [woken_late(self.terms.charging, sample.get("late")) for sample in self.samples]
        return fmean(shares) if shares else 0.0

    def waits(self, metric: str) -> float:
        """An upper limit of how much later a value of the metric is than what it shows, in the metric's unit: see `Metric`."""
        known = (sample["metrics"][metric] for sample in self.samples if metric in sample.get("metrics", {}))
        return max((record.get("waits") or 0.0 for record in known), default=0.0)

    @property
    def repetitions(self) -> int:
        """The number of boots that measured it."""
        return len(sample_values.boots(sample for sample in self.samples if sample.get("status") == "ok"))

    @property
    def labs(self) -> tuple[int, ...]:
        """The number of the parallel lab that measured it, boot by boot; empty if unknown."""
        boots = sample_values.boots(self.samples)
        return tuple(boot[0]["lab"] for boot in boots if boot[0].get("lab"))

    @property
    def warm_up(self) -> Mapping[str, int]:
        """The number of values left out as warm-up, by metric; they stay in the samples."""
        return sample_values.counts(self.samples, self.metrics, sample_values.dropped)

    @property
    def outliers(self) -> Mapping[str, int]:
        """The number of outliers by metric; the summaries include them."""
        return sample_values.counts(self.samples, self.metrics, sample_values.far_out)

    def outliers_within(self, metric: str, most_ms: float, part: float = 0.0) -> bool:
        """Return whether each outlier of a time, or of a rate as the time between two, is that near to the median.

        part: or within this part of it.
        """
        off = sample_values.furthest_ms(self.samples, metric, part)
        return off is not None and off <= most_ms

    def to_json(self) -> dict[str, object]:
        """Return the cell for run.json and ``--json``."""
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


def of_samples(samples: list[Sample], terms: Terms = UNKNOWN, confidence: float = CONFIDENCE, run: str = "") -> Cell:
    """Make a cell from its samples; ``terms`` are those of their run, ``run`` what distinguishes it from others."""
    good = [sample for sample in samples if sample.get("status") == "ok"]
    names = dict.fromkeys(name for sample in good for name in sample.get("metrics") or {})
    metrics = {name: intervals.summary(samples, name, terms, confidence, Scope.BETWEEN_RUNS) for name in names}
    condition = samples[0].get("condition") or {}
    return Cell(samples[0]["cell"], condition, tuple(samples), metrics, terms, run=run)
