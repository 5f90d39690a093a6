"""All claims of an experiment, judged together: how they share their error, and what becomes of those about other cells.

What is promised: a run in which everything holds that an experiment claims shows a refuted claim in at most 1 % of runs,
however many claims it has. So they share the 1 %: a claim is refuted only where it is at the confidence that is left for each
of those not refuted yet (Holm, "A simple sequentially rejective multiple test procedure", 1979; it asks nothing of how the
claims depend on each other). One that its own 99 % interval alone would refute is inconclusive, and more repetitions decide it.

What is supported takes no share. "All claims are supported" says that each of them is, and where one does not hold that one
is supported in at most 1 % of runs (Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982).

The family is one experiment's run: the claims of several experiments, and the single assertions of tests, share nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from slownet.claim.base import ALONE, Claim, Siblings, as_sure, shared
from slownet.claim.stated import stated
from slownet.errors import NoCellError, SlownetError, TooFewError
from slownet.records.cell import Cell
from slownet.records.columns import condition
from slownet.records.judgement import INCONCLUSIVE, NOT_JUDGED, REFUTED, Judgement
from slownet.records.result import RunData
from slownet.records.samples import cell_key

Cannot = Callable[[Claim, SlownetError], Judgement]
UNMEASURED = "was not measured"


def judge_all(
    claims: Sequence[Claim], run: RunData, siblings: Siblings = ALONE, cannot: Cannot | None = None
) -> list[Judgement]:
    """The judgements on the claims of one experiment, at the confidence of the run together.

    ``cannot`` gives the judgement on a claim that cannot be judged (see `not_judged`); without it its error is raised.
    """
    found = [_judgement(claim, run, siblings, cannot) for claim in claims]
    left = sum(each.verdict != NOT_JUDGED for each in found)
    asked = [number for number, each in enumerate(found) if each.verdict == REFUTED] if left > 1 else []
    while asked:
        sure = shared(run, left)
        beside = as_sure(siblings, sure)
        again = {number: _judgement(claims[number], sure, beside, cannot) for number in asked}
        sure_of = [number for number, each in again.items() if each.verdict == REFUTED]
        for number, each in again.items():
            found[number] = each if number in sure_of else _open_among(each, left)
        if not sure_of:
            break
        left -= len(sure_of)
        asked = [number for number in asked if number not in sure_of]
    return found


def not_judged(claim: Claim, error: SlownetError, run: RunData, own: Sequence[Mapping[str, str]] = ()) -> Judgement:
    """The judgement on a claim about cells that a run lacks: it names those of the experiment's ``own`` cells.

    ``error`` says why it could not be judged.
    """
    measured = {cell_key(cell.label): cell for cell in run.cells}
    absent = [_absent(label) for label in own if cell_key(label) not in measured]
    others = [cell for key, cell in measured.items() if key not in {cell_key(label) for label in own}]
    cells = (*(measured.get(cell_key(label)) or _absent(label) for label in own), *others)
    try:
        blank = claim.judge(replace(run, cells=cells), ALONE)
    except SlownetError:
        blank = None
    lacking = [cell.title for cell in absent if blank is not None and (not blank.cells or cell.label in blank.cells)]
    if blank is None or not lacking:
        return stated(claim, _without_numbers(described(claim), error.line))
    why = f"{_and(lacking)} {UNMEASURED if len(lacking) == 1 else 'were not measured'}"
    why += "" if isinstance(error, NoCellError) else f"; {error.what}"
    return stated(claim, replace(_without_numbers(blank.name, why), cells=blank.cells, expected=blank.expected))


def described(claim: Claim) -> str:
    """A claim by its kind and its fields, where it has no name before it is judged."""
    kind = type(claim).__name__
    if not is_dataclass(claim):
        return kind
    if name := getattr(claim, "name", ""):
        return str(name)
    given = ((each.name, getattr(claim, each.name)) for each in fields(claim))
    return f"{kind}: " + ", ".join(f"{name} {_shown(value)}" for name, value in given if value not in (None, ""))


def _judgement(claim: Claim, run: RunData, siblings: Siblings, cannot: Cannot | None) -> Judgement:
    try:
        found = claim.judge(run, siblings)
        return found if found.kind else stated(claim, found)  # a kind of one's own need not say it
    except TooFewError as error:  # of a kind of one's own: more repetitions may give it enough
        blank = Judgement(described(claim), INCONCLUSIVE, math.nan, None, None, None, (None, None), error.line)
        return stated(claim, blank)
    except SlownetError as error:
        if cannot is None:
            raise
        return cannot(claim, error)


def _open_among(found: Judgement, left: int) -> Judgement:
    """One that is refuted by itself, and not surely enough among the others."""
    if found.verdict != INCONCLUSIVE or found.measured is None:
        return found
    return replace(found, text=f"{found.text} (not yet refuted as surely as {left} claims together ask for)")


def _absent(label: Mapping[str, str]) -> Cell:
    return Cell(label, condition(label), ({"cell": label, "status": "failed", "error": UNMEASURED},), {})


def _without_numbers(name: str, why: str) -> Judgement:
    return Judgement(name, NOT_JUDGED, None, None, None, None, (None, None), why)


def _and(names: Sequence[str]) -> str:
    comma = "; " if any(", " in name for name in names) else ", "
    return " and ".join(filter(None, (comma.join(names[:-1]), names[-1])))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name} {each}" for name, each in value.items())
    if isinstance(value, tuple):
        return " and ".join(map(_shown, value))
    return f"{described(value)}" if hasattr(value, "judge") else "by a function" if callable(value) else str(value)
