"""The judgement of all claims of an experiment together: they share one error rate.

If all claims of an experiment hold, at most 1 % of its runs refute any of them, regardless of the number of claims. The claims
share this 1 % by Holm's procedure ("A simple sequentially rejective multiple test procedure", 1979), which makes no assumption
about how the claims depend on each other: a claim is refuted only at the confidence left for each claim not refuted yet. A
claim that only its own 99 % interval would refute is inconclusive, and more repetitions decide it.

Support needs no correction: "all claims are supported" requires each of them to be, and a claim that does not hold is
supported in at most 1 % of runs (Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982).

The family is the run of one experiment. Claims of several experiments, and single assertions of tests, are not corrected for
each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from slownet.judge.claim.base import ALONE, Claim, Siblings, bonferroni, raise_confidence
from slownet.judge.claim.description import add_description, unjudged
from slownet.judge.records.cell import Cell, listed
from slownet.judge.records.condition_columns import condition
from slownet.judge.records.judgement import INCONCLUSIVE, NOT_JUDGED, REFUTED, Judgement, Reason
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import cell_key
from slownet.judge.records.statement import Phrase, Statement
from slownet.model import importing
from slownet.model.errors import NoCellError, SlownetError, TooFewError

Cannot = Callable[[Claim, SlownetError], Judgement]
UNMEASURED = "was not measured"


@importing.going_on(whoever=True)
def judge_all(
    claims: Sequence[Claim], run: RunData, siblings: Siblings = ALONE, cannot: Cannot | None = None
) -> list[Judgement]:
    """Judge all claims of one experiment, so that together they have the confidence of the run.

    claims: the claims.
    run: the run of their experiment.
    siblings: the runs of the same invocation, by experiment.
    cannot: takes a claim that cannot be judged and its error, and returns the judgement: see `not_judged`.
    returns: one per claim, in their order.
    Raises SlownetError: a claim cannot be judged and ``cannot`` is not given; or one ends the program.
    """
    found = [_judgement(claim, run, siblings, cannot) for claim in claims]
    left = sum(each.verdict != NOT_JUDGED for each in found)
    candidates = [number for number, each in enumerate(found) if each.verdict == REFUTED] if left > 1 else []
    while candidates:
        corrected = bonferroni(run, left)
        others = raise_confidence(siblings, corrected)
        rejudged = {number: _judgement(claims[number], corrected, others, cannot) for number in candidates}
        refuted = [number for number, each in rejudged.items() if each.verdict == REFUTED]
        for number, each in rejudged.items():
            found[number] = each if number in refuted else _open_among(each, left)
        if not refuted:
            break
        left -= len(refuted)
        candidates = [number for number in candidates if number not in refuted]
    return found


def not_judged(claim: Claim, error: SlownetError, run: RunData, own: Sequence[Mapping[str, str]] = ()) -> Judgement:
    """Return the judgement on a claim whose cells were not measured.

    claim: the claim.
    error: why it could not be judged.
    run: the run that lacks the cells.
    own: the labels of all cells of the experiment. The text lists those that the claim needs and the run lacks.
    returns: with the verdict ``NOT_JUDGED`` and no numbers.
    """
    measured = {cell_key(cell.label): cell for cell in run.cells}
    lacking = [absent(label) for label in own if cell_key(label) not in measured]
    others = [cell for key, cell in measured.items() if key not in {cell_key(label) for label in own}]
    cells = (*(measured.get(cell_key(label)) or absent(label) for label in own), *others)
    try:
        blank = claim.judge(replace(run, cells=cells), ALONE)
    except SlownetError:
        blank = None
    named = [cell.title for cell in lacking if blank is not None and (not blank.cells or cell.label in blank.cells)]
    if blank is None or not named:
        return add_description(claim, _without_numbers(unjudged(claim), CANNOT(error=error.line)))
    why = NOT_MEASURED(cells=named, error="" if isinstance(error, NoCellError) else error.what)
    return add_description(claim, replace(_without_numbers(blank.name, why), cells=blank.cells, expected=blank.expected))


def _judgement(claim: Claim, run: RunData, siblings: Siblings, cannot: Cannot | None) -> Judgement:
    try:
        found = claim.judge(run, siblings)
        return found if found.kind else add_description(claim, found)  # a custom kind need not set it
    except TooFewError as error:  # raised by a custom kind; more repetitions may give it enough values
        what, why = unjudged(claim), CANNOT(error=error.line)
        blank = Judgement(what, INCONCLUSIVE, math.nan, reason=Reason.FEW_VALUES)
        return add_description(claim, blank.saying(why))
    except SlownetError as error:
        if cannot is None:
            raise
        return cannot(claim, error)


def _open_among(found: Judgement, left: int) -> Judgement:
    """Explain why a claim that its own interval would refute is inconclusive among ``left`` claims."""
    if found.verdict != INCONCLUSIVE or found.measured is None:
        return found
    return found.adding(AMONG_OTHERS(claims=left), reason=Reason.AMONG_OTHERS)


def absent(label: Mapping[str, str]) -> Cell:
    """Return a cell that failed because it was not measured: a claim that can be judged at all leaves it undecided."""
    return Cell(label, condition(label), ({"cell": label, "index": 0, "status": "failed", "error": UNMEASURED},), {})


def _without_numbers(name: str, why: Statement) -> Judgement:
    blank = Judgement(name, NOT_JUDGED, reason=Reason.NOT_MEASURED)
    return blank.saying(why)


MOST_NAMED = 4
"""Cells that one sentence names; of more it names one fewer, and counts the others."""


def _not_measured(cells: Sequence[str], error: str) -> str:
    verb = "was" if len(cells) == 1 else "were"
    named = cells if len(cells) <= MOST_NAMED else [*cells[: MOST_NAMED - 1], f"{len(cells) - MOST_NAMED + 1} other cells"]
    return f"{listed(named)} {verb} not measured" + (f"; {error}" if error else "")


CANNOT = Phrase("error", lambda error: str(error))
NOT_MEASURED = Phrase("not measured", _not_measured)
AMONG_OTHERS = Phrase(
    "among others", lambda claims: f" (not yet refuted at the confidence that {claims} claims together require)"
)
