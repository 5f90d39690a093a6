"""Faults: what breaks between hosts and on them, and when, for `net.faults`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from slownet.model.errors import ConditionError, UnitError, nearest
from slownet.model.units import duration, show_duration

VERBS = ("kill", "start", "pause", "resume")
"""What can be done to a service."""
HOW = '"cut HOSTS from HOSTS", "cut HOSTS to HOSTS", "heal", or kill, start, pause or resume with a service'
NONE = "none"
"""The words of a schedule in which nothing happens."""
_BETWEEN = ("from", "to")


@dataclass(frozen=True)
class Cut:
    """Packets between two groups of hosts are lost, without a word to either end; a link's other hosts go on.

    Attributes
    ----------
    hosts, others : tuple of str
        The two groups.
    one_way : bool
        Whether only packets from `hosts` to `others` are lost.
    """

    hosts: tuple[str, ...]
    others: tuple[str, ...]
    one_way: bool = False

    @property
    def lost(self) -> frozenset[tuple[str, str]]:
        """Pairs (sender, receiver) whose packets are lost."""
        there = {(one, other) for one in self.hosts for other in self.others}
        return frozenset(there if self.one_way else there | {(other, one) for one, other in there})

    def __str__(self) -> str:
        return f"cut {', '.join(self.hosts)} {'to' if self.one_way else 'from'} {', '.join(self.others)}"


@dataclass(frozen=True)
class Heal:
    """All cuts end."""

    def __str__(self) -> str:
        return "heal"


@dataclass(frozen=True)
class Deed:
    """A service's program is killed, started again, paused or resumed.

    Attributes
    ----------
    verb : str
        "kill" (SIGKILL to all its processes), "start" (with the files that it left), "pause" (SIGSTOP) or "resume" (SIGCONT).
    service : str
        Its label, such as "redis-db"; its name or its host's, if no other service has that.
    """

    verb: str
    service: str

    def __str__(self) -> str:
        return f"{self.verb} {self.service}"


Action = Cut | Heal | Deed


@dataclass(frozen=True)
class Fault:
    """One step: at `at` seconds something breaks, or is mended."""

    at: float
    action: Action

    def __str__(self) -> str:
        return f"{self.action} at {shown(self.at)}"


@dataclass(frozen=True)
class Faults:
    """What breaks and is mended, in the order of the times.

    Attributes
    ----------
    steps : tuple of Fault
        None if nothing happens.
    """

    steps: tuple[Fault, ...]

    @classmethod
    def parse(cls, steps: Mapping[str, str | Sequence[str]] | str) -> Faults:
        """Read faults.

        Parameters
        ----------
        steps : mapping of str to str or list of str, or str
            By its time, such as "4.2s", what happens: "cut a, b from c" (both ways), "cut a to c" (only what a sends to c),
            "heal" (all cuts end), "kill db", "start db", "pause db", "resume db". Or all of it as one line, as it is printed:
            "cut a from c at 4.2 s; heal at 9 s", or "none".

        Returns
        -------
        Faults

        Raises
        ------
        UnitError, ConditionError
            A time or a step is wrong.

        Examples
        --------
        >>> print(Faults.parse({"4.2s": "cut b from a, c", "9s": ["heal", "kill c"], "9.5s": "start c"}))
        cut b from a, c at 4.2 s; heal at 9 s; kill c at 9 s; start c at 9.5 s
        >>> Faults.parse("heal at 9 s; cut b from c at 4.2 s").to_json()
        [{'at_s': 4.2, 'do': 'cut b from c'}, {'at_s': 9.0, 'do': 'heal'}]
        """
        if isinstance(steps, str):
            return cls._of(_split(steps)) if steps.strip() != NONE else cls(())
        pairs = [(at, each) for at, given in steps.items() for each in _several(given)]
        if not pairs:
            raise ConditionError("faults without a step", fix='write them like {"5s": "cut db from web", "6s": "heal"}')
        return cls._of(pairs)

    @classmethod
    def _of(cls, pairs: Iterable[tuple[str, Any]]) -> Faults:
        found = []
        for at, do in pairs:
            try:
                found.append(Fault(duration(at), _action(do)))
            except (UnitError, ConditionError) as error:
                raise type(error)(error.what, f"step '{at}' of the faults", error.fix) from None
        return cls(tuple(sorted(found, key=lambda each: each.at)))

    def check(self, hosts: Iterable[str], services: Mapping[str, str]) -> None:
        """Check that each step names what is there and changes something.

        Parameters
        ----------
        hosts : iterable of str
            Names of the network's hosts.
        services : mapping of str to str
            What the steps may call a service, and its label; all of them run.

        Raises
        ------
        ConditionError
            A step names no host or service, cuts what is cut, heals what is whole, or does to a service what cannot be done to
            it by then.
        """
        now = _State(frozenset(hosts), services, dict.fromkeys(services.values(), "runs"))
        for step in self.steps:
            now.follow(step)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the steps.

        Returns
        -------
        list of dict
            Each {"at_s": seconds, "do": words}.
        """
        return [{"at_s": round(each.at, 9), "do": str(each.action)} for each in self.steps]

    def together(self) -> Iterator[tuple[float, tuple[Action, ...]]]:
        """Yield each time at which there are steps, with their actions.

        Yields
        ------
        tuple of float and tuple
            Seconds, and the actions in their order.
        """
        for at, steps in groupby(self.steps, key=lambda each: each.at):
            yield at, tuple(each.action for each in steps)

    def __str__(self) -> str:
        return "; ".join(map(str, self.steps)) or NONE


