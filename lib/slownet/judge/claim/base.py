"""The protocol that all kinds of claims implement, and the rule that turns an interval into a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from slownet.judge.records.cell import Cell, by_error
from slownet.judge.records.charging import LEAST_BOOTS
from slownet.judge.records.judgement import INCONCLUSIVE, NOT_JUDGED, REFUTED, SUPPORTED, Judgement, Reason, Verdict
from slownet.judge.records.quantity import interval
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import TEXT, Phrase, Statement, text_of
from slownet.model.truth import NoTruth
from slownet.model.units import stated
from slownet.theory.stats import Summary

ROUNDING = 1e-9
"""Relative tolerance of a margin of 0: floating-point rounding."""

Siblings = Mapping[str, RunData]
Margin = tuple[float | None, float | None]
Found = str | Statement | Sequence[Statement]
"""The remarks about a number: findings, or the text of a claim's author."""
ALONE: Siblings = MappingProxyType({})
"""The siblings of a run that was the only one of its invocation: none."""
DECIDED = {SUPPORTED: Reason.INSIDE, REFUTED: Reason.OUTSIDE, INCONCLUSIVE: Reason.ACROSS}


class Claim(Protocol):
    """The interface that every kind of claim implements."""

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the claim with a run.

        Parameters
        ----------
        run : RunData
            The run of the experiment that makes the claim.
        siblings : mapping of str to RunData
            The runs of the same invocation, by experiment.

        Returns
        -------
        Judgement
            The verdict and the numbers that it rests on.

        Raises
        ------
        ExperimentError
            The run lacks a cell or a metric that the claim names.
        """


class Judged(NoTruth):
    """The base class of claims, which a run decides: a claim that is only written down is neither true nor false."""

    instead = "judge it with a run, as in: assert law(...).judge(run)"
    in_files: ClassVar[bool] = True
    """True if a hypothesis file can state it: all of its fields are numbers, texts and tables."""

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim, as it was judged, as a sentence for people; its name unless the kind has another one."""
        return claim.name


def decide(
    run: RunData,
    name: str,
    measure: Callable[[], Summary],
    margin: Margin,
    expected: float | None = None,
    cells: Sequence[Cell] = (),
    text: Callable[[Summary], Found] | Found = "",
) -> Judgement:
    """Judge one number of a run.

    run: the run that the number comes from.
    name: the claim as a sentence.
    measure: returns the number. It is not called if one of the ``cells`` failed; the claim is inconclusive then.
    margin: lower and upper end; None is open. A margin of width 0 is widened by floating-point rounding; it can refute a number
        that varies, but never support it.
    expected: the expected value, for the record.
    cells: the cells that the number comes from; all cells of the run if empty.
    text: the remark about the number, as text or as findings, or a function of the number that returns it.
    returns: supported if the interval lies inside ``margin``, refuted if it lies wholly outside, else inconclusive.
    """
    failed = [cell for cell in cells or run.cells if cell.status == "failed"]
    if failed:
        return placed(undecided(name, expected, failed), run, cells)
    measured = measure()
    said = (text(measured) if callable(text) else text) or MEASURED(number=measured, expected=expected)
    least = max((LEAST_BOOTS, *(cell.verdict_from for cell in cells or run.cells)))
    return placed(judged(name, measured, expected, margin, said, least), run, cells)


def judged(
    name: str, measured: Summary, expected: float | None, margin: Margin, text: Found, repetitions: int = LEAST_BOOTS
) -> Judgement:
    """Compare a number with its margin.

    name: the claim as a sentence.
    measured: the number.
    expected: the expected value, for the record.
    margin: lower and upper end; None is open.
    text: the remark about the number, as text or as findings.
    repetitions: how many to advise if the interval is unknown.
    returns: without cells and setting: `placed` adds them.
    """
    least, most = ends(margin)
    found = verdict(measured, least, most)
    judgement = Judgement(
        name, found, measured.mean, _plain(expected), measured.low, measured.high, (_plain(margin[0]), _plain(margin[1])),
        confidence=measured.confidence, reason=DECIDED[found],
    )  # fmt: skip
    judgement = _saying(judgement, text)
    if not measured.known:
        return judgement.adding(NO_INTERVAL(repetitions=repetitions), reason=Reason.NO_INTERVAL)
    if margin[0] == margin[1] and measured.low != measured.high and found != REFUTED:
        why = NO_WIDTH()
        return judgement.adding(VARY(why=why, number=measured), stays_open=why, reason=Reason.NO_WIDTH)
    return judgement


