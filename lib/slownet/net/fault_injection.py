"""Faults on a running network, at their times: between hosts, and of services and their disks."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from slownet.lab.host import native
from slownet.links.faults import SLOW, Action, Cut, Faults, Heal, HostFault, Mtu, Reset, ServiceFault
from slownet.model.errors import ConditionError, NetworkError
from slownet.model.options import TDF
from slownet.net import host_faults, nft
from slownet.net.addresses import ipv6
from slownet.net.host_faults import Corrupted, SlowCpu
from slownet.net.network_link import Link
from slownet.net.play import Played, Timed
from slownet.net.process import Host
from slownet.net.tool import run

TABLE = "slownet_faults"
NAME = "faults"
"""The name of their steps in records."""


class BreakableDisk(Protocol):
    """The part of a service's disk that is used here; see `slownet.services.faulty_disk.Disk`."""

    def slow(self, seconds: float) -> None: ...

    def fail(self) -> None: ...

    def fill(self) -> None: ...

    def mend(self) -> None: ...


class Faulty(Protocol):
    """The part of a service that is used here; see `slownet.services.service.Service`."""

    name: str
    host: Host

    @property
    def label(self) -> str: ...

    @property
    def running(self) -> bool: ...

    @property
    def log(self) -> Path: ...

    def kill(self) -> None: ...

    def revive(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def crash(self) -> None: ...

    def processes(self) -> list[int]: ...

    @property
    def disk(self) -> BreakableDisk | None: ...


class PlayingFaults(Timed[tuple[Action, ...]]):
    """Faults that happen while a `with` lasts; see `Network.faults`.

    `start` is their start time on the monotonic clock.
    """

    def __init__(
        self, hosts: Sequence[Any], faults: Faults, services: Iterable[Any], log: list[Played],
        links: Callable[[str], Sequence[Link]] = lambda host: (),
    ) -> None:  # fmt: skip
        """links: returns those of a host."""
        super().__init__(NAME, log)
        self._links = links
        self._hosts = {host.name: host for host in hosts}
        self._faults = faults
        self._services = {each.label: each for each in _single(services)}
        self._lost: frozenset[tuple[str, str]] = frozenset()
        self._paused: set[str] = set()
        self._mtus: dict[str, Mapping[str, int]] = {}
        self._broken_disks: frozenset[BreakableDisk] = frozenset()
        self._nameless: set[str] = set()
        self._corrupted: dict[str, Corrupted] = {}
        self._slowed: dict[str, SlowCpu] = {}
        self._names = _names(self._services.values())

    @property
    def logs(self) -> Mapping[str, Path]:
        """The logs of the services, by their labels."""
        return {label: each.log for label, each in self._services.items()}

    def __enter__(self) -> Self:
        if self._thread is not None:
            raise NetworkError("these faults have happened already", fix="call net.faults() again")
        for service in self._services.values():
            if not service.running:
                raise NetworkError(f"{service.label} does not run", fix="start it before the faults begin")
        disks = [label for label, service in self._services.items() if service.disk]
        self._faults.check(self._hosts, self._names, disks)
        _check_cpu(self._faults)
        with ExitStack() as undone:
            undone.callback(self._mend)
            self._begin(self._faults.together())
            self._undone = undone.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        self._undone.close()
        self._raise(error)

    def _apply(self, step: tuple[Action, ...]) -> str:
        return "; ".join(f"{action}{self._do(action)}" for action in step)

    def _do(self, action: Action) -> str:
        """Do it; return what is to be said besides its words."""
        if isinstance(action, Cut):
            self._lose(self._lost | action.lost)
        elif isinstance(action, Heal):
            self._lose(frozenset())
        elif isinstance(action, Reset):
            return f" ({reset([self._hosts[each] for each in action.hosts], [self._hosts[each] for each in action.others])})"
        elif isinstance(action, Mtu):
            own = self._mtus.setdefault(action.host, mtus(self._hosts[action.host]))
            set_mtus(self._hosts[action.host], dict.fromkeys(own, action.size) if action.size else own)
        elif isinstance(action, HostFault):
            self._of_host(action)
        elif action.is_of_disk:
            self._serve_disk(action)
        elif action.is_of_cpu:
            self._serve_cpu(action)
        else:
            self._serve(action)
        return ""

    def _serve(self, fault: ServiceFault) -> None:
        label = self._names[fault.service]
        service = self._services[label]
        how: Mapping[str, Callable[[], None]] = {
            "kill": service.kill, "start": service.revive, "pause": service.pause, "resume": service.resume,
            "crash": service.crash,
        }  # fmt: skip
        how[fault.verb]()
        self._paused = self._paused | {label} if fault.verb == "pause" else self._paused - {label}
        if fault.verb == "start" and label in self._slowed:
            self._slowed[label].join()

    def _serve_cpu(self, fault: ServiceFault) -> None:
        label = self._names[fault.service]
        if fault.verb == "slow-cpu":
            self._slowed[label] = SlowCpu(label, self._services[label].processes, fault.share)
        else:
            self._slowed.pop(label).mend()

    def _of_host(self, action: HostFault) -> None:
        host = self._hosts[action.host]
        if action.verb == "corrupt":
            self._corrupted[action.host] = Corrupted(self._links(action.host), action.share)
        elif action.verb == "stop-corrupting":
            self._corrupted.pop(action.host).mend()
        elif action.verb == "lose-names":
            self._nameless.add(action.host)
            host_faults.lose_names(host, str(action))
        else:
            host_faults.find_names(host)
            self._nameless.discard(action.host)

    def _serve_disk(self, fault: ServiceFault) -> None:
        disk = self._services[self._names[fault.service]].disk
        assert disk, "checked before the first step"
        if fault.verb == SLOW:
            disk.slow(fault.delay)
        elif fault.verb == "fill-disk":
            disk.fill()
        elif fault.verb == "fail-disk":
            disk.fail()
        else:
            disk.mend()
        self._broken_disks = self._broken_disks - {disk} if fault.verb == "repair-disk" else self._broken_disks | {disk}

    def _lose(self, lost: frozenset[tuple[str, str]]) -> None:
        """Make the receivers of these pairs, and no others, lose what the senders sent."""
        changed = {receiver for _, receiver in lost ^ self._lost}
        self._lost = lost
        for name in sorted(changed):
            senders = [self._hosts[sender] for sender, receiver in sorted(lost) if receiver == name]
            drop(self._hosts[name], [each for sender in senders for each in addresses(sender)])

    def _mend(self) -> None:
        """End all cuts, pauses and troubles of disks, and restore MTUs; what was killed stays so."""
        self._lose(frozenset())
        for label in sorted(self._paused):
            self._services[label].resume()
        self._paused = set()
        for host, sizes in self._mtus.items():
            set_mtus(self._hosts[host], sizes)
        self._mtus = {}
        for disk in self._broken_disks:
            disk.mend()
        self._broken_disks = frozenset()
        for name in sorted(self._nameless):
            host_faults.find_names(self._hosts[name])
        for corrupted in self._corrupted.values():
            corrupted.mend()
        for slowed in self._slowed.values():
            slowed.mend()
        self._nameless, self._corrupted, self._slowed = set(), {}, {}


def _check_cpu(faults: Faults) -> None:
    """Raise ConditionError for a slow processor where computing takes no time: nothing would change."""
    slow = next((step for step in faults.steps if isinstance(step.action, ServiceFault) and step.action.is_of_cpu), None)
    if slow and native.cpu_is_free():
        what = f"'{slow}' changes nothing: computing takes no time on this clock"
        raise ConditionError(what, fix=f"run with {TDF.set(1)}, or pause the service")


def drop(host: Any, sources: Sequence[str]) -> None:
    """Make a host lose all packets from these addresses that are for itself, and no others; read back what it does.

    Raises ToolError, NetworkError.
    """
    lines = [f"add table inet {TABLE}", f"delete table inet {TABLE}"]
    for kind, is_wide in (("ip", False), ("ip6", True)):
        if own := [each for each in sources if (":" in each) is is_wide]:
            lines += [
                f"add table inet {TABLE}",
                f"add chain inet {TABLE} from_{kind} {{ type filter hook input priority -400; }}",
                f"add rule inet {TABLE} from_{kind} {kind} saddr {{ {', '.join(own)} }} drop",
            ]
    nft.commands(host, lines)
    shown = nft.commands(host, [f"list table inet {TABLE}"]) if sources else ""
    if missing := [each for each in sources if each not in shown]:
        fix = "see that no other program changes this host's nftables meanwhile"
        raise NetworkError(f"the kernel does not lose packets from {missing[0]}", f"host '{host.name}'", fix)


def reset(hosts: Sequence[Any], others: Sequence[Any]) -> str:
    """Let hosts reset all their TCP connections with others; return how many there were, as text.

    The kernel of each of `hosts` ends them at once, and tells the other end by a segment that travels as any other.
    Raises ToolError, NetworkError.
    """
    match = " or ".join(f"dst {_bracketed(address)}" for other in others for address in addresses(other))
    found = 0
    for host in hosts:
        before = _connections(host, match)
        found += len(before)
        run(host, ["ss", "-HKtn", "state", "connected", f"( {match} )"])
        if left := [each for each in _connections(host, match) if each in before]:
            fix = "use a kernel with CONFIG_INET_DIAG_DESTROY: a lab's has it"
            raise NetworkError(f"the kernel does not reset {left[0]}", f"host '{host.name}'", fix)
    return f"{found} connection{'' if found == 1 else 's'}"


def _connections(host: Any, match: str) -> list[str]:
    """Return local and far address of a host's TCP connections with the addresses of a filter of ss's."""
    lines = run(host, ["ss", "-Htn", "state", "connected", f"( {match} )"]).stdout.splitlines()
    return [" to ".join(line.split()[-2:]) for line in lines if not line.startswith("TIME-WAIT")]


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def mtus(host: Any) -> dict[str, int]:
    """Return the MTUs of a host's interfaces by their names."""
    return {interface.name: _mtu_of(host, interface.name) for interface in host.intfList()}


def set_mtus(host: Any, sizes: Mapping[str, int]) -> None:
    """Give a host's interfaces MTUs, and read them back. Raises ToolError, NetworkError."""
    for name, size in sizes.items():
        run(host, ["ip", "link", "set", name, "mtu", str(size)])
        if (found := _mtu_of(host, name)) != size:
            fix = "give one that this kind of interface can have"
            raise NetworkError(f"the kernel keeps an MTU of {found} instead of {size}", f"{name} of host '{host.name}'", fix)


def _mtu_of(host: Any, name: str) -> int:
    (link,) = json.loads(run(host, ["ip", "-json", "link", "show", "dev", name]).stdout)
    return int(link["mtu"])


def addresses(host: Any) -> list[str]:
    """Return a host's addresses on all its interfaces, IPv4 and IPv6."""
    return [*(interface.IP() for interface in host.intfList() if interface.IP()), *ipv6(host)]


def _single(services: Iterable[Any]) -> Iterator[Faulty]:
    """Yield the services one by one: some consist of several."""
    for each in services:
        for one in each.servers if hasattr(each, "servers") else [each]:
            if not hasattr(one, "label"):
                what = repr(one) if isinstance(one, str) else f"a {type(one).__name__}"
                fix = "give the service itself: net.faults(steps, service)"
                raise ConditionError(f"{what} is not a service", "in the faults", fix)
            yield one


def _names(services: Collection[Faulty]) -> Mapping[str, str]:
    """Return the names of services with their labels: a name of two does not count, unless it is the label of one."""
    found: dict[str, set[str]] = {}
    own = {each.label: each.label for each in services}
    for each in services:
        for name in (each.name, each.host.name):
            found.setdefault(name, set()).add(each.label)
    return {name: next(iter(labels)) for name, labels in found.items() if len(labels) == 1} | own
