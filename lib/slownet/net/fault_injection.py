"""Faults on a running network, at their times: between hosts, and of services and their disks.

Of a host its names may be gone and its packets corrupted; of a service the processor may be slow.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from slownet.lab.host import native, owner
from slownet.links.conditions.oneway import OneWay
from slownet.links.faults import SLOW, Action, Cut, Faults, Heal, HostFault, Mtu, Reset, ServiceFault
from slownet.model.errors import ConditionError, NetworkError
from slownet.model.options import TDF
from slownet.net import limited, nft
from slownet.net.addresses import ipv6
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

    def repair(self) -> None: ...


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
            undone.callback(self._repair)
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
        """Apply it; return what to report besides its text."""
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
            self._slowed.pop(label).repair()

    def _of_host(self, action: HostFault) -> None:
        host = self._hosts[action.host]
        if action.verb == "corrupt":
            self._corrupted[action.host] = Corrupted(self._links(action.host), action.share)
        elif action.verb == "stop-corrupting":
            self._corrupted.pop(action.host).repair()
        elif action.verb == "lose-names":
            self._nameless.add(action.host)
            lose_names(host, str(action))
        else:
            find_names(host)
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
            disk.repair()
        self._broken_disks = self._broken_disks - {disk} if fault.verb == "repair-disk" else self._broken_disks | {disk}

    def _lose(self, lost: frozenset[tuple[str, str]]) -> None:
        """Make the receivers of these pairs, and no others, lose what the senders sent."""
        changed = {receiver for _, receiver in lost ^ self._lost}
        self._lost = lost
        for name in sorted(changed):
            senders = [self._hosts[sender] for sender, receiver in sorted(lost) if receiver == name]
            drop(self._hosts[name], [each for sender in senders for each in addresses(sender)])

    def _repair(self) -> None:
        """End all cuts, pauses and disk faults, and restore MTUs; killed services stay down."""
        self._lose(frozenset())
        for label in sorted(self._paused):
            self._services[label].resume()
        self._paused = set()
        for host, sizes in self._mtus.items():
            set_mtus(self._hosts[host], sizes)
        self._mtus = {}
        for disk in self._broken_disks:
            disk.repair()
        self._broken_disks = frozenset()
        for name in sorted(self._nameless):
            find_names(self._hosts[name])
        for corrupted in self._corrupted.values():
            corrupted.repair()
        for slowed in self._slowed.values():
            slowed.repair()
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
    """Return the names of services with their labels: a name that two share counts only if it is the label of one."""
    found: dict[str, set[str]] = {}
    own = {each.label: each.label for each in services}
    for each in services:
        for name in (each.name, each.host.name):
            found.setdefault(name, set()).add(each.label)
    return {name: next(iter(labels)) for name, labels in found.items() if len(labels) == 1} | own


NAMES_TABLE = "slownet_names"
PORTS = "{ 53, 853 }"
"""Of name servers: over UDP and TCP, and over TLS."""
SHORTEST_US, PERIOD_US, LONGEST_US = limited.SHORTEST_QUOTA_US, 100_000, 1_000_000
"""Microseconds: the shortest quota of a processor, the usual period and the longest one."""
MOVES_S = 2.0


def servers(host: Any) -> list[str]:
    """Return the addresses of the name servers that a host asks."""
    lines = run(host, ["cat", "/etc/resolv.conf"], check=False).stdout.splitlines()
    return [words[1] for words in map(str.split, lines) if words[:1] == ["nameserver"] and len(words) > 1]


def lose_names(host: Any, where: str) -> None:
    """Make a host lose the answers of all name servers, as if they were gone; read back what it does.

    A server on the host itself answers what it knows, and gets no answer from others. Raises ConditionError if the host asks
    none, ToolError, NetworkError.
    """
    if not servers(host):
        what = f"'{where}', but {host.name} asks no name server: its names are in /etc/hosts"
        raise ConditionError(what, fix="start one before, such as Names or Unbound, or cut the host")
    nft.commands(host, [
        f"add table inet {NAMES_TABLE}",
        f"add chain inet {NAMES_TABLE} answers {{ type filter hook input priority -400; }}",
        *(f'add rule inet {NAMES_TABLE} answers iifname != "lo" {kind} sport {PORTS} drop' for kind in ("udp", "tcp")),
    ])  # fmt: skip
    if nft.commands(host, [f"list table inet {NAMES_TABLE}"]).count("drop") != 2:
        fix = "see that no other program changes this host's nftables meanwhile"
        raise NetworkError("the kernel does not lose the answers of name servers", f"host '{host.name}'", fix)


def find_names(host: Any) -> None:
    """Let the answers of name servers reach a host again. Raises ToolError."""
    nft.commands(host, [f"add table inet {NAMES_TABLE}", f"delete table inet {NAMES_TABLE}"])


class Corrupted:
    """The links of a host, whose packets are corrupted by netem in both directions; their other conditions stay."""

    def __init__(self, links: Iterable[Link], share: float) -> None:
        """Raises NetworkError, ConditionError."""
        self._before: list[tuple[Link, tuple[OneWay, OneWay]]] = []
        try:
            for link in links:
                if link.is_playing:
                    raise NetworkError(f"a schedule is playing on {link.name}", fix="put corrupt into that schedule's steps")
                before = link.directions
                now = link.condition
                link.apply(link.seeded(now.but(corrupt=f"{100 * share:.6g}%")), now)
                self._before.append((link, before))
        except BaseException:
            self.repair()
            raise

    def repair(self) -> None:
        """Give the links what they had before. Raises NetworkError."""
        for link, before in self._before:
            link.apply_directions(before)
        self._before = []


class SlowCpu:
    """A cgroup of a service's processes, which get a part of a processor: cpu.max of cgroup v2."""

    def __init__(self, label: str, processes: Callable[[], Sequence[int]], share: float) -> None:
        """Raises NetworkError."""
        limited.want("cpu")
        self._processes = processes
        self._group = limited.CGROUPS / f"slownet.{owner.this().mark}.slow-{label}"
        self._home: Path | None = None
        self._group.mkdir()
        period = min(LONGEST_US, max(PERIOD_US, round(SHORTEST_US / share)))
        wanted = f"{max(SHORTEST_US, round(share * period))} {period}"
        try:
            (self._group / "cpu.max").write_text(wanted)
            if (found := (self._group / "cpu.max").read_text().strip()) != wanted:
                raise NetworkError(
                    f"the kernel limits the CPU to {found} instead of {wanted}", f"service '{label}'", "give another share"
                )
            self.join()
        except BaseException:
            self.repair()
            raise

    def join(self) -> None:
        """Put all processes of the service into the group: those that it started since, too. Raises NetworkError."""
        deadline = time.monotonic() + MOVES_S
        while outside := [each for each in self._processes() if _group_of(each) not in (None, self._group)]:
            if time.monotonic() > deadline:
                raise NetworkError(
                    f"process {outside[0]} does not move into {self._group.name}",
                    fix="see whether it waits for a disk (ps -o stat,wchan)",
                )
            for each in outside:
                self._home = self._home or _group_of(each)
                _move(each, self._group)

    def repair(self) -> None:
        """Give the processes a whole processor again. Raises NetworkError."""
        if not self._group.exists():
            return
        (self._group / "cpu.max").write_text("max")
        for each in (self._group / "cgroup.procs").read_text().split():
            _move(int(each), self._home or limited.CGROUPS)
        limited.delete(self._group)


def _group_of(process: int) -> Path | None:
    """Return a process's cgroup; None if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                return limited.CGROUPS / line[len("0::/") :]
    return None


def _move(process: int, group: Path) -> None:
    with suppress(ProcessLookupError):
        (group / "cgroup.procs").write_text(str(process))
