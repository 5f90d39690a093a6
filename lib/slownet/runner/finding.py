"""How often to repeat so that a difference of some size is found between a run and another one like it. Pure.

For `slownet compare` and `baseline check`, which judge with a margin of half of that size: a difference of the whole size lies
the other half beyond the margin. That has to be twice the half width of the interval of a difference of two such runs, so that
it is missed in less than 1 % of comparisons. What repetitions vary by is seen in `LEAST` of them; where nothing is random one
is enough, and on the exact clock three with the same digits. Whoever stops as soon as an estimated spread is small enough stops
a little too often when it is small by chance; from five repetitions on, and with the factor of two, that matters little (Chow
and Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for the mean", 1965).
"""

from __future__ import annotations

import math

from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import LEAST_BOOTS, Charging, Terms
from slownet.judge.records.result import RunData
from slownet.theory.stats import DECIDING, Summary, t_quantile

LEAST = 5
"""Repetitions that show how much they vary."""
SURE = 2.0
"""How many half widths a difference is beyond the margin."""
FORESEEN = 999


def first(terms: Terms) -> int:
    """Return the repetitions before the first look."""
    if terms.charging is Charging.FREE and not terms.chance and not terms.own_programs:
        return 1
    return LEAST_BOOTS if terms.charging is Charging.EXACT else LEAST


def needed(run: RunData, part: float) -> int:
    """Return the total of repetitions with which a difference of this part would be found in the run's main metric."""
    return max((_needed(cell, run.main_metric, part) for cell in run.cells if cell.status == "ok"), default=1)


def reached(run: RunData, part: float) -> str:
    """Say which difference would be found in the main metric of a run as it is, of the size that was asked for or larger."""
    cells = [cell for cell in run.cells if cell.status == "ok" and run.main_metric in cell.metrics]
    halves = [_half(_relative(cell.summary(run.main_metric)), cell.repetitions) for cell in cells]
    least = max((part / 2 + SURE * half for half in halves), default=part)
    return f"a difference of {100 * max(part, least):.2g} % would be found between two such runs"


def _needed(cell: Cell, metric: str, part: float) -> int:
    if cell.is_exact or metric not in cell.metrics:
        return cell.repetitions
    least = max(LEAST, cell.verdict_from)
    if cell.repetitions < least:
        return least
    spread = _relative(cell.summary(metric)) * math.sqrt(cell.repetitions)
    for count in range(least, FORESEEN):
        if SURE * _half(spread / math.sqrt(count), count) <= part / 2:
            return count
    return FORESEEN


def _relative(found: Summary) -> float:
    """Return the relative standard error of a mean; inf if it is unknown."""
    return found.error / abs(found.mean) if found.known and found.mean else 0.0 if not found.half_width else math.inf


def _half(error: float, repetitions: int) -> float:
    """Return half of the width of the interval of a difference of two means with that standard error each."""
    return t_quantile(max(1, 2 * (repetitions - 1)), DECIDING) * math.sqrt(2) * error if error else 0.0