def undecided(name: str, expected: float | None, failed: Sequence[Cell]) -> Judgement:
    """Return the inconclusive judgement on a claim whose cells failed.

    name: the claim as a sentence.
    expected: the expected value, for the record.
    failed: the failed cells; the text lists them with their errors.
    returns: without numbers.
    """
    said = CELLS_FAILED(errors=[(cell.title, cell.error) for cell in failed])
    found = Judgement(name, INCONCLUSIVE, expected=expected, reason=Reason.CELL_FAILED)
    return found.saying(said)


def placed(judgement: Judgement, run: RunData, cells: Sequence[Cell] = ()) -> Judgement:
    """Add the cells that a judgement rests on, their confidence and their setting.

    judgement: the judgement to complete.
    run: the run of the cells.
    cells: the cells; all cells of the run if empty.
    returns: inconclusive if a cell has fewer boots than a verdict requires, even if the scatter around a law would decide.
    """
    named = replace(run, cells=tuple(cells)) if cells else run
    found = replace(judgement, cells=labels(cells), confidence=run.confidence, setting=named.setting)
    few = [cell for cell in named.cells if cell.has_too_few]
    if not few or found.verdict not in (SUPPORTED, REFUTED):
        return found
    takes = max(cell.verdict_from for cell in few)
    return found.adding(FEW_BOOTS(repetitions=takes), verdict=INCONCLUSIVE, reason=Reason.FEW_BOOTS)


def ends(margin: Margin) -> tuple[float, float]:
    """Return both ends of a margin as numbers; a margin of width 0 is widened by floating-point rounding."""
    least, most = (-math.inf if margin[0] is None else margin[0], math.inf if margin[1] is None else margin[1])
    return (least, most) if least != most else (least - ROUNDING * abs(least), most + ROUNDING * abs(most))


def verdict(measured: Summary, least: float, most: float) -> Verdict:
    """Compare an interval with a range.

    measured: the number with its interval.
    least, most: the range, in the unit of the number; may be infinite.
    returns: ``SUPPORTED`` if the interval lies inside the range, ``REFUTED`` if wholly outside, else ``INCONCLUSIVE``.
    """
    if measured.known and least <= measured.low and measured.high <= most:
        return SUPPORTED
    if measured.known and (measured.high < least or measured.low > most):
        return REFUTED
    return INCONCLUSIVE


def all_hold(name: str, parts: Sequence[Judgement], text: Found = "") -> Judgement:
    """Join judgements with "and".

    name: the joint claim as a sentence.
    parts: one or more.
    text: the remark about the number, as text or as findings; the parts' remarks by default.
    returns: supported if all parts are, refuted if one is. Its numbers are those of the part that decides.
    """
    return _joined(name, parts, (REFUTED, INCONCLUSIVE, NOT_JUDGED, SUPPORTED), text)


def any_holds(name: str, parts: Sequence[Judgement], text: Found = "") -> Judgement:
    """Join judgements with "or".

    name: the joint claim as a sentence.
    parts: one or more.
    text: the remark about the number, as text or as findings; the parts' remarks by default.
    returns: supported if one part is, refuted if all are. Its numbers are those of the part that decides.
    """
    return _joined(name, parts, (SUPPORTED, INCONCLUSIVE, NOT_JUDGED, REFUTED), text)


def bonferroni(run: RunData, parts: int) -> RunData:
    """Raise a run's confidence so that ``parts`` comparisons together err no more often than one (Bonferroni)."""
    if parts < 2:
        return run
    return replace(run.at_confidence(1 - (1 - run.confidence) / parts), lasting=1 - (1 - run.lasting) / parts)


