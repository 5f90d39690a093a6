"""What every kind of claim shares: the protocol, and how an interval becomes a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

from slownet.errors import ExperimentError
from slownet.records.cell import Cell
from slownet.records.judgement import INCONCLUSIVE, REFUTED, SUPPORTED, Judgement
from slownet.records.result import RunData
from slownet.stats import Summary

ROUNDING = 1e-9
"""What counts as no difference to a margin of 0, as a part of the number expected."""

Siblings = Mapping[str, RunData]
Margin = tuple[float | None, float | None]
ALONE: Siblings = MappingProxyType({})
"""The siblings of a run that was made by itself."""


class Claim(Protocol):
    """What every kind of claim can do."""

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the claim with a run; ``siblings`` are the runs of the same invocation by experiment.

        Raises ExperimentError when the run lacks a cell or a metric that the claim names.
        """


def decide(
    run: RunData,
    name: str,
    measure: Callable[[], Summary],
    margin: Margin,
    expected: float | None = None,
    cells: Sequence[Cell] = (),
    text: Callable[[Summary], str] | str = "",
) -> Judgement:
    """The judgement on a number that ``measure()`` takes from the run.

    Supported inside ``margin`` (None is open), refuted wholly outside, else inconclusive, and so when one of the
    ``cells`` (all, if none is named) failed: ``measure`` is not called then. ``text`` is the sentence about the number.
    Raises ExperimentError for a margin of 0 around a number that varies.
    """
    failed = [cell for cell in cells or run.cells if cell.status == "failed"]
    if failed:
        return placed(undecided(name, expected, failed), run, cells)
    measured = measure()
    ends = (-math.inf if margin[0] is None else margin[0], math.inf if margin[1] is None else margin[1])
    ends = margin_is_wide_enough(name, measured, *ends)
    said = text(measured) if callable(text) else text
    if not said:
        said = f"{interval(measured)} measured" + ("" if expected is None else f", {expected:g} expected")
    found = replace(judged(name, measured, expected, ends, said), margin=margin)
    return placed(found, run, cells)


def judged(name: str, measured: Summary, expected: float | None, margin: Margin, text: str) -> Judgement:
    """The judgement of a number that was compared with its margin, an end of None being open."""
    least, most = (-math.inf if margin[0] is None else margin[0], math.inf if margin[1] is None else margin[1])
    found = verdict(measured, least, most)
    text += "" if measured.known else " (its interval is not known: repeat the measurement, --repeat 3 or more)"
    return Judgement(
        name, found, measured.mean, expected, measured.low, measured.high, margin, text, confidence=measured.confidence
    )


def undecided(name: str, expected: float | None, failed: Sequence[Cell]) -> Judgement:
    """The judgement where cells failed that the claim speaks of."""
    said = "; ".join(f"{cell.title}: {cell.error}" for cell in failed)
    text = f"not decided, because {len(failed)} cell{'s' * (len(failed) > 1)} failed ({said})"
    return Judgement(name, INCONCLUSIVE, None, expected, None, None, (None, None), text)


def placed(judgement: Judgement, run: RunData, cells: Sequence[Cell] = ()) -> Judgement:
    """The judgement with the cells that it speaks of (all, if none is named), their confidence and setting."""
    named = replace(run, cells=tuple(cells)) if cells else run
    return replace(judgement, cells=labels(cells), confidence=run.confidence, setting=named.setting)


def margin_is_wide_enough(name: str, measured: Summary, least: float, most: float) -> tuple[float, float]:
    """The margin; one of no width becomes that of a float's rounding, which only what does not vary can keep.

    Raises ExperimentError for a margin of 0 around a number that varies.
    """
    if least != most:
        return least, most
    if measured.low != measured.high:
        varies = interval(measured, 4) if measured.known else "by how much is unknown"
        what = f"a margin of 0 around what varies ({varies})"
        raise ExperimentError(what, f"in the claim '{name}'", "give it some width, such as within=0.05")
    return least - ROUNDING * abs(least), most + ROUNDING * abs(most)


def verdict(measured: Summary, least: float, most: float) -> str:
    """Supported when the interval lies inside ``least`` to ``most``, refuted when wholly outside."""
    if measured.known and least <= measured.low and measured.high <= most:
        return SUPPORTED
    if measured.known and (measured.high < least or measured.low > most):
        return REFUTED
    return INCONCLUSIVE


def all_hold(name: str, parts: Sequence[Judgement], text: str = "") -> Judgement:
    """One judgement of several: supported if each is, refuted if one is; its numbers are those of the part that decides."""
    return _joined(name, parts, (REFUTED, INCONCLUSIVE, SUPPORTED), text)


def any_holds(name: str, parts: Sequence[Judgement], text: str = "") -> Judgement:
    """One judgement of several: supported if one is, refuted if each is; its numbers are those of the part that decides."""
    return _joined(name, parts, (SUPPORTED, INCONCLUSIVE, REFUTED), text)


def shared(run: RunData, parts: int) -> RunData:
    """The run with surer intervals, so that several looks at it are together as sure as one (Bonferroni)."""
    if parts < 2:
        return run
    return replace(run.at_confidence(1 - (1 - run.confidence) / parts), lasting=1 - (1 - run.lasting) / parts)


def labels(cells: Sequence[Cell]) -> tuple[Mapping[str, str], ...]:
    """The cells as a judgement names them, each once."""
    return tuple({cell.title: cell.label for cell in cells}.values())


def described(at: Mapping[str, str]) -> str:
    """Conditions for people: ``rtt 10ms``."""
    return ", ".join(f"{name} {value}" for name, value in at.items())


def interval(summary: Summary, digits: int = 2) -> str:
    """``4.02 (3.98 to 4.06)``; only the mean where the interval is not known or has no width."""
    mean, low, high = (f"{each:.{digits}f}" for each in (summary.mean, summary.low, summary.high))
    return f"{mean} ({low} to {high})" if summary.known and low != high else mean


def around(expected: float, within: float) -> tuple[float, float]:
    """The margin of ``within`` (a part of one) on both sides. Raises ExperimentError for a negative one."""
    if not 0 <= within < math.inf:
        raise ExperimentError(f"a margin of {within:g}", "within", "give a part of one such as 0.05")
    low, high = sorted((expected * (1 - within), expected * (1 + within)))
    return low, high


def _joined(name: str, parts: Sequence[Judgement], order: tuple[str, ...], text: str) -> Judgement:
    deciding = min(parts, key=lambda part: order.index(part.verdict))
    said = text or "; ".join(f"{part.name}: {part.verdict} ({part.text})" for part in parts)
    everywhere = any(not part.cells for part in parts)
    cells = {str(label): label for part in parts for label in part.cells}
    open_ones = [part for part in parts if part.verdict == INCONCLUSIVE]
    stays = deciding.stays_open if all(part.stays_open for part in open_ones) else ""
    return replace(deciding, name=name, text=said, cells=() if everywhere else tuple(cells.values()), stays_open=stays)
