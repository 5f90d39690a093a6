"""Faults: what breaks between hosts and on them, and when, for `net.faults`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from slownet.model.errors import ConditionError, UnitError, nearest
from slownet.model.units import duration, show_duration

SERVICE, DISK, CPU, HOST = "service", "disk", "CPU", "host"
"""The targets of verbs: a service, its disk or processor, or a host."""


@dataclass(frozen=True)
class Verb:
    """The actions on one service or host.

    about: `SERVICE`, `DISK`, `CPU` or `HOST`.
    when: the states of its subject where it can be done.
    otherwise: the subject's description in the others.
    after: the state that it leaves; empty if that is the one before, because it is over at once.
    undo: the verb that repairs what it breaks; empty if it repairs something itself.
    amount: how much, where that has to be given, as it is usual: a hunt takes this one unless another one is given.
    needs_disk: whether the service needs a disk of its own.
    """

    about: str
    when: tuple[str, ...]
    otherwise: str
    after: str
    undo: str = ""
    amount: str = ""
    needs_disk: bool = False


SLOW = "slow-disk"
_ROWS: Mapping[str, Verb] = {
    "kill": Verb(SERVICE, ("runs", "paused"), "is dead", "dead", "start"),
    "start": Verb(SERVICE, ("dead",), "runs", "runs"),
    "pause": Verb(SERVICE, ("runs",), "does not run", "paused", "resume"),
    "resume": Verb(SERVICE, ("paused",), "is not paused", "runs"),
    "crash": Verb(SERVICE, ("runs", "paused"), "is dead", "dead", "start", needs_disk=True),
    "fill-disk": Verb(DISK, ("whole",), "is not whole", "full", "repair-disk", needs_disk=True),
    "fail-disk": Verb(DISK, ("whole",), "is not whole", "failing", "repair-disk", needs_disk=True),
    SLOW: Verb(DISK, ("whole",), "is not whole", "slow", "repair-disk", "20ms", needs_disk=True),
    "slow-cpu": Verb(CPU, ("whole",), "is not whole", "slow", "restore-cpu", "10%"),
    "lose-names": Verb(HOST, ("whole",), "are not whole", "lost", "restore-names"),
    "corrupt": Verb(HOST, ("whole",), "are not whole", "corrupted", "stop-corrupting", "5%"),
    "mtu": Verb(HOST, ("whole", "changed"), "", "changed", "restore-mtu", "1280"),
    "restore-mtu": Verb(HOST, ("changed",), "is as it was", "whole"),
}
"""A row for each, without repairs that only make whole what was."""


def _with_repairs(rows: Mapping[str, Verb]) -> Mapping[str, Verb]:
    """Return the rows with one more for each repair that has none, behind the last fault that it undoes."""
    made = {}
    for verb, each in rows.items():
        made[verb] = each
        alike = [other for other in rows.values() if other.undo == each.undo]
        if each.undo and each.undo not in rows and each is alike[-1]:
            states, otherwise = tuple(other.after for other in alike), "are whole" if each.about == HOST else "is whole"
            made[each.undo] = Verb(each.about, states, otherwise, "whole", needs_disk=each.needs_disk)
    return made


VERBS = _with_repairs(_ROWS)
"""All that can be done to one service or host."""
_OF_HOSTS = (f'"{verb} HOST {each.amount}'.rstrip() + '"' for verb, each in VERBS.items() if each.about == HOST)
_WITH_AMOUNT = (f'"{verb} SERVICE {each.amount}"' for verb, each in VERBS.items() if each.about != HOST and each.amount)
_OTHERS = [verb for verb, each in VERBS.items() if each.about != HOST and not each.amount]
HOW = (
    '"cut HOSTS from HOSTS", "cut HOSTS to HOSTS", "heal", "reset HOSTS from HOSTS", '
    f"{', '.join((*_OF_HOSTS, *_WITH_AMOUNT))}, or {', '.join(_OTHERS[:-1])} or {_OTHERS[-1]} with a service"
)
SMALLEST_SHARE = 0.001
"""Of a processor: Linux gives 1 ms at least, of 1 s at most."""
SMALLEST_MTU, LARGEST_MTU = 68, 65535
"""Bytes: of IPv4 the least (RFC 791), and the most."""
NONE = "none"
"""The words of a schedule where nothing happens."""
_BETWEEN = ("from", "to")


@dataclass(frozen=True)
class Cut:
    """Packets between two groups of hosts are lost, without a word to either end; a link's other hosts go on.

    hosts, others: the two groups.
    one_way: whether only packets from `hosts` to `others` are lost.
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
class Reset:
    """Hosts reset all their TCP connections with others, once; new ones can be made.

    hosts: those that reset: their programs get ECONNABORTED.
    others: those that get a segment, on its way as any other: their programs get ECONNRESET.
    """

    hosts: tuple[str, ...]
    others: tuple[str, ...]

    def __str__(self) -> str:
        return f"reset {', '.join(self.hosts)} from {', '.join(self.others)}"


