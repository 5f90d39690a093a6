"""How many labs run side by side for one experiment. Pure decisions.

Each lab measures a boot of its own, with all the cells that the boot has. The cells of one boot are never shared among labs:
two labs are two boots on two processors, and what differs between those (a few percent of a time where CPU time is charged)
would stand between baseline and condition, where no repetition of the same sharing shows it. So cells that are compared lie
in the same lab, and what differs between labs is between repetitions, where the intervals hold it. The boots take turns on
the processors (`slownet.lab.cpu`), so that no processor has all of one experiment's.

Side by side is for the virtual clock: a lab is one processor, and its clock does not count what another one takes. On the
real clock labs would disturb each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slownet.errors import ExperimentError

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
    """Raises ExperimentError where as many labs cannot run side by side."""
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


def how_many(wanted: int | None, place: Place, boots: int, processors: int) -> int:
    """The number of labs for so many boots of an experiment: never more than there are boots.

    ``wanted`` None is ``auto``: a lab a processor. Where experiments run side by side they get the processors in turn, each a
    first one before any gets a second (`slownet.runner.repetition`).
    """
    if not side_by_side(place):
        return min(1, boots)
    return min(boots, max(1, processors) if wanted is None else wanted)
