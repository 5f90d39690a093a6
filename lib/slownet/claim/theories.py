"""Numbers that a run is compared with: exact ones from theory, and those that were measured themselves.

An expectation that is made of measured numbers is a `Summary`, so that its error counts too::

    predicted("row_ms", FAR, lambda run: run.at(NEAR).summary("row_ms") + 2 * FAR_MS)

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
from slownet.errors import ExperimentError
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
    """What is expected, with its interval; ``bare`` where the error of what it was made of is lost."""

    summary: Summary
    bare: bool = False

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
    read: list[Summary] = []
    cells = tuple(replace(cell, metrics=_Noted(cell.metrics, read)) for cell in run.cells)
    given = value(replace(run, cells=cells))
    bare = not isinstance(given, Summary) and any(each.low != each.high for each in read)
    return Expectation(number(given, run, name), bare)


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


def paired(metric: str, at: Mapping[str, str], value: Expected, run: RunData, found: Summary, expected: Summary) -> Summary:
    """``against`` where both were measured in the same cell, so that what moves one moves the other.

    The ratio of the two is taken repetition by repetition, if there are ``ENOUGH``; with fewer the two are taken for as
    dependent as they can be.
    """
    if not callable(value) or not found.sources & expected.sources or expected.low == expected.high:
        return against(found, expected)
    ratios = []
    for each in apart(run):
        theirs = number(value(each), run, "a prediction").mean
        ratios.append(each.at(at).summary(metric).mean / theirs)
    if len(ratios) < ENOUGH:
        return against(found, expected)
    both = stats.summarize(ratios, run.confidence).scaled(expected.mean)
    low, high = min(both.low, found.mean), max(both.high, found.mean)
    return Summary(found.mean, low, high, found.n, len(ratios) - 1, run.confidence, found.sources | expected.sources)


class _Noted(Mapping[str, Summary]):
    """A cell's metrics, which notes those that are read."""

    def __init__(self, metrics: Mapping[str, Summary], read: list[Summary]) -> None:
        self._metrics, self._read = metrics, read

    def __getitem__(self, name: str) -> Summary:
        found = self._metrics[name]
        self._read.append(found)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._metrics

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)