@dataclass(frozen=True)
class Mtu:
    """A host's interfaces get another MTU: it sends no larger packets, and takes none; or they get their own back.

    host: its name.
    size: bytes; 0 for those that they had.
    """

    host: str
    size: int = 0

    @property
    def verb(self) -> str:
        """The action."""
        return "mtu" if self.size else "restore-mtu"

    @property
    def subject(self) -> str:
        """The changed state, as a key."""
        return f"{self.host}'s MTU"

    def __str__(self) -> str:
        return f"mtu {self.host} {self.size}" if self.size else f"restore-mtu {self.host}"


@dataclass(frozen=True)
class ServiceFault:
    """A service's program is killed, started again, paused or resumed, or something happens to its disk.

    verb: "kill" (SIGKILL to all its processes), "start" (with the files that it left), "pause" (SIGSTOP), "resume" (SIGCONT);
        "crash" (killed, and what its disk had not written is lost), "fill-disk", "fail-disk" (writes are refused), "slow-disk"
        or "repair-disk"; "slow-cpu" or "restore-cpu".
    service: its label, such as "redis-db"; its name or its host's, if no other service has that.
    delay: seconds that each access to a slow disk waits; 0 for other verbs.
    share: the part of a processor that is left with "slow-cpu"; 0 for other verbs.
    """

    verb: str
    service: str
    delay: float = 0.0
    share: float = 0.0

    @property
    def is_of_disk(self) -> bool:
        """True if it happens to the disk, and the program goes on."""
        return VERBS[self.verb].about == DISK

    @property
    def is_of_cpu(self) -> bool:
        """True if it happens to the processor, and the program goes on."""
        return VERBS[self.verb].about == CPU

    @property
    def subject(self) -> str:
        """The target, as a key: the service, its disk or its processor."""
        return f"{self.service}'s disk" if self.is_of_disk else f"{self.service}'s CPU" if self.is_of_cpu else self.service

    @property
    def before(self) -> str:
        """The state before the first step: a service runs, its parts are whole."""
        return "runs" if VERBS[self.verb].about == SERVICE else "whole"

    def __str__(self) -> str:
        more = shown(self.delay) if self.delay else f"{100 * self.share:.6g}%" if self.share else ""
        return f"{self.verb} {self.service} {more}".rstrip()


@dataclass(frozen=True)
class HostFault:
    """A host gets no answer from name servers, or packets on its links are corrupted; or that is over.

    verb: "lose-names" or "restore-names" (it still knows what is in its /etc/hosts); "corrupt" (of a packet, one bit is
        flipped) or "stop-corrupting".
    host: its name.
    share: the part of the packets that is corrupted, in each direction; 0 for other verbs.
    """

    verb: str
    host: str
    share: float = 0.0

    @property
    def subject(self) -> str:
        """The target, as a key."""
        return f"{self.host}'s {'names' if self.verb.endswith('names') else 'packets'}"

    def __str__(self) -> str:
        return f"{self.verb} {self.host}" + (f" {100 * self.share:.6g}%" if self.share else "")


Action = Cut | Heal | Reset | Mtu | ServiceFault | HostFault


@dataclass(frozen=True)
class Fault:
    """One step: at `at` seconds something breaks, or is repaired."""

    at: float
    action: Action

    def __str__(self) -> str:
        return f"{self.action} at {shown(self.at)}"


