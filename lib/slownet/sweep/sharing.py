"""How the cells of one experiment are shared among labs side by side: how many labs, and who measures what.

Pure decisions. Side by side is for the virtual clock with the CPU's time charged: a lab is one processor, and most of what
such a cell takes is CPU. Where the CPU is free, what a cell measures may depend bit for bit on the cells before it, and a
record must not depend on how many processors a machine has. On the real clock labs would disturb each other, and baseline
and conditions belong into the same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from slownet.errors import ExperimentError
from slownet.lab.clock import INF, Clock

if TYPE_CHECKING:
    from slownet.lab.place import Place

AUTO, MOST = "auto", 64
OPTION = "--labs"


def read_labs(text: str) -> int | None:
    """How many labs ``--labs 2`` asks for; None for ``auto``. Raises ExperimentError."""
    if text == AUTO:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= MOST):
        raise ExperimentError(f"unclear number of labs '{text}'", OPTION, f"write a whole number from 1 to {MOST}, or {AUTO}")
    return int(text)


def check_labs(wanted: int | None, place: Place) -> None:
    """Raises ExperimentError where the cells cannot be shared among as many labs."""
    if wanted is None or wanted == 1 or side_by_side(place):
        return
    if place.kind != "lab":
        raise ExperimentError(f"in place there are no {wanted} labs", OPTION, "leave it out, or take --place lab")
    raise ExperimentError(
        f"on the real clock {wanted} labs would disturb each other", OPTION, "leave it out, or take the virtual clock"
    )


def side_by_side(place: Place) -> bool:
    """Whether labs do not disturb each other there."""
    return place.kind == "lab" and place.clock.kind == "virtual"


def charges_cpu(clock: Clock) -> bool:
    """Whether it is a virtual clock that CPU time moves."""
    return clock.kind == "virtual" and clock.tdf != INF


def how_many(wanted: int | None, place: Place, cells: int, beside: int, processors: int) -> int:
    """The number of labs for so many cells of an experiment, of which so many (``beside``) run side by side.

    ``wanted`` None is ``auto``: a lab a processor that the other experiments leave.
    """
    if not side_by_side(place):
        return min(1, cells)
    automatic = processors // max(1, beside) if charges_cpu(place.clock) else 1
    return min(cells, max(1, automatic) if wanted is None else wanted)


def share(cells: Sequence[int], labs: int, costs: Mapping[int, float]) -> list[list[int]]:
    """Which cells each lab measures, in the order given, by their number in the plan.

    ``costs`` are the seconds that some of them are known to take; the others count as their mean. The dearest goes first
    to the lab that has least to do; cells that cost the same go round, one to each lab.
    """
    usual = fmean(costs.values()) if costs else 1.0
    lab_of: dict[int, int] = {}
    load = [0.0] * labs
    for cell in sorted(cells, key=lambda each: -costs.get(each, usual)):
        lab_of[cell] = load.index(min(load))
        load[lab_of[cell]] += costs.get(cell, usual)
    return [[cell for cell in cells if lab_of[cell] == lab] for lab in range(labs)]
