"""All schedules of faults that a hunt chooses from: which hosts, which kinds, within which time.

A schedule is made of breaks, each of which is mended again. What cannot happen because of another break, such as the death of
what is dead, is left out, so that every choice is a schedule that can happen. Hypothesis makes the choices
(`slownet.runner.hunt.strategy`); this module is imported in labs, too, which have no Hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slownet.links.faults import AFTER, Action, Ailment, Cut, Deed, Fault, Faults, Heal, possible
from slownet.model.errors import ConditionError, nearest
from slownet.model.units import duration, show_duration

KINDS = {
    "kill": "start", "pause": "resume", "cut": "heal", "one-way": "heal", "crash": "start", "fill-disk": "mend-disk",
    "fail-disk": "mend-disk",
}  # fmt: skip
"""Kinds of breaks, the simplest first, and the verb that mends each. "one-way" is a cut of one direction."""
MENDS = frozenset((*KINDS.values(), "mend-cpu", "find-names", "intact"))
"""All verbs that mend."""
USUAL = ("kill", "pause", "cut", "one-way")
"""Those that need no disk."""
BETWEEN = ("cut", "one-way")
MOST = 4
STEP = "100ms"


@dataclass(frozen=True)
class Break:
    """Something breaks at `begin` seconds and is mended at `end`.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    hosts, others : tuple of str
        What breaks: one service; or the two sides of a cut.
    begin, end : float
        Seconds.
    """

    kind: str
    hosts: tuple[str, ...]
    others: tuple[str, ...]
    begin: float
    end: float

    @property
    def action(self) -> Action:
        """What breaks."""
        if self.kind in BETWEEN:
            return Cut(self.hosts, self.others, one_way=self.kind == "one-way")
        return Deed(self.kind, self.hosts[0])

    @property
    def cure(self) -> Action:
        """What mends it."""
        return Heal() if self.kind in BETWEEN else Deed(KINDS[self.kind], self.hosts[0])


@dataclass(frozen=True)
class FaultSpace:
    """What a hunt may break; made by `faults`.

    Attributes
    ----------
    hosts : tuple of str
        Hosts, of which cuts separate some from others.
    services : tuple of str
        What is killed and paused.
    kinds : tuple of str
        Of `KINDS`, the simplest first.
    within, step : float
        Seconds; all is mended after `within`, and times are multiples of `step`.
    most : int
        The most breaks of a schedule.
    """

    hosts: tuple[str, ...]
    services: tuple[str, ...]
    kinds: tuple[str, ...]
    within: float
    step: float
    most: int

    @property
    def steps(self) -> int:
        """The number of steps within the time."""
        return round(self.within / self.step)

    def of(self, breaks: Iterable[Break]) -> Faults:
        """Return the schedule of these breaks, without what cannot happen."""
        ordered = sorted(breaks, key=lambda each: (each.begin, each.end))
        steps = [(each.begin, 1, number, each.action) for number, each in enumerate(ordered)]
        steps += [(each.end, 0, number, each.cure) for number, each in enumerate(ordered)]
        return Faults(tuple(_possible(Fault(at, action) for at, _, _, action in sorted(steps, key=lambda each: each[:3]))))

    def __str__(self) -> str:
        what = [", ".join(self.kinds), f"of {', '.join(dict.fromkeys((*self.services, *self.hosts)))}"]
        return f"{' '.join(what)} within {show_duration(self.within)}, at most {self.most}"


def faults(
    hosts: Sequence[str], kinds: Sequence[str] = USUAL, within: str = "30s", *,
    services: Sequence[str] | None = None, most: int = MOST, step: str = STEP,
) -> FaultSpace:  # fmt: skip
    """Describe the schedules of faults that a hunt chooses from.

    Parameters
    ----------
    hosts : sequence of str
        Names of hosts. Cuts separate some of them from others.
    kinds : sequence of str
        What may happen: "kill", "pause", "cut" and "one-way" (a cut of one direction); these unless given. Services with a disk
        of their own may also "crash" (what was not written is lost), and get a disk that is full ("fill-disk") or refuses
        writes ("fail-disk").
    within : str
        The time within which all is broken and mended, such as "30s".
    services : sequence of str, optional
        What is killed and paused; the hosts, if they are not given.
    most : int
        The most breaks in one schedule.
    step : str
        Breaks begin and end at multiples of it.

    Returns
    -------
    FaultSpace

    Raises
    ------
    ConditionError, UnitError
        A kind is unknown, there are too few hosts to cut, or the times do not fit.
    """
    where = "faults()"
    for kind in kinds:
        if kind not in KINDS:
            raise ConditionError(f"no kind of faults '{kind}'", where, nearest(kind, KINDS))
    named = [hosts] if isinstance(hosts, str) else hosts
    served = tuple(named if services is None else services)
    if not kinds or not (named or served):
        raise ConditionError("nothing can break", where, 'write hosts and kinds: faults(["a", "b"], ["kill"], within="30s")')
    if len(set(named)) < 2 and (between := [each for each in kinds if each in BETWEEN]):
        raise ConditionError(f"'{between[0]}' needs two hosts", where, "name more hosts, or leave it out")
    if not served and (deeds := [each for each in kinds if each not in BETWEEN]):
        raise ConditionError(f"'{deeds[0]}' needs a service", where, "name some in services=")
    if duration(step) <= 0 or duration(within) < 2 * duration(step):
        raise ConditionError(f"'{within}' has no room for a break", where, f"give more than twice the step of {step}")
    if most < 1:
        raise ConditionError(f"most is {most}", where, "give at least 1")
    ordered = tuple(kind for kind in KINDS if kind in kinds)
    return FaultSpace(
        tuple(dict.fromkeys(named)), tuple(dict.fromkeys(served)), ordered, duration(within), duration(step), most
    )


def _possible(steps: Iterable[Fault]) -> Iterator[Fault]:
    """Yield the steps that can happen after those before them."""
    states: dict[str, str] = {}
    lost: frozenset[tuple[str, str]] = frozenset()
    for step in steps:
        action = step.action
        if isinstance(action, Cut):
            if not action.lost & lost:
                lost |= action.lost
                yield step
        elif isinstance(action, Heal):
            if lost:
                lost = frozenset()
                yield step
        elif isinstance(action, Deed) and possible(action, states.get(action.subject, action.before)):
            states[action.subject] = AFTER[action.verb]
            yield step


def broken(schedule: Faults) -> list[Fault]:
    """Return the steps of a schedule that break something."""
    return [each for each in schedule.steps if breaks(each.action)]


def breaks(action: Action) -> bool:
    """Return whether an action breaks something that lasts until it is mended."""
    return isinstance(action, Cut | Deed | Ailment) and not mends(action)


def mends(action: Action) -> bool:
    """Return whether an action mends what broke before."""
    return isinstance(action, Heal) or (isinstance(action, Deed | Ailment) and action.verb in MENDS)
