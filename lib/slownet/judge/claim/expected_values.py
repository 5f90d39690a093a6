"""Expected values: exact ones from theory, and those computed from measured numbers, one for each repetition.

An expectation that is computed from measured numbers is a `Summary`, so that its error counts too::

    predicted("row_ms", FAR, expected=lambda run: run.at(NEAR).summary("row_ms") + 2 * FAR_MS)

A plain number means exact theory. A plain number that was computed from measured numbers that vary (``.mean``) has lost their
error, and a claim that uses it stays inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from slownet.judge.records.cell import Cell
from slownet.judge.records.intervals import Scope
from slownet.judge.records.judgement import INCONCLUSIVE, Judgement, Reason
from slownet.judge.records.quantity import interval
from slownet.judge.records.result import RunData, gather
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.errors import ExperimentError
from slownet.model.sample import Sample
from slownet.theory import stats
from slownet.theory.stats import Summary


def apart(run: RunData) -> tuple[RunData, ...]:
    """Divide a run into its repetitions, without those in which a cell failed or was not measured.

    A repetition is a boot, as recorded in the samples. In older records without boots, the first sample of each cell belongs
    to the first repetition, and so on.
    """
    parts = [_by_boot(cell.samples) for cell in run.cells]
    boots = sorted(set.intersection(*(set(part) for part in parts))) if parts else []
    whole = [[sample for part in parts for sample in part[boot]] for boot in boots]
    return tuple(
        gather(samples, {**run.facts, "claims": []}, run.directory)
        for samples in whole
        if all(sample.get("status") == "ok" for sample in samples)
    )


def _by_boot(samples: Iterable[Sample]) -> dict[int, list[Sample]]:
    found: dict[int, list[Sample]] = {}
    for count, sample in enumerate(samples, 1):
        found.setdefault(int(sample.get("boot") or count), []).append(sample)
    return found


Value = float | Summary
Expected = Value | Callable[[RunData], Value]
ENOUGH = 3
"""Repetitions needed to take the ratio to an expectation from the same cell per repetition."""


@dataclass(frozen=True)
class ExpectedValue:
    """An expected value with its interval."""

    summary: Summary
    cells: tuple[Cell, ...] = ()
    """The cells whose numbers it was computed from."""
    bare: bool = False
    """True if the error of these numbers is lost."""

    @property
    def mean(self) -> float:
        """The expected value without its interval."""
        return self.summary.mean

    def judged(self, found: Judgement) -> Judgement:
        """Make the judgement on a comparison with it inconclusive if its error is lost."""
        if not self.bare or found.measured is None:
            return found
        why = BARE()
        return found.adding(ERROR_LOST(why=why), verdict=INCONCLUSIVE, stays_open=why, reason=Reason.ERROR_LOST)


def expectation(value: Expected, run: RunData, name: str) -> ExpectedValue:
    """Evaluate what a claim expects: a number above 0, or a function of the run that returns one. Raises ExperimentError."""
    if not callable(value):
        return ExpectedValue(number(value, run, name))
    given, read = asked(value, run)
    varies = any(each.low != each.high for metrics in read.values() for each in metrics)
    cells = tuple(cell for cell in run.cells if cell.title in read)
    return ExpectedValue(number(given, run, name), cells, bare=varies and not isinstance(given, Summary))


def asked(value: Callable[[RunData], Value], run: RunData) -> tuple[Any, dict[str, list[Summary]]]:
    """Call a function with a run; return its result and the measured numbers that it read, by the title of their cell."""
    noted = [_Noted(cell.metrics) for cell in run.cells]
    cells = tuple(replace(cell, metrics=metrics) for cell, metrics in zip(run.cells, noted, strict=True))
    given = value(replace(run, cells=cells))
    return given, {cell.title: metrics.read for cell, metrics in zip(run.cells, noted, strict=True) if metrics.read}


def number(value: Any, run: RunData, name: str) -> Summary:
    """Convert an expected value to a summary; a plain number is exact. Raises ExperimentError unless it is above 0."""
    where = f"in experiment {run.experiment}"
    if isinstance(value, Summary):
        found = value
    elif isinstance(value, Real) and not isinstance(value, bool):
        found = Summary(float(value), float(value), float(value), 1, None, run.confidence)
    else:
        raise ExperimentError(f"{name}: the prediction is {value!r}", where, "give a number or a Summary")
    if not 0 < found.mean < math.inf:
        raise ExperimentError(f"{name}: the prediction is {found.mean:g}", where, "give a number above 0")
    return found


def against(measured: Summary, expected: Summary) -> Summary:
    """Return the measured number with an interval that contains the errors of both, for the comparison with the expected."""
    if expected.low == expected.high:
        return measured
    return replace(stats.ratio(measured, expected).scaled(expected.mean), mean=measured.mean)


def times(found: Summary, expected: Summary) -> tuple[Statement, ...]:
    """State measured over expected if the expected value varies; ``found`` has the errors of both."""
    return () if expected.low == expected.high else (TIMES_EXPECTED(times=found.scaled(1 / expected.mean)),)


def paired(
    metric: str, at: Mapping[str, str], value: Expected, run: RunData, expected: ExpectedValue
) -> tuple[Summary, ExpectedValue]:
    """Return `against` for the metric of a cell, and the expectation to compare it with.

    Numbers measured in the same cell are correlated. Their ratio is then taken per repetition, if there are ``ENOUGH``
    repetitions, and the expectation is adjusted to match that ratio. With fewer, full correlation is assumed.
    """
    cell, says = run.at(at), expected.summary
    found = cell.summary(metric, None if expected.cells else Scope.BETWEEN_RUNS)
    ratios: list[float] = []
    if callable(value) and found.sources & says.sources and says.low != says.high:
        # Only the cells concerned: others may have fewer repetitions.
        own = {cell.title for cell in (run.at(at), *expected.cells)}
        ratios = _ratios(metric, at, value, replace(run, cells=tuple(cell for cell in run.cells if cell.title in own)))
    if len(ratios) < ENOUGH:
        return against(found, says), expected
    both = stats.summarize(ratios, run.confidence)
    says = says.scaled(found.mean / both.mean / says.mean)
    both = replace(both.scaled(says.mean), mean=found.mean, n=found.n, df=len(ratios) - 1)
    return both, replace(expected, summary=says)


def _ratios(metric: str, at: Mapping[str, str], value: Callable[[RunData], Value], run: RunData) -> list[float]:
    """Return measured over expected per repetition; empty if an expectation is not a number above 0."""
    try:
        ratios = [each.at(at).summary(metric).mean / number(value(each), each, metric).mean for each in apart(run)]
    except ExperimentError:
        return []
    return ratios if all(each > 0 for each in ratios) else []


class _Noted(Mapping[str, Summary]):
    """The metrics of a cell, with a record of those that were read."""

    def __init__(self, metrics: Mapping[str, Summary]) -> None:
        self._metrics = metrics
        self.read: list[Summary] = []

    def __getitem__(self, name: str) -> Summary:
        found = self._metrics[name]
        self.read.append(found)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._metrics

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


TIMES_EXPECTED = Phrase("times expected", lambda times: f", {interval(times, 3)} times")
BARE = Phrase("bare", lambda: "the expectation is a plain number computed from measured ones, so their error is lost")
ERROR_LOST = Phrase(
    "error lost", lambda why: f'; {why}: return a Summary, such as run.at(...).summary("row_ms") + 20 (without .mean)'
)