def shown(seconds: float) -> str:
    """Return a time as it is read again: with all its digits."""
    short = show_duration(seconds)
    return short if duration(short) == seconds else f"{seconds:.9f}".rstrip("0") + " s"


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yield the time and the words of each step of a line. Raises ConditionError."""
    for part in text.split(";"):
        do, at, when = part.strip().rpartition(" at ")
        if not at:
            raise ConditionError(f"'{part.strip()}' has no time", "in the faults", 'write "kill db at 4 s; start db at 5 s"')
        yield when, do


def _action(text: Any) -> Action:
    if not isinstance(text, str):
        raise ConditionError(f"{text!r} is not a fault", fix=f"write {HOW}")
    words = text.replace(",", " ").split()
    match words:
        case ["heal"]:
            return Heal()
        case [verb, service] if verb in VERBS:
            return Deed(verb, service)
        case ["cut", *rest] if sum(rest.count(each) for each in _BETWEEN) == 1:
            (middle,) = (number for number, word in enumerate(rest) if word in _BETWEEN)
            return _cut(tuple(rest[:middle]), tuple(rest[middle + 1 :]), one_way=rest[middle] == "to")
    raise ConditionError(f"'{text}' is not a fault", fix=f"write {HOW}")


def _cut(hosts: tuple[str, ...], others: tuple[str, ...], *, one_way: bool) -> Cut:
    if not hosts or not others:
        raise ConditionError("a cut needs hosts on both sides", fix="write it like: cut db from web, client")
    if both := sorted({*hosts} & {*others}):
        raise ConditionError(f"'{both[0]}' stands on both sides of a cut", fix="leave it out on one of them")
    if len({*hosts, *others}) < len(hosts) + len(others):
        raise ConditionError("a cut names a host twice", fix="name each host once")
    return Cut(hosts, others, one_way)


_NEEDS: Mapping[str, tuple[str, str]] = {
    "kill": ("runs paused", "is dead"), "start": ("dead", "runs"), "pause": ("runs", "does not run"),
    "resume": ("paused", "is not paused"),
}  # fmt: skip
"""For each verb the states in which it can be done, and what is said in the others."""
_AFTER: Mapping[str, str] = {"kill": "dead", "start": "runs", "pause": "paused", "resume": "runs"}


@dataclass
class _State:
    """What is cut, and how the services are, after some steps."""

    hosts: frozenset[str]
    names: Mapping[str, str]
    services: dict[str, str]
    lost: frozenset[tuple[str, str]] = frozenset()

    def follow(self, step: Fault) -> None:
        where = f"the faults' step at {shown(step.at)}"
        action = step.action
        if isinstance(action, Cut):
            self._cut(action, where)
        elif isinstance(action, Heal):
            if not self.lost:
                raise ConditionError("nothing is cut that 'heal' could mend", where, "leave it out, or cut something before it")
            self.lost = frozenset()
        else:
            self._do(action, where)

    def _cut(self, cut: Cut, where: str) -> None:
        for name in (*cut.hosts, *cut.others):
            if name not in self.hosts:
                raise ConditionError(f"no host '{name}'", where, nearest(name, self.hosts))
        if again := sorted(cut.lost & self.lost):
            raise ConditionError(f"{again[0][0]} is cut from {again[0][1]} already", where, "heal before, or cut other hosts")
        self.lost |= cut.lost

    def _do(self, deed: Deed, where: str) -> None:
        label = self.names.get(deed.service)
        if label is None:
            fix = nearest(deed.service, self.names) if self.names else "give it: net.faults(steps, service)"
            raise ConditionError(f"no service '{deed.service}'", where, fix)
        possible, otherwise = _NEEDS[deed.verb]
        if self.services[label] not in possible.split():
            raise ConditionError(f"'{deed}', but {deed.service} {otherwise} by then", where, "correct the order of the steps")
        self.services[label] = _AFTER[deed.verb]
