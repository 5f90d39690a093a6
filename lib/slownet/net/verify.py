"""Verifies a link's condition with a ping across it, as the articles' authors did before they measured."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.lab.host import native
from slownet.links.conditions.link import ETHERNET, ROWS
from slownet.links.conditions.oneway import OneWay
from slownet.links.ip import ECHO_HEADER, IP, IPV4
from slownet.model.errors import NetworkError
from slownet.model.units import show_duration
from slownet.net import ipv6, loops
from slownet.net.icmp_echo import Echoes, echo
from slownet.net.namespace import inside
from slownet.net.shaping import Shaping

PINGS = 5
PINGS_LOSSY = 20
# netem never sends early, so the least time of more pings is nearer to the link's own. A machine that is busy with other work
# delays all pings of a moment; a link that is set wrongly delays them all.
ROUNDS = 8
PING_CONTENT = 56  # bytes, iputils' default
INTERVAL_S = 0.05
SPIN_S = 0.01
"""iputils' ping does not sleep for less than a tick of 1 / sysconf(_SC_CLK_TCK) seconds: once nothing is in flight, it asks for
packets and yields until the next ping is due. At TDF 100 that takes a second of CPU after each reply, and with a free CPU
10,000 system calls, which take a microsecond each."""
TX_PACKETS = 9  # index of the number in a line of /proc/net/dev
OTHER_FRAMES = 10  # a busy end sends more frames than this besides the ping's; fewer may be ARP
# The share of hosts and switches in a round trip, in seconds, with a charged and with a free CPU.
OWN_SHARE_S = 0.001
OWN_SHARE_FREE_CPU_S = 0.0001
# A slow machine, such as an emulated one, takes longer, and its timers fire later. So before a link is said to be wrong, the
# machine itself is looked at: a ping of a host to itself and how late a timer is, the least of each. No link is part of either.
# Two hosts and the switches between them take a ping as often as CROSSINGS says, at most.
CROSSINGS = 4
SLEEP_S, SLEEPS = 0.005, 20
# netem's timers fire late, never early; ping prints three digits.
EARLY_S = 0.00002


def across(
    ends: tuple[Any, Any], blocked: Collection[str] = (), parts: Collection[Collection[Any]] = ()
) -> tuple[Any, Any, list[Any]] | None:
    """Return the nearest hosts on both sides of a cable and the cables between them; None if a side has no host.

    blocked: the ports that a spanning tree blocks. parts: the hosts that reach each other, if not all do.
    """
    if not parts:  # the nearest ones: of a large network the others are not looked at
        nearest = [next(_hosts_from(end, other, blocked), None) for end, other in (ends, ends[::-1])]
        if not nearest[0] or not nearest[1]:
            return None
        return nearest[0][0], nearest[1][0], [*nearest[0][1], ends[0].link, *nearest[1][1]]
    sides = [list(_hosts_from(end, other, blocked)) for end, other in (ends, ends[::-1])]
    for first, cables in sides[0]:
        for second, others in sides[1]:
            if any(first in part and second in part for part in parts):
                return first, second, [*cables, ends[0].link, *others]
    return None


def _blocked(ends: tuple[Any, Any]) -> frozenset[str]:
    """Return the ports that a spanning tree blocks among those that cables connect with these ends. Raises NetworkError."""
    nodes, todo = {end.node for end in ends}, [end.node for end in ends]
    while todo:
        for interface in todo.pop().intfList():
            for far in (interface.link.intf1, interface.link.intf2) if interface.link else ():
                if far.node not in nodes:
                    nodes.add(far.node)
                    todo.append(far.node)
    return loops.blocked(node for node in nodes if _is_switch(node))


def _hosts_from(end: Any, other: Any, blocked: Collection[str]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the hosts on this end's side of the cable, nearest first, and the cables on the path; none behind another host."""
    queue: deque[tuple[Any, list[Any]]] = deque([(end.node, [])])
    seen = {end.node, other.node}
    while queue:
        node, cables = queue.popleft()
        if hasattr(node, "IP") and not _is_switch(node):
            yield node, cables
            continue
        for interface in node.intfList():
            if interface.link is None:
                continue
            far = interface.link.intf2 if interface.link.intf1 is interface else interface.link.intf1
            if far.node not in seen and not {far.name, interface.name} & set(blocked):
                seen.add(far.node)
                queue.append((far.node, [*cables, interface.link]))


def address_at(host: Any, cable: Any) -> str:
    """Return a host's address at a cable of its own; its first one may be reached over another path."""
    interface = cable.intf1 if cable.intf1.node is host else cable.intf2
    return str(interface.IP() or host.IP())


def _is_switch(node: Any) -> bool:
    return hasattr(node, "dpid")


@dataclass(frozen=True)
class Verification:
    """The verification of a change of a link: by a ping, or `unverified` states why a ping could not.

    Both are empty when no ping was requested: then only the kernel's settings were read back.
    """

    ping: Echoes | None = None
    unverified: str = ""

    def __str__(self) -> str:
        if self.ping and self.ping.rtt_ms:
            return f"ping {self.ping.rtt_ms.min:g} ms"
        return f"not verified: {self.unverified}" if self.unverified else "no ping"


@dataclass(frozen=True)
class Span:
    """The time that an end of a cable adds to a round trip: `low` to `high` seconds; `loses`: whether a ping may get lost."""

    low: float
    high: float
    loses: bool = False