@dataclass(frozen=True)
class Faults:
    """Faults and repairs, in the order of their times.

    Attributes
    ----------
    steps : tuple of Fault
        None if nothing happens.
    """

    steps: tuple[Fault, ...]

    @classmethod
    def parse(cls, steps: Mapping[str, str | Sequence[str]] | Sequence[str] | str) -> Faults:
        """Read faults.

        Parameters
        ----------
        steps : mapping of str to str or list of str, or str, or list of str
            By its time, such as "4.2s", what happens: "cut a, b from c" (both ways), "cut a to c" (only what a sends to c),
            "heal" (all cuts end), "reset a from b" (a resets its TCP connections with b), "mtu a 1280", "restore-mtu a";
            "kill db", "start db", "pause db", "resume db"; and, if the service has a disk of its own, "crash db" (what was not
            written is lost), "fill-disk db", "fail-disk db" (writes are refused), "slow-disk db 20ms", "repair-disk db";
            "slow-cpu db 10%", "restore-cpu db"; "corrupt db 5%", "stop-corrupting db", "lose-names web",
            "restore-names web". Or all of it as one line, as it is printed: "cut a from c at 4.2 s; heal at 9 s", or "none"; or
            a list of such steps.

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
        if isinstance(steps, list | tuple) and steps and all(isinstance(each, str) for each in steps):
            steps = "; ".join(steps)  # as in compose files
        if isinstance(steps, str):
            return cls._of(_split(steps)) if steps.strip() != NONE else cls(())
        if not isinstance(steps, Mapping):
            what = f"faults are of type {type(steps).__name__}"
            raise ConditionError(what, fix='write them like {"5s": "cut db from web", "6s": "heal"}')
        pairs = [(at, each) for at, given in steps.items() for each in _several(given)]
        if not pairs:
            raise ConditionError("faults without steps", fix='write them like {"5s": "cut db from web", "6s": "heal"}')
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

    def check(self, hosts: Iterable[str], services: Mapping[str, str], disks: Iterable[str] = ()) -> None:
        """Check that each step names what is there and changes something.

        Parameters
        ----------
        hosts : iterable of str
            Names of the network's hosts.
        services : mapping of str to str
            What the steps may call a service, and its label; all of them run.
        disks : iterable of str
            Labels of the services that have a disk of their own.

        Raises
        ------
        ConditionError
            A step names no host or service, cuts what is cut, heals what is whole, or does to a service what cannot be done to
            it by then.
        """
        now = _State(frozenset(hosts), services, dict.fromkeys(services.values(), "runs"), dict.fromkeys(disks, "whole"))
        for step in self.steps:
            now.follow(step)

    @property
    def services(self) -> frozenset[str]:
        """The names that the steps use for the services."""
        return frozenset(each.action.service for each in self.steps if isinstance(each.action, ServiceFault))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the steps.

        Returns
        -------
        list of dict
            Each {"at_s": seconds, "do": words}.
        """
        return [{"at_s": round(each.at, 9), "do": str(each.action)} for each in self.steps]

    def together(self) -> Iterator[tuple[float, tuple[Action, ...]]]:
        """Yield each time when there are steps, with their actions.

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
    if found := _of_one(words):
        return found
    match words:
        case ["heal"]:
            return Heal()
        case ["cut" | "reset" as verb, *rest] if sum(rest.count(each) for each in _BETWEEN) == 1:
            (middle,) = (number for number, word in enumerate(rest) if word in _BETWEEN)
            hosts, others = _sides(verb, tuple(rest[:middle]), tuple(rest[middle + 1 :]))
            if verb == "cut":
                return Cut(hosts, others, one_way=rest[middle] == "to")
            if rest[middle] == "from":
                return Reset(hosts, others)
    raise ConditionError(f"'{text}' is not a fault", fix=f"write {HOW}")


def _of_one(words: list[str]) -> Action | None:
    """Return what happens to one service or host, if the words state that."""
    match words:
        case ["mtu", host, size]:
            return Mtu(host, _mtu(size))
        case ["restore-mtu", host]:
            return Mtu(host)
        case [verb, service, *delay] if verb == SLOW:
            return ServiceFault(verb, service, _delay(" ".join(delay)))
        case [verb, name, *share] if verb != "mtu" and verb in VERBS and bool(share) <= bool(VERBS[verb].amount):
            part = _share(verb, "".join(share)) if VERBS[verb].amount else 0.0
            return HostFault(verb, name, part) if VERBS[verb].about == HOST else ServiceFault(verb, name, share=part)
    return None


def _delay(text: str) -> float:
    fix = 'write "slow-disk db 20ms"'
    if not text:
        raise ConditionError("a slow disk needs the time that each access waits", fix=fix)
    seconds = duration(text)
    if round(1000 * seconds) < 1 or abs(1000 * seconds - round(1000 * seconds)) > 1e-9:
        raise ConditionError(f"a disk cannot be slow by '{text}'", fix=f"give whole milliseconds, at least 1: {fix}")
    return seconds


def _share(verb: str, text: str) -> float:
    found = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)%", text)
    share = float(found[1]) / 100 if found else 0.0
    if not 0 < share <= 1 or (verb == "slow-cpu" and not SMALLEST_SHARE <= share < 1):
        least, most = ("0.1%", "below 100%") if verb == "slow-cpu" else ("above 0%", "100%")
        raise ConditionError(f"'{text}' is not a percentage for {verb}", fix=f"give one from {least} to {most}: {verb} db 10%")
    return share


def _mtu(text: str) -> int:
    if not text.isdecimal() or not SMALLEST_MTU <= int(text) <= LARGEST_MTU:
        raise ConditionError(f"'{text}' is not an MTU", fix=f"give bytes, {SMALLEST_MTU} to {LARGEST_MTU}: mtu db 1280")
    return int(text)


def _sides(verb: str, hosts: tuple[str, ...], others: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not hosts or not others:
        raise ConditionError(f"'{verb}' needs hosts on both sides", fix=f"write it like: {verb} db from web, client")
    if both := sorted({*hosts} & {*others}):
        raise ConditionError(f"'{both[0]}' is on both sides of '{verb}'", fix="leave it out on one of them")
    if len({*hosts, *others}) < len(hosts) + len(others):
        raise ConditionError(f"'{verb}' names a host twice", fix="name each host once")
    return hosts, others


def possible(action: ServiceFault | HostFault | Mtu, state: str) -> bool:
    """Return whether it can be done to a service, or a part of it or of a host, that is in this state."""
    return state in VERBS[action.verb].when


@dataclass
class _State:
    """The cuts and the states of the services after some steps."""

    hosts: frozenset[str]
    names: Mapping[str, str]
    services: dict[str, str]
    disks: dict[str, str]
    lost: frozenset[tuple[str, str]] = frozenset()
    parts: dict[str, str] = field(default_factory=dict)
    """The impaired hosts and processors, by subject."""

    def follow(self, step: Fault) -> None:
        where = f"the faults' step at {shown(step.at)}"
        action = step.action
        if isinstance(action, Cut):
            self._cut(action, where)
        elif isinstance(action, Heal):
            if not self.lost:
                raise ConditionError("nothing is cut that 'heal' could undo", where, "leave it out, or cut something before it")
            self.lost = frozenset()
        elif isinstance(action, Reset):
            self._known((*action.hosts, *action.others), where)
        elif isinstance(action, HostFault | Mtu):
            self._known([action.host], where)
            self._change(action, self.parts, action.subject, where)
        else:
            self._do(action, where)

    def _known(self, hosts: Iterable[str], where: str) -> None:
        for name in hosts:
            if name not in self.hosts:
                raise ConditionError(f"no host '{name}'", where, nearest(name, self.hosts))

    def _cut(self, cut: Cut, where: str) -> None:
        self._known((*cut.hosts, *cut.others), where)
        if again := sorted(cut.lost & self.lost):
            raise ConditionError(f"{again[0][0]} is cut from {again[0][1]} already", where, "heal before, or cut other hosts")
        self.lost |= cut.lost

    def _do(self, fault: ServiceFault, where: str) -> None:
        label = self.names.get(fault.service)
        if label is None:
            fix = nearest(fault.service, self.names) if self.names else "give it: net.faults(steps, service)"
            raise ConditionError(f"no service '{fault.service}'", where, fix)
        if label not in self.disks and VERBS[fault.verb].needs_disk:
            fix = 'give it one before it starts: on_disk("256MB")'
            raise ConditionError(f"'{fault}', but {fault.service} has no disk of its own", where, fix)
        states = self.disks if fault.is_of_disk else self.parts if fault.is_of_cpu else self.services
        self._change(fault, states, label, where)

    def _change(self, action: ServiceFault | HostFault | Mtu, states: dict[str, str], key: str, where: str) -> None:
        if not possible(action, states.get(key, "whole")):
            what = f"{action.subject} {VERBS[action.verb].otherwise} by then"
            raise ConditionError(f"'{action}', but {what}", where, "correct the order of the steps")
        states[key] = VERBS[action.verb].after or states.get(key, "whole")
