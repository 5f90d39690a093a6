"""Decides how many labs run in parallel for one experiment. Pure.

Each lab measures whole boots. The cells of one boot are never split over labs: two labs are two boots on two processors, which
differ by a few percent if CPU time is charged, and that difference would look like one between baseline and condition, however
often it is repeated. So compared cells share a lab, and labs differ only between repetitions, which the intervals include.
Boots rotate over the processors (`slownet.lab.host.cpu`), so that no processor gets all boots of one experiment.

Labs run in parallel only on the virtual and the exact clock: a lab uses one processor, and its clock does not count the time of
others. On the real clock labs would disturb each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slownet.model.errors import ExperimentError
from slownet.model.options import PLACE, Option
from slownet.model.units import whole_number

if TYPE_CHECKING:
    from slownet.lab.run.place import Place

AUTO, MOST = "auto", 64
OPTION = Option("labs")


def read_labs(text: str) -> int | None:
    """Parse the number of ``--labs 2``; None for ``auto``. Raises ExperimentError."""
    if text == AUTO:
        return None
    number = whole_number(text) or 0
    if not 0 < number <= MOST:
        raise ExperimentError(f"invalid number of labs '{text}'", OPTION, f"write a whole number from 1 to {MOST}, or {AUTO}")
    return number


def check_labs(wanted: int | None, place: Place) -> None:
    """Raise ExperimentError if that many labs cannot run in parallel."""
    if wanted is None or wanted == 1 or side_by_side(place):
        return
    if place.kind != "lab":
        raise ExperimentError(f"{wanted} labs need the place lab", OPTION, f"leave it out, or use {PLACE.set('lab')}")
    raise ExperimentError(
        f"on the real clock {wanted} labs would disturb each other", OPTION, "leave it out, or use the virtual clock"
    )


def side_by_side(place: Place) -> bool:
    """Return whether labs can run in parallel there without disturbing each other."""
    return place.kind == "lab" and place.clock.is_apart


def how_many(wanted: int | None, place: Place, boots: int, processors: int) -> int:
    """Return the number of labs for that many boots of an experiment: at most one per boot.

    ``wanted``: None means ``auto``, one lab per processor. If several experiments run in parallel, each gets a first processor
    before any gets a second (`slownet.runner.repetition`).
    """
    if not side_by_side(place):
        return min(1, boots)
    return min(boots, max(1, processors) if wanted is None else wanted)
