"""Dependence of a cell's numbers on its place in a boot, because programs keep something from cell to cell.

Boots go through the cells forwards and backwards in turn (`slownet.runner.job`). What the condition explains is the same in
both orders; a cell whose numbers differ between them has one that its condition alone does not explain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slownet.judge.records import sample_values
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.sample import Sample
from slownet.model.units import milliseconds_of
from slownet.theory.stats import Summary, differs, summarize

SIGNIFICANT = 0.01
"""The probability that any cell of a run without such an effect is named."""
LEAST, LEAST_MS = 0.005, 0.1
"""A smaller relative difference is not named, nor one of a time that readings of the clock may make."""
FEW = 2
"""Boots needed of each order."""


@dataclass(frozen=True)
class Shift:
    """A cell whose numbers depend on its place: a metric's mean in boots that go forwards, and in those that go backwards."""

    cell: Cell
    metric: str
    forwards: Summary
    backwards: Summary


def shifts(run: RunData) -> list[Shift]:
    """Return the cells of a run whose numbers depend on the place in a boot, each with the first such metric."""
    compared = [each for cell in run.cells for each in _orders(cell, [run.main_metric, *cell.metrics])]
    clear = [each for each in compared if _is_clear(each, len(compared))]
    return list({each.cell.title: each for each in reversed(clear)}.values())[::-1]


def _orders(cell: Cell, metrics: Iterable[str]) -> Iterable[Shift]:
    for metric in dict.fromkeys(metrics):
        samples = [each for each in sample_values.good(cell.samples, metric) if each.get("boot") and each.get("block", 1) == 1]
        forwards, backwards = (_means(samples, metric, remainder) for remainder in (1, 0))
        if min(len(forwards), len(backwards)) >= FEW:
            yield Shift(cell, metric, summarize(forwards), summarize(backwards))


def _means(samples: Sequence[Sample], metric: str, remainder: int) -> list[float]:
    """Return the means in the first blocks of the boots with odd or with even numbers: later blocks go the other way."""
    return [float(each["metrics"][metric]["mean"]) for each in samples if each["boot"] % 2 == remainder]


def _is_clear(shift: Shift, compared: int) -> bool:
    one, other = shift.forwards, shift.backwards
    gap = abs(one.mean - other.mean)
    of_time = milliseconds_of(shift.metric)
    if gap <= LEAST * max(abs(one.mean), abs(other.mean)) or (of_time and gap * of_time <= LEAST_MS):
        return False
    return differs(one, other).p <= SIGNIFICANT / compared
