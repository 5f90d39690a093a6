"""All schedules of faults that a hunt chooses from: which hosts, which kinds, within which time.

A schedule is made of breaks, each of which is repaired again. What cannot happen because of another break, such as the death of
what is dead, is left out, so that every choice is a schedule that can happen. Hypothesis makes the choices
(`slownet.hunt.strategy`); this module is imported in labs, too, which have no Hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slownet.links.faults import HOST, VERBS, Action, Cut, Fault, Faults, Heal, HostFault, Mtu, Reset, ServiceFault, possible
from slownet.model.errors import ConditionError, nearest
from slownet.model.units import duration, show_duration

BETWEEN = ("cut", "one-way", "reset")
"""Kinds of breaks between hosts. "one-way" is a cut of one direction; connections that are reset are made again."""
USUAL = ("kill", "pause", "cut", "one-way")
"""Those that a system should bear."""
REPAIRS = frozenset(("heal", *(each.undo for each in VERBS.values() if each.undo)))
"""All verbs that repair."""
KINDS = tuple(dict.fromkeys((*USUAL, *BETWEEN, *(verb for verb in VERBS if verb not in REPAIRS))))
"""Kinds of breaks, the usual and the simplest first."""
MOST = 4
STEP = "100ms"


@dataclass(frozen=True)
class Break:
    """Something breaks at `begin` seconds and is repaired at `end`.

    kind: one of `KINDS`, with an amount if it has one: "kill", "slow-disk 50ms".
    hosts, others: what breaks: one service or host; or the two sides of a cut.
    begin, end: seconds.
    """

    kind: str
    hosts: tuple[str, ...]
    others: tuple[str, ...]
    begin: float
    end: float

    @property
    def action(self) -> Action:
        """The fault."""
        if self.kind == "reset":
            return Reset(self.hosts, self.others)
        if self.kind in BETWEEN:
            return Cut(self.hosts, self.others, one_way=self.kind == "one-way")
        return _to_one(self.kind, self.hosts[0])

    @property
    def cure(self) -> Action | None:
        """The repair; None if the fault is over at once."""
        if self.kind in BETWEEN:
            return None if self.kind == "reset" else Heal()
        undo = VERBS[verb_of(self.kind)].undo
        return _to_one(undo, self.hosts[0]) if undo else None


@dataclass(frozen=True)
class FaultSpace:
    """The faults that a hunt may choose; made by `faults`.

    Attributes
    ----------
    hosts : tuple of str
        Hosts, of which cuts separate some from others.
    services : tuple of str
        What is killed and paused, and whose disks and processors break.
    kinds : tuple of str
        Of `KINDS`, the simplest first, each with an amount if it has one.
    within, step : float
        Seconds; all is repaired after `within`, and times are multiples of `step`.
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
        steps += [(each.end, 0, number, cure) for number, each in enumerate(ordered) if (cure := each.cure)]
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
        of their own may also "crash" (what was not written is lost), and get a disk that is full ("fill-disk"), refuses writes
        ("fail-disk") or is slow ("slow-disk", "slow-disk 50ms"); a processor may be slow ("slow-cpu 10%"), where the clock
        charges computing. Hosts may "reset" connections, lose what name servers answer ("lose-names"), and get packets
        corrupted ("corrupt 5%") and another MTU ("mtu 1280"). These are the default amounts.
    within : str
        The time within which all is broken and repaired, such as "30s".
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
    kinds = [_kind(each, where) for each in ([kinds] if isinstance(kinds, str) else kinds)]
    named = [hosts] if isinstance(hosts, str) else hosts
    served = tuple(named if services is None else services)
    if not kinds or not (named or served):
        raise ConditionError("nothing can break", where, 'write hosts and kinds: faults(["a", "b"], ["kill"], within="30s")')
    if len(set(named)) < 2 and (between := [each for each in kinds if each in BETWEEN]):
        raise ConditionError(f"'{between[0]}' needs two hosts", where, "name more hosts, or leave it out")
    if not named and (alone := [each for each in kinds if is_of_host(each)]):
        raise ConditionError(f"'{alone[0]}' needs a host", where, "name more hosts, or leave it out")
    if not served and (of_services := [each for each in kinds if each not in BETWEEN and not is_of_host(each)]):
        raise ConditionError(f"'{of_services[0]}' needs a service", where, "name some in services=")
    if duration(step) <= 0 or duration(within) < 2 * duration(step):
        raise ConditionError(f"'{within}' has no room for a break", where, f"give more than twice the step of {step}")
    if most < 1:
        raise ConditionError(f"most is {most}", where, "give at least 1")
    ordered = tuple(sorted(dict.fromkeys(kinds), key=lambda each: KINDS.index(verb_of(each))))
    return FaultSpace(
        tuple(dict.fromkeys(named)), tuple(dict.fromkeys(served)), ordered, duration(within), duration(step), most
    )


def verb_of(kind: str) -> str:
    """Return a kind without its amount."""
    return kind.partition(" ")[0]


def is_of_host(kind: str) -> bool:
    """Return whether a kind of break is of one host, not of a service."""
    return kind not in BETWEEN and VERBS[verb_of(kind)].about == HOST


def _kind(given: str, where: str) -> str:
    """Return a kind with its amount, the usual one unless it is given. Raises ConditionError, UnitError."""
    verb, _, amount = given.strip().partition(" ")
    if verb not in KINDS:
        raise ConditionError(f"no kind of faults '{given}'", where, nearest(verb, KINDS))
    usual = "" if verb in BETWEEN else VERBS[verb].amount
    if amount and not usual:
        raise ConditionError(f"'{verb}' does not take an amount, such as '{amount}'", where, f"write '{verb}'")
    kind = f"{verb} {amount.strip() or usual}".strip()
    if usual:
        _to_one(kind, "host")  # raises what is wrong with the amount
    return kind


def _to_one(kind: str, name: str) -> Action:
    verb, _, amount = kind.partition(" ")
    (step,) = Faults.parse([f"{verb} {name} {amount}".rstrip() + " at 0s"]).steps
    return step.action


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
        elif isinstance(action, Reset):
            yield step
        else:
            state = states.get(action.subject, action.before if isinstance(action, ServiceFault) else "whole")
            if _changes(action, state):
                states[action.subject] = VERBS[action.verb].after or state
                yield step


def _changes(action: ServiceFault | HostFault | Mtu, state: str) -> bool:
    """Return whether an action is possible and leaves another state: an MTU could be changed again."""
    return possible(action, state) and VERBS[action.verb].after != state


def broken(schedule: Faults) -> list[Fault]:
    """Return the steps of a schedule that break something, even if only for a moment."""
    return [each for each in schedule.steps if not repairs(each.action)]


def breaks(action: Action) -> bool:
    """Return whether an action breaks something that lasts until it is repaired."""
    return isinstance(action, Cut) or (isinstance(action, ServiceFault | HostFault | Mtu) and bool(VERBS[action.verb].undo))


def repairs(action: Action) -> bool:
    """Return whether an action repairs what broke before."""
    return isinstance(action, Heal) or (isinstance(action, ServiceFault | HostFault | Mtu) and action.verb in REPAIRS)
