"""Numbers that a run is compared with: exact ones from theory, and those that were measured themselves.

An expectation that is made of measured numbers is a `Summary`, so that its error counts too::

    predicted("row_ms", FAR, expected=lambda run: run.at(NEAR).summary("row_ms") + 2 * FAR_MS)

A bare number stands for exact theory. One that was made of measured numbers that vary (``.mean``) has lost their error, and
a claim that rests on it is not decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from slownet import stats
from slownet.claim.base import interval
from slownet.errors import ExperimentError
from slownet.records.cell import Cell
from slownet.records.judgement import INCONCLUSIVE, Judgement
from slownet.records.repetitions import apart
from slownet.records.result import RunData
from slownet.stats import Summary

Value = float | Summary
Expected = Value | Callable[[RunData], Value]
BARE = "the expectation is a bare number made of measured ones, whose error is lost"
ENOUGH = 3
"""Repetitions from which the ratio to an expectation of the same cell is taken repetition by repetition."""


@dataclass(frozen=True)
class Expectation:
    """What is expected, with its interval."""

    summary: Summary
    cells: tuple[Cell, ...] = ()
    """Those whose numbers it was made of."""
    bare: bool = False
    """Whether the error of these is lost."""

    @property
    def mean(self) -> float:
        return self.summary.mean

    def judged(self, found: Judgement) -> Judgement:
        """The judgement on a comparison with it, left open where its error is lost."""
        if not self.bare or found.measured is None:
            return found
        fix = 'return a Summary, such as run.at(...).summary("row_ms") + 20 (without .mean)'
        return replace(found, verdict=INCONCLUSIVE, text=f"{found.text}; {BARE}: {fix}", stays_open=BARE)


def expectation(value: Expected, run: RunData, name: str) -> Expectation:
    """What a claim expects of a run: a number above 0, or a function that gives one. Raises ExperimentError."""
    if not callable(value):
        return Expectation(number(value, run, name))
    given, read = asked(value, run)
    varies = any(each.low != each.high for metrics in read.values() for each in metrics)
    cells = tuple(cell for cell in run.cells if cell.title in read)
    return Expectation(number(given, run, name), cells, bare=varies and not isinstance(given, Summary))


def asked(value: Callable[[RunData], Value], run: RunData) -> tuple[Any, dict[str, list[Summary]]]:
    """What a function says of a run, and the measured numbers that it reads for that, by their cell's title."""
    noted = [_Noted(cell.metrics) for cell in run.cells]
    cells = tuple(replace(cell, metrics=metrics) for cell, metrics in zip(run.cells, noted, strict=True))
    given = value(replace(run, cells=cells))
    return given, {cell.title: metrics.read for cell, metrics in zip(run.cells, noted, strict=True) if metrics.read}


def number(value: Any, run: RunData, name: str) -> Summary:
    """A number of theory as a summary, exact if it is a bare one. Raises ExperimentError for none above 0."""
    where = f"in experiment {run.experiment}"
    if isinstance(value, Summary):
        found = value
    elif isinstance(value, Real) and not isinstance(value, bool):
        found = Summary(float(value), float(value), float(value), 1, None, run.confidence)
    else:
        raise ExperimentError(f"{name}: {value!r} is predicted", where, "give a number or a Summary")
    if not 0 < found.mean < math.inf:
        raise ExperimentError(f"{name}: a prediction of {found.mean:g} has no margin", where, "give a number above 0")
    return found


def against(measured: Summary, expected: Summary) -> Summary:
    """A number beside what is expected of it, in its own unit: the interval holds the errors of both."""
    if expected.low == expected.high:
        return measured
    return replace(stats.ratio(measured, expected).scaled(expected.mean), mean=measured.mean)


def in_words(found: Summary, expected: Summary) -> str:
    """How many times what is expected a number is, where both vary; ``found`` holds the errors of both."""
    if expected.low == expected.high:
        return ""
    return f", {interval(found.scaled(1 / expected.mean), 3)} times"


def paired(
    metric: str, at: Mapping[str, str], value: Expected, run: RunData, expected: Expectation
) -> tuple[Summary, Expectation]:
    """``against`` for the metric of a cell, and the expectation that it is beside.

    Where both were measured in the same cell, what moves one moves the other. The ratio of the two is taken repetition by
    repetition then, if there are ``ENOUGH``, and the expectation is the one that it is the ratio to; with fewer the two are
    taken for as dependent as they can be.
    """
    found, says = run.at(at).summary(metric), expected.summary
    ratios: list[float] = []
    if callable(value) and found.sources & says.sources and says.low != says.high:
        # Other cells may have been measured less often.
        own = {cell.title for cell in (run.at(at), *expected.cells)}
        ratios = _ratios(metric, at, value, replace(run, cells=tuple(cell for cell in run.cells if cell.title in own)))
    if len(ratios) < ENOUGH:
        return against(found, says), expected
    both = stats.summarize(ratios, run.confidence)
    says = says.scaled(found.mean / both.mean / says.mean)
    both = replace(both.scaled(says.mean), mean=found.mean, n=found.n, degrees=len(ratios) - 1)
    return both, replace(expected, summary=says)


def _ratios(metric: str, at: Mapping[str, str], value: Callable[[RunData], Value], run: RunData) -> list[float]:
    """A metric over what is expected of it, a repetition each; none where one of the expectations has no margin."""
    try:
        ratios = [each.at(at).summary(metric).mean / number(value(each), each, metric).mean for each in apart(run)]
    except ExperimentError:
        return []
    return ratios if all(each > 0 for each in ratios) else []


class _Noted(Mapping[str, Summary]):
    """A cell's metrics, which notes those that are read."""

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
