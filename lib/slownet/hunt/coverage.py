"""The coverage of a hunt: how often each kind of break began in each part of the time, and how often breaks overlapped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from slownet.links.fault_space import breaks, broken, repairs
from slownet.links.faults import Faults, HostFault, Mtu, ServiceFault

PARTS = 4


@dataclass
class Coverage:
    """Counts of some schedules.

    Attributes
    ----------
    within : float
        Seconds of the latest step.
    begun : dict of str to list of int
        By what breaks, such as "kill db": in how many schedules it began in each quarter of the time.
    together : int
        Schedules where something broke while something else was broken.
    schedules : int
        All of them.
    """

    within: float
    begun: dict[str, list[int]] = field(default_factory=dict)
    together: int = 0
    schedules: int = 0


def of(schedules: Iterable[Faults]) -> Coverage:
    """Count what some schedules break."""
    whole = [each for each in schedules if each.steps]
    found = Coverage(max((each.steps[-1].at for each in whole), default=0.0))
    for schedule in whole:
        found.schedules += 1
        found.together += _overlaps(schedule)
        for step in broken(schedule):
            part = min(PARTS - 1, int(PARTS * step.at / found.within)) if found.within else 0
            found.begun.setdefault(str(step.action), [0] * PARTS)[part] += 1
    found.begun = dict(sorted(found.begun.items(), key=lambda each: (-sum(each[1]), each[0])))
    return found


def _overlaps(schedule: Faults) -> bool:
    """Return whether something breaks while something else is broken."""
    now: set[str] = set()
    for action in (step.action for step in schedule.steps):
        name = action.subject if isinstance(action, ServiceFault | HostFault | Mtu) else "cut"
        if breaks(action):
            if now - {name}:
                return True
            now.add(name)
        elif repairs(action):
            now.discard(name)
    return False
