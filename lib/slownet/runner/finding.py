"""The number of repetitions that finds a difference of some size between two similar runs. Pure.

For `slownet compare` and `baseline check`, which judge with a margin of half of that size: a difference of the whole size lies
the other half beyond the margin. That has to be twice the half width of the interval of a difference of two such runs, so that
it is missed in less than 1 % of comparisons. What repetitions vary by is seen in `LEAST` of them; where nothing is random one
is enough, and of programs that slownet does not know several with the same digits: three on the exact clock, four with free CPU
(`slownet.judge.records.exactness`). Whoever stops as soon as an estimated spread is small enough stops
a little too often when it is small by chance; from five repetitions on, and with the factor of two, that matters little (Chow
and Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for the mean", 1965).

A run without claims is made to be looked at, or to be compared with another one. So it is repeated for that, unless
``--repeat`` gives a number: until `FINE` would be found, or `COARSE` where links are random or `FINE` takes more than `CHEAP`
repetitions; and no longer than it takes to see that the budget is too small. Where work is counted and charged, how much boots
differ is known, or seen in as many as a verdict takes. On the clocks of a machine, whose speed is another one in the next run
however many boots this one has, one boot is all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import COUNTED_MARGIN, LEAST_BOOTS, USUAL_MARGIN, Charging, Terms
from slownet.judge.records.exactness import AGREEING, verdict_from
from slownet.judge.records.result import RunData
from slownet.theory.stats import DECIDING, Summary, t_quantile

LEAST = 5
"""Repetitions that show how much they vary."""
SURE = 2.0
"""The distance of a difference beyond the margin, in half widths."""
FORESEEN = 999
FINE, COARSE = 2 * COUNTED_MARGIN, 2 * USUAL_MARGIN
"""The differences that a run without claims is repeated for: twice the margins of comparisons."""
CHEAP = 10
"""More repetitions than that are not made for `FINE` unless they are asked for."""


def first(terms: Terms) -> int:
    """Return the repetitions before the first look."""
    if terms.charging is Charging.FREE and not terms.chance:
        return AGREEING if terms.own_programs else 1
    return LEAST_BOOTS if terms.charging is Charging.EXACT else LEAST


def first_without_claims(terms: Terms) -> int:
    """Return the repetitions of a run without claims before it is known what it takes to compare it."""
    charging = terms.charging or Charging.REAL
    if charging in (Charging.FREE, Charging.EXACT):
        return first(terms)
    return verdict_from((), terms) if charging is Charging.WORK else 1


def of_a_comparison(run: RunData, most: int) -> float | None:
    """Return the difference that a run without claims is repeated for; None if it is not repeated for one."""
    if run.charging not in (Charging.FREE, Charging.EXACT):
        return None
    if any(cell.is_random for cell in run.cells):
        return COARSE
    return COARSE if needed(run, FINE) > min(CHEAP, most) else FINE


def needed(run: RunData, part: float) -> int:
    """Return the number of repetitions that would find a difference of this fraction in the run's main metric."""
    return max((_needed(cell, run.main_metric, part) for cell in run.cells if cell.status == "ok"), default=1)


def too_seldom(run: RunData, cells: Sequence[Cell], part: float) -> list[Cell]:
    """Return the cells that are measured again for such a difference: where CPU is charged all, because they share boots."""
    if run.charging is not Charging.FREE:
        return list(cells)
    return [cell for cell in cells if _needed(cell, run.main_metric, part) > cell.repetitions]


def reached(run: RunData, part: float) -> str:
    """Say which difference would be found in the main metric of a run as it is, of the size that was asked for or larger."""
    cells = [cell for cell in run.cells if cell.status == "ok" and run.main_metric in cell.metrics]
    halves = [_half(_relative(cell.summary(run.main_metric)), cell.repetitions) for cell in cells]
    least = max((part / 2 + SURE * half for half in halves), default=part)
    if not math.isfinite(least):
        return "how much repetitions differ is not known"
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
