"""Which virtual clock a run has if its user asks for none: the one that decides what the experiment claims.

The one place of this rule, for `slownet run`, `check`, `compose`, sweeps and the API; `--explain-clock` prints what it chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slownet.claim.base import Claim
from slownet.claim.cost import any_depends_on_cpu
from slownet.experiment import Experiment
from slownet.lab.clock import TDF_INF, TIME
from slownet.lab.place import Place
from slownet.records.charging import WAVER, Charging


@dataclass(frozen=True)
class Choice:
    """A clock and why it was chosen."""

    place: Place
    """Where the experiment runs, on its clock."""
    why: str
    """The reason, as one line."""


def choose(experiment: Experiment, place: Place, claims: Sequence[Claim]) -> Choice:
    """Return the clock of an experiment, of which these claims are judged; a sweep judges none, but maps its numbers.

    What the caller asked for comes first, then what the experiment states. If neither does, the CPU is free where all claims
    are about round trips or what links alone make, which a CPU that is charged only blurs. Else it is charged: counted
    instructions where this machine has a counter, else CPU time.
    """
    if place.parts is None and experiment.clock is None:
        return Choice(place, "it runs natively, on this machine's kernel")
    if place.clock_is_asked_for:
        return Choice(place, "it was asked for")
    if experiment.tdf is not None or experiment.clock is not None:
        return Choice(place.on(experiment.tdf, experiment.clock), "the experiment states it")
    if place.cpu_is_asked_for:
        return Choice(place, "it was asked for what is charged for CPU")
    if not any_depends_on_cpu(claims):
        why = "all claims are about round trips or losses, which do not depend on the CPU: it is free (--tdf auto charges it)"
        return Choice(place.on(TDF_INF), why)
    return Choice(place, f"{_whose(claims)} on what the CPU costs: {_charged(place)}")


def _whose(claims: Sequence[Claim]) -> str:
    return "a claim depends" if claims else "no claim is judged, and what is measured may depend"


def _charged(place: Place) -> str:
    if place.clock.cpu != TIME:
        return "instructions are counted"
    spread = f"{WAVER[Charging.TIME]:.0%}".replace("%", " %")
    return (
        f"there is no instruction counter, so CPU time is charged, which differs by {spread} between boots and hides smaller"
        " differences (--clock exact shows them, at ten times the CPU; --tdf inf makes the CPU free)"
    )
