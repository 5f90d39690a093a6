"""Whether a cell's numbers depend on its place in a boot, because programs keep something from cell to cell.

Boots go through the cells forwards and backwards in turn (`slownet.runner.boots`), so that each cell is measured in the first
half of some boots and in the second half of others. A cell whose means differ between the two has a number that its condition
alone does not explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slownet.records import readings
from slownet.records.cell import Cell
from slownet.records.result import RunData
from slownet.stats import Summary, differs, summarize

SIGNIFICANT = 0.01
"""The probability that any cell of a run without such an effect is named."""
LEAST, LEAST_MS = 0.005, 0.1
"""A smaller relative difference is not named, nor one of a time that readings of the clock may make."""
MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
FEW = 2
"""Samples needed in each half."""


@dataclass(frozen=True)
class Shift:
    """A cell whose numbers depend on its place: its mean where it came in the first half of a boot, and in the second."""

    cell: Cell
    metric: str
    early: Summary
    late: Summary


def shifts(run: RunData, metric: str) -> list[Shift]:
    """Return the cells of a run of which a metric depends on the place in a boot."""
    halves = [(cell, *_halves(cell, metric, run.facts.get("boots") or ())) for cell in run.cells]
    compared = [(cell, early, late) for cell, early, late in halves if min(len(early), len(late)) >= FEW]
    found = [Shift(cell, metric, summarize(early), summarize(late)) for cell, early, late in compared]
    return [each for each in found if _is_clear(each, len(found))]


def _is_clear(shift: Shift, cells: int) -> bool:
    early, late = shift.early, shift.late
    gap = abs(early.mean - late.mean)
    of_time = MILLISECONDS.get(shift.metric.rpartition("_")[2])
    if gap <= LEAST * max(abs(early.mean), abs(late.mean)) or (of_time and gap * of_time <= LEAST_MS):
        return False
    return differs(early, late).p <= SIGNIFICANT / cells


def _halves(cell: Cell, metric: str, boots: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Return the means of a cell's samples in the first and in the second half of a boot; one in the middle is in neither."""
    early: list[float] = []
    late: list[float] = []
    for sample in readings.good(cell.samples, metric):
        index = sample.get("index", -1)
        boot = next((each for each in boots if each["first"] <= index < each["first"] + each["places"]), None)
        if boot is None:
            continue
        place = (index - boot["first"] + 0.5) / boot["places"]
        if place != 0.5:
            (early if place < 0.5 else late).append(float(sample["metrics"][metric]["mean"]))
    return early, late
