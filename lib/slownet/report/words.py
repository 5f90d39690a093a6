"""Texts of a report about verdicts, boots and instructions; each claim's file has the claim's sentence."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from slownet.judge.claim import KINDS
from slownet.judge.records.judgement import SUPPORTED, WORST_FIRST, Judgement
from slownet.judge.records.naming import capital, counted
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import RUN, SWEEP
from slownet.model.errors import SlownetError
from slownet.model.options import OUT, REPEAT, RESUME
from slownet.report.text import near


def instructions_counted(count: float) -> str:
    """Write a number of instructions: "45.13 million instructions"."""
    for name, size in (("billion ", 1e9), ("million ", 1e6), ("thousand ", 1e3)):
        if abs(count) >= size:
            return f"{count / size:.4g} {name}instructions"
    return f"{count:.0f} instructions"


def instructions_compared(one: float, other: float) -> str:
    """Say how two numbers of instructions differ: "equal", "differs by 2.3 million instructions (+5.1 %)"."""
    if one == other:
        return f"equal, {instructions_counted(one)}"
    return f"differs by {instructions_counted(abs(other - one))} ({100 * (other - one) / one:+.2g} %)"


def verdicts_counted(claims: Iterable[Judgement]) -> str:
    """Count the verdicts: ``3 of 5 claims supported, 1 inconclusive, 1 not judged``, or ``no claims``."""
    found = [claim.verdict for claim in claims]
    if not found:
        return "no claims"
    others = [f"{found.count(each)} {each}" for each in WORST_FIRST if each != SUPPORTED and each in found]
    return ", ".join([f"{found.count(SUPPORTED)} of {len(found)} claims supported", *others])


def few_boots(run: RunData) -> str:
    """Say that unknown programs were measured too seldom to know how boots differ, and what measures more; empty if not."""
    few = [cell for cell in run.cells if run.terms.own_programs and cell.lacks_boots]
    if not few:
        return ""
    boots, least = min(cell.repetitions for cell in few), max(cell.verdict_from for cell in few)
    said = f"{counted(boots, 'boot')}: how much boots differ is not known: that takes {least} repetitions or more"
    return f"{said}: {measuring_more(run, least)}"


def measuring_more(run: RunData, repetitions: int) -> str:
    """Return the command that measures a run in that many boots in all: this run if it is one, or another one like it."""
    folder = shlex.quote(near(run.directory))
    if (run.directory / RUN).is_file():
        return f"{RESUME.in_command('run', folder)} {REPEAT.typed} {repetitions}"
    if (run.directory / SWEEP).is_file():
        return f"its own command with {OUT.typed} {folder} {RESUME.typed} {REPEAT.typed} {repetitions}"
    return REPEAT.in_command("run", repetitions)


def claim_sentence(claim: Judgement, run: RunData) -> str:
    """Return a claim as a sentence: by the sentence of its kind, or by the name that its author gave it."""
    if claim.named:
        return claim.name
    try:
        return capital(KINDS[claim.kind].sentence(claim, run))
    except (KeyError, TypeError, ValueError, AttributeError, SlownetError):  # of a package, or of cells that were not measured
        return claim.name