def span(at: OneWay, ip: IP = IPV4) -> Span:
    """Return what an end in this condition adds to a small ping that it sends."""
    bits = 8 * (ETHERNET + ip.header + ECHO_HEADER + PING_CONTENT)
    added = [row.ping(at, bits) for row in ROWS]
    low = max(0.0, sum(each.low for each in added)) + sum(each.surely for each in added)
    return Span(low, sum(each.high for each in added), any(each.lost for each in added))


def check(ends: tuple[Any, Any], shaping: Shaping, ip: IP = IPV4) -> Verification:
    """Ping across a cable and compare the time with the conditions of the cables on the path.

    It stays unverified if there are no hosts on both sides, if lossy cables on the path lost every ping, or if pings were late
    or lost while other packets filled a cable. Raises NetworkError with the configured and the measured value.
    """
    blocked = _blocked(ends)
    if {end.name for end in ends} & blocked:
        return Verification(unverified="the spanning tree blocks the link")
    found = across(ends, blocked, shaping.parts)
    if not found:
        apart = " that reach each other" if across(ends, blocked) else ""
        return Verification(unverified=f"no hosts on both sides{apart}")
    source, target, cables = found
    interfaces = [end for cable in cables for end in (cable.intf1, cable.intf2)]
    address = ipv6.address(ip, address_at(target, cables[-1]))
    path = _Path(source, address, interfaces, [span(shaping.present(end), ip) for end in interfaces])
    where = f"{source.name} to {target.name} over {_names(cables)}"
    least: Echoes | None = None
    for _ in range(1 if native.cpu_is_free() else ROUNDS):
        record, busy = path.ping()
        if record.problem and not path.loses and not busy:
            raise NetworkError(record.problem, where=where)
        if record.rtt_ms is None:
            return Verification(unverified="other packets fill the path" if busy else "a link on the path lost every ping")
        least = record if least is None or _least_s(record) < _least_s(least) else least
        if _least_s(record) < path.low - EARLY_S:
            break
        if _least_s(record) <= path.high + path.own_share_s:
            return Verification(record)
        if busy:
            return Verification(unverified="the pings waited behind other packets")
    assert least
    taken = _least_s(least)
    if taken > path.high and not native.cpu_is_free() and taken <= path.high + path.machines_share_s():
        return Verification(least)
    stated = show_duration(path.low) if path.low == path.high else f"{show_duration(path.low)} to {show_duration(path.high)}"
    raise NetworkError(f"the round trip takes {show_duration(taken)} instead of the {stated} asked for", where=where)


@dataclass(frozen=True)
class _Path:
    """The way of a ping from a host to another, and what each end on it adds."""

    source: Any
    target: str
    interfaces: Sequence[Any]
    spans: Sequence[Span]

    @property
    def low(self) -> float:
        return sum(each.low for each in self.spans)

    @property
    def high(self) -> float:
        return sum(each.high for each in self.spans)

    @property
    def own_share_s(self) -> float:
        """The time that hosts and switches add at most, unless the machine is slow."""
        return OWN_SHARE_FREE_CPU_S if native.cpu_is_free() else OWN_SHARE_S

    def machines_share_s(self) -> float:
        """Return what a slow machine may add to a round trip, by what it takes without a link."""
        own = echo(self.source, "127.0.0.1", count=PINGS, interval=INTERVAL_S)
        timers = sum(each.high > 0 for each in self.spans)
        return (CROSSINGS * _least_s(own) if own.rtt_ms else 0.0) + timers * _lateness_s()

    @property
    def loses(self) -> bool:
        return any(each.loses for each in self.spans)

    @property
    def interval_s(self) -> float:
        """The time between two pings: longer where a reply would come so late that ping spins until the next one."""
        spins = self.low < INTERVAL_S and self.high + self.own_share_s > INTERVAL_S - SPIN_S
        return 2 * INTERVAL_S if spins else INTERVAL_S

    def ping(self) -> tuple[Echoes, bool]:
        """Ping; return the result, and whether an end sent much more than that."""
        count = PINGS_LOSSY if self.loses else PINGS
        before = _sent(self.interfaces)
        record = echo(self.source, self.target, count=count, interval=self.interval_s)
        after = _sent(self.interfaces)
        return record, any(late - early > count + OTHER_FRAMES for early, late in zip(before, after, strict=True))


def _least_s(record: Echoes) -> float:
    return record.rtt_ms.min / 1000 if record.rtt_ms else math.inf


def _lateness_s() -> float:
    """Return by how much a timer of this machine is late, the least of some."""

    def late() -> float:
        start = time.monotonic()
        time.sleep(SLEEP_S)
        return time.monotonic() - start - SLEEP_S

    return min(late() for _ in range(SLEEPS))


def _sent(interfaces: Sequence[Any]) -> list[int]:
    """Return how many frames each has sent so far."""
    return [_counted(end) for end in interfaces]


def _counted(interface: Any) -> int:
    with inside(interface.node):
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    counters = next(line.split(":", 1)[1] for line in lines if line.split(":")[0].strip() == interface.name)
    return int(counters.split()[TX_PACKETS])


def _names(cables: Sequence[Any]) -> str:
    return ", ".join(f"{cable.intf1.node.name}-{cable.intf2.node.name}" for cable in cables)
