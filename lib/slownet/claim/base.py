"""What every kind of claim shares: the protocol, and how an interval becomes a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

from slownet.records.cell import Cell
from slownet.records.judgement import INCONCLUSIVE, NOT_JUDGED, REFUTED, SUPPORTED, Judgement
from slownet.records.result import RunData
from slownet.stats import Summary

ROUNDING = 1e-9
"""What counts as no difference to a margin of 0, as a part of the number expected."""

Siblings = Mapping[str, RunData]
Margin = tuple[float | None, float | None]
ALONE: Siblings = MappingProxyType({})
"""The siblings of a run that was made by itself."""
NO_WIDTH = "a margin of 0 is kept by numbers that do not vary, and these do"


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
    A margin of 0 is that of a float's rounding; a number that varies can be refuted by it, but never supported.
    """
    failed = [cell for cell in cells or run.cells if cell.status == "failed"]
    if failed:
        return placed(undecided(name, expected, failed), run, cells)
    measured = measure()
    said = text(measured) if callable(text) else text
    if not said:
        said = f"{interval(measured)} measured" + ("" if expected is None else f", {expected:g} expected")
    return placed(judged(name, measured, expected, margin, said), run, cells)


def judged(name: str, measured: Summary, expected: float | None, margin: Margin, text: str) -> Judgement:
    """The judgement of a number that was compared with its margin, an end of None being open."""
    least, most = ends(margin)
    found, stays = verdict(measured, least, most), ""
    if not measured.known:
        text += " (its interval is not known: repeat the measurement, --repeat 3 or more)"
    elif margin[0] == margin[1] and measured.low != measured.high and found != REFUTED:
        stays = NO_WIDTH
        text += f" ({NO_WIDTH}, {interval(measured, 4)}: give it some width, such as within=0.05)"
    return Judgement(
        name, found, measured.mean, _plain(expected), measured.low, measured.high, (_plain(margin[0]), _plain(margin[1])), text,
        confidence=measured.confidence, stays_open=stays,
    )  # fmt: skip


def undecided(name: str, expected: float | None, failed: Sequence[Cell]) -> Judgement:
    """The judgement where cells failed that the claim speaks of."""
    said = "; ".join(f"{cell.title}: {cell.error}" for cell in failed)
    text = f"not decided, because {len(failed)} cell{'s' * (len(failed) > 1)} failed ({said})"
    return Judgement(name, INCONCLUSIVE, None, expected, None, None, (None, None), text)


def placed(judgement: Judgement, run: RunData, cells: Sequence[Cell] = ()) -> Judgement:
    """The judgement with the cells that it speaks of (all, if none is named), their confidence and setting.

    Cells of fewer boots than a verdict takes decide nothing, also where their scatter around a law would.
    """
    named = replace(run, cells=tuple(cells)) if cells else run
    found = replace(judgement, cells=labels(cells), confidence=run.confidence, setting=named.setting)
    few = [cell for cell in named.cells if cell.has_too_few]
    if not few or found.verdict not in (SUPPORTED, REFUTED):
        return found
    takes = max(cell.verdict_from for cell in few)
    text = f"{found.text} (too few boots to know how they differ: --repeat {takes} or more)"
    return replace(found, verdict=INCONCLUSIVE, text=text)


def ends(margin: Margin) -> tuple[float, float]:
    """Both ends of a margin in numbers; one of no width becomes that of a float's rounding."""
    least, most = (-math.inf if margin[0] is None else margin[0], math.inf if margin[1] is None else margin[1])
    return (least, most) if least != most else (least - ROUNDING * abs(least), most + ROUNDING * abs(most))


def verdict(measured: Summary, least: float, most: float) -> str:
    """Supported when the interval lies inside ``least`` to ``most``, refuted when wholly outside."""
    if measured.known and least <= measured.low and measured.high <= most:
        return SUPPORTED
    if measured.known and (measured.high < least or measured.low > most):
        return REFUTED
    return INCONCLUSIVE


def all_hold(name: str, parts: Sequence[Judgement], text: str = "") -> Judgement:
    """One judgement of several: supported if each is, refuted if one is; its numbers are those of the part that decides."""
    return _joined(name, parts, (REFUTED, INCONCLUSIVE, NOT_JUDGED, SUPPORTED), text)


def any_holds(name: str, parts: Sequence[Judgement], text: str = "") -> Judgement:
    """One judgement of several: supported if one is, refuted if each is; its numbers are those of the part that decides."""
    return _joined(name, parts, (SUPPORTED, INCONCLUSIVE, NOT_JUDGED, REFUTED), text)


def shared(run: RunData, parts: int) -> RunData:
    """The run with surer intervals, so that several looks at it are together as sure as one (Bonferroni)."""
    if parts < 2:
        return run
    return replace(run.at_confidence(1 - (1 - run.confidence) / parts), lasting=1 - (1 - run.lasting) / parts)


def surely(judge: Callable[[RunData], Judgement], run: RunData, parts: int, by_chance: str = REFUTED) -> Judgement:
    """The judgement on several parts of which one is enough for the verdict ``by_chance``.

    What each part must show for itself needs no surer interval: if all of them hold at 99 %, a false one among them is
    supported in at most 1 % of runs, however many the others are (an intersection-union test: Berger, "Multiparameter
    hypothesis testing and acceptance sampling", 1982). What any one part may bring about does, so that verdict takes
    intervals that together are as sure as one (Bonferroni).
    """
    found = judge(run)
    return judge(shared(run, parts)) if found.verdict == by_chance and parts > 1 else found


def as_sure(siblings: Siblings, run: RunData) -> Siblings:
    """The siblings with intervals at least as sure as the run's."""
    return {
        name: replace(each.at_confidence(max(each.confidence, run.confidence)), lasting=max(each.lasting, run.lasting))
        for name, each in siblings.items()
    }


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


def span(at_least: float | str | None, at_most: float | str | None) -> str:
    """Limits for people: ``at least 40ms``, ``39 to 48``."""
    least, most = (each if isinstance(each, str) or each is None else f"{each:g}" for each in (at_least, at_most))
    if least is None:
        return f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}"


def reason(because: str) -> str:
    """Why a claim should hold, behind what was measured."""
    return f"; {because}" if because else ""


def around(expected: float, within: float) -> tuple[float, float]:
    """The margin of ``within`` (a part of one, see `slownet.claim.validation`) on both sides."""
    low, high = sorted((expected * (1 - within), expected * (1 + within)))
    return low, high


def _plain(number: float | None) -> float | None:
    """A number as JSON can hold it: an author's may be numpy's."""
    return None if number is None else float(number)


def _joined(name: str, parts: Sequence[Judgement], order: tuple[str, ...], text: str) -> Judgement:
    deciding = min(parts, key=lambda part: order.index(part.verdict))
    said = text or "; ".join(f"{part.name}: {part.verdict} ({part.text})" for part in parts)
    everywhere = any(not part.cells for part in parts)
    cells = {str(label): label for part in parts for label in part.cells}
    open_ones = [part for part in parts if part.verdict == INCONCLUSIVE]
    stays = deciding.stays_open if all(part.stays_open for part in open_ones) else ""
    return replace(deciding, name=name, text=said, cells=() if everywhere else tuple(cells.values()), stays_open=stays)