def judge_parts(judge: Callable[[RunData], Judgement], run: RunData, parts: int, by_chance: Verdict = REFUTED) -> Judgement:
    """Judge a claim of several parts, where any single part can cause the verdict ``by_chance``.

    A verdict that all parts must reach needs no correction: if all are supported at 99 %, a false part is supported in at
    most 1 % of runs, regardless of the number of parts (an intersection-union test: Berger, "Multiparameter hypothesis
    testing and acceptance sampling", 1982). A verdict that any single part can cause is taken at Bonferroni-corrected
    confidence.
    """
    found = judge(run)
    return judge(bonferroni(run, parts)) if found.verdict == by_chance and parts > 1 else found


def raise_confidence(siblings: Siblings, run: RunData) -> Siblings:
    """Raise the siblings' confidence to at least that of the run."""
    return {
        name: replace(each.at_confidence(max(each.confidence, run.confidence)), lasting=max(each.lasting, run.lasting))
        for name, each in siblings.items()
    }


def labels(cells: Sequence[Cell]) -> tuple[Mapping[str, str], ...]:
    """Return the labels of the cells, without duplicates."""
    return tuple({cell.title: cell.label for cell in cells}.values())


def in_turn(parts: Iterable[Judgement]) -> Statement:
    """State what was found of each part."""
    return IN_TURN(parts=[part.findings for part in parts])


def reasons(because: str) -> tuple[Statement, ...]:
    """State why a claim should hold, after what was measured."""
    return (BECAUSE(because=because),) if because else ()


def around(expected: float, within: float) -> tuple[float, float]:
    """Return the margin of the fraction ``within`` on both sides of a number."""
    low, high = sorted((expected * (1 - within), expected * (1 + within)))
    return low, high


def _plain(number: float | None) -> float | None:
    """Convert a number for JSON: it may be numpy's."""
    return None if number is None else float(number)


def _joined(name: str, parts: Sequence[Judgement], order: tuple[Verdict, ...], text: Found) -> Judgement:
    deciding = min(parts, key=lambda part: order.index(part.verdict))
    said = text or PARTS(parts=[{"name": each.name, "verdict": each.verdict, "found": each.findings} for each in parts])
    everywhere = any(not part.cells for part in parts)
    cells = {str(label): label for part in parts for label in part.cells}
    open_ones = [part for part in parts if part.verdict == INCONCLUSIVE]
    stays = deciding.stays_open if all(part.stays_open for part in open_ones) else None
    joined = replace(deciding, name=name, cells=() if everywhere else tuple(cells.values()), stays_open=stays)
    return _saying(joined, said)


def _saying(judgement: Judgement, found: Found) -> Judgement:
    """Return a judgement with these findings, or with the text of a claim's author, in place of its own."""
    if isinstance(found, str):
        return judgement.saying(TEXT(text=found))
    return judgement.saying(*([found] if isinstance(found, Statement) else found))


def _cells_failed(errors: Sequence[Sequence[str]]) -> str:
    said = "; ".join(by_error((title, error) for title, error in errors))
    return f"not decided, because {len(errors)} cell{'s' * (len(errors) > 1)} failed ({said})"


def _parts(parts: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{each['name']}: {each['verdict']} ({text_of(each['found'])})" for each in parts)


MEASURED = Phrase(
    "measured",
    lambda number, expected: f"{interval(number)} measured" + ("" if expected is None else f", {stated(expected)} expected"),
)
NO_WIDTH = Phrase("no width", lambda: "only numbers that do not vary can meet a margin of 0, and these vary")
VARY = Phrase("vary", lambda why, number: f" ({why}, {interval(number, 4)}: widen it, such as within=0.05)")
NO_INTERVAL = Phrase(
    "no interval", lambda repetitions: f" (its interval is not known: that takes {repetitions} repetitions or more)"
)
FEW_BOOTS = Phrase(
    "few boots", lambda repetitions: f" (too few boots to know how they differ: that takes {repetitions} repetitions or more)"
)
CELLS_FAILED = Phrase("cells failed", _cells_failed)
IN_TURN = Phrase("in turn", lambda parts: "; ".join(map(text_of, parts)))
PARTS = Phrase("parts", _parts)
BECAUSE = Phrase("because", lambda because: f"; {because}")
