"""The default clock of a run in a lab: the one that decides the experiment's claims.

The one place of this rule, for `slownet run`, `check`, `reproduce`, sweeps and the API; `--explain-clock` prints what it chose.
In pytest the CPU is free unless a marker or an option asks for a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.hypotheses import uses
from slownet.hypotheses.experiment import Experiment
from slownet.judge.claim.base import Claim
from slownet.judge.claim.requirements import any_depends_on_cpu
from slownet.judge.records.charging import CPU_VARIATION, Charging
from slownet.judge.records.judgement import INCONCLUSIVE
from slownet.judge.records.result import RunData
from slownet.lab.exact import emulator, packed
from slownet.lab.run.clock import EXACT, TDF_INF, TIME
from slownet.lab.run.place import Place
from slownet.model.errors import LabError
from slownet.model.options import CLOCK, CPU, TDF

COST = "about five times the CPU of a boot"
"""The cost of the exact clock from a snapshot: 23 s of CPU for client_delay, which takes 4.4 s where CPU time is charged."""
MANY = "a sweep has too many cells for the exact clock"


@dataclass(frozen=True)
class Choice:
    """A clock and why it was chosen."""

    place: Place
    """The place of the experiment, on its clock."""
    why: str
    """The reason, as one line."""


def choose(
    experiment: Experiment, place: Place, claims: Sequence[Claim], folders: Sequence[Path] = (), is_sweep: bool = False
) -> Choice:
    """Return the clock of an experiment, of which these claims are judged; a sweep judges none, but maps its numbers.

    folders: what its file is to have around it.

    What the caller asked for comes first, then what the experiment states. If neither does, the CPU is free where all claims
    are about round trips or what links alone make, which a CPU that is charged only blurs. Else it is charged: counted
    instructions where this machine has a counter, else those of the exact clock, else CPU time.
    """
    stated = _stated(experiment, place)
    if stated:
        return stated
    if not any_depends_on_cpu(claims):
        charged = f"{TDF.set('auto')} charges it"
        why = f"all claims are about round trips or losses, which do not depend on the CPU: it is free ({charged})"
        return Choice(place.on(TDF_INF), why)
    whose = f"{_whose(claims)} on what the CPU costs"
    if place.clock.cpu != TIME:
        return Choice(place, f"{whose}: instructions are counted")
    why_not = MANY if is_sweep else _why_not_exact(experiment, folders)
    if not why_not:
        try:
            exact = place.on(None, EXACT)
        except LabError as error:
            why_not = str(error)
        else:
            how = f"instructions are counted in an emulated machine, at {COST} ({CPU.set('time')} charges CPU time)"
            return Choice(exact, f"{whose}: {how}")
    return Choice(place, f"{whose}: there is no instruction counter, and {why_not}. {_unseen()}")


def _stated(experiment: Experiment, place: Place) -> Choice | None:
    """Return the clock that the caller, the experiment or the machine states; None if none of them does."""
    if place.parts is None and experiment.clock is None:
        return Choice(place, "it runs natively, on this machine's kernel")
    if place.clock_is_asked_for:
        return Choice(place, "it was asked for")
    if place.only_exact and experiment.tdf is None:
        return Choice(place, "labs on other clocks are not built here (slownet lab build)")
    if experiment.tdf is not None or experiment.clock is not None:
        return Choice(place.on(experiment.tdf, experiment.clock), "the experiment states it")
    if place.cpu_is_asked_for:
        return Choice(place, "it was asked for what is charged for CPU")
    return None


def _whose(claims: Sequence[Claim]) -> str:
    return "a claim depends" if claims else "no claim is judged, and what is measured may depend"


def _why_not_exact(experiment: Experiment, folders: Sequence[Path]) -> str:
    """Return why an experiment has no exact clock unless it asks for it; empty if only what labs take can be why."""
    if uses.is_project(experiment.topology) or uses.has_containers(*experiment.parts):
        return "containers do not run on the exact clock"
    if tool := uses.lasting(*experiment.parts):
        return f"{tool} runs for a fixed time, which takes six times longer on the exact clock"
    try:
        emulator.program()  # before all of the folders is looked at
    except LabError as error:
        return str(error)
    if not packed.fits(folders):
        most = f"{packed.MOST_BYTES >> 20} MB or {packed.AT_EASE} files"
        return f"its folders are too large to copy into an exact lab (limit {most})"
    return ""


def _unseen() -> str:
    return (
        f"CPU time is charged, which differs by {_spread()} between boots and hides smaller differences"
        f" ({CLOCK.set('exact')} shows them, at {COST}; {TDF.set('inf')} makes the CPU free)"
    )


def what_decides(run: RunData) -> str:
    """Say which clock would decide what a judged run left open because CPU time varies; empty if that is not why."""
    too_few = any(cell.repetitions < cell.verdict_from for cell in run.cells)  # another line says that
    if run.charging is not Charging.TIME or run.facts.get("compose") or too_few:
        return ""
    if not any(claim.verdict == INCONCLUSIVE and claim.measured is not None and not claim.stays_open for claim in run.claims):
        return ""
    way = f"{CLOCK.set('exact')} counts instructions instead, at {COST}"
    return f"CPU time differs by {_spread()} between boots: {way}{_if_missing()}"


def _spread() -> str:
    return f"{CPU_VARIATION[Charging.TIME]:.0%}".replace("%", " %")


def _if_missing() -> str:
    """Say what the exact clock needs, if it is not there."""
    try:
        emulator.program()
    except LabError as error:
        return f" ({error.fix})"
    return ""
