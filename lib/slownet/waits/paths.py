"""The time of packets from one host to another: the distance, their own bytes at the link's rate, and what was ahead of them.

A packet that had nothing ahead of it takes the distance and its own bytes. One had nothing ahead if the packet before it had
gone, at the sender's interface and at the receiver's, longer ago than its own bytes take there. The distance of others is that
of such packets near them in time, because a link's delay may change; a delay that grows for a few packets only is a queue's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf
from operator import attrgetter
from typing import NamedTuple

from slownet.waits.packets import Packet
from slownet.waits.trace import AT_ONCE_NS, Trace

SMALL, LARGE = 200, 600
"""Bytes of frames: a smaller and a larger one show by the difference of their times how long a byte takes."""
NEAR = 8
"""Packets before, and after, that show the distance."""
LATER = 64
"""Packets that a host received after the last one, which count too."""
APART_NS, APART = 100_000_000, 10
"""The longest time between two packets that show a rate together: ns, or so many times the way of the larger one."""
FAR = 4096
"""Packets that are looked at for those."""
SURE = 3
"""Packets after one, at least, that show that a distance has changed."""
STRETCHED = 0.2
"""The quantile of the gaps behind packets in a queue that shows the line's rate: short ones, but not those of the few packets
that a token bucket passes at once."""
RATES, UP = 32, 5e-4
"""Times of a byte that are kept with the packets that had nothing ahead then, and by which part they are rounded up at most."""
TICK_NS = 1000
"""Differences up to this do not count: programs read the clock between two packets."""
LEAST_WAITED = 0.1
"""The least part of the gap behind the packet before that a packet waited in a queue, if the gap shows the line's rate. A later
flight, which some readings of the clock delayed, waited for nothing else."""
Pair = tuple[str, str, bytes, bytes]
"""Sender and receiver, source and target: two addresses of a host may be of different networks, or paths."""


def pair(packet: Packet) -> Pair:
    """Return between what a packet went."""
    return packet.sender, packet.receiver, packet.source, packet.target


def _by_time(packets: Sequence[Packet]) -> list[Packet]:
    return sorted(packets, key=attrgetter("sent"))


class Parts(NamedTuple):
    """The ns of a packet on one hop: distance, its own bytes, and in queues."""

    distance: int
    own: int
    queued: int


class Ways:
    """All ways between hosts that packets took between two times, and a little later, which shows that a delay has changed."""

    def __init__(self, trace: Trace, begin: int, end: int) -> None:
        by: dict[Pair, list[Packet]] = defaultdict(list)
        later: dict[Pair, list[Packet]] = defaultdict(list)
        for host in trace.hosts.values():
            first, last = bisect_left(host.arrivals, begin), host.arrived_by(end)
            for found, packets in ((by, host.received[first:last]), (later, host.received[last : last + LATER])):
                for each in packets:
                    if each.sender and each.sent >= 0:
                        found[pair(each)].append(each)
        gaps = _gaps(trace)
        ordered = {key: _by_time(packets) for key, packets in by.items()}
        self._ways = {key: _Way(packets, gaps) for key, packets in ordered.items()}
        self._ends = {
            key: _Way(_by_time([*ordered[key][-LATER:], *packets]), gaps) for key, packets in later.items() if key in ordered
        }

    def split(self, packet: Packet) -> Parts:
        """Return the parts of the time of a packet on its hop.

        Later packets show that a way became longer. That it became shorter afterwards, such as by the end of a condition, does
        not count.
        """
        found = self._ways[pair(packet)].split(packet)
        end = self._ends.get(pair(packet)) if found.queued else None
        if end and end.has(packet):
            return min(found, end.split(packet), key=lambda parts: parts.queued)
        return found

    def is_late(self, packet: Packet, parts: Parts, bytes_ahead: int) -> bool:
        """Return whether a packet was due while a program read the clock some times, and waited in no queue.

        Nothing was ahead of it on a way without a rate; or if there was, packets near it have arrived in one instant, which no
        line with a rate lets them. Only where computing takes no time.
        """
        if parts.own or parts.queued > AT_ONCE_NS:
            return False
        return not bytes_ahead or self._ways[pair(packet)].arrive_at_once(packet)

    def round_trip(self, packet: Packet) -> float:
        """Return the shortest round trip between the two ends of a packet, in ns."""
        sender, receiver, source, target = pair(packet)
        both = (sender, receiver, source, target), (receiver, sender, target, source)
        return sum(self._ways[each].least for each in both if each in self._ways)


class _Way:
    """One way, its packets by the time they were sent."""

    def __init__(self, packets: Sequence[Packet], gaps: Mapping[int, int]) -> None:
        self._packets = packets
        self._gaps = [gaps.get(id(each)) for each in packets]
        self._by_rate: dict[float, list[int]] = {}
        self._place = {id(each): number for number, each in enumerate(packets)}
        self.least = min(_took(each) for each in packets)
        self._stretched: list[tuple[int, float]] = []
        self._differences: list[tuple[int, float]] = []
        small, at = None, 0
        waiting: list[tuple[int, Packet, float]] = []
        for number, each in enumerate(packets):
            if number and each.size >= LARGE:
                before = packets[number - 1]
                gap = each.arrived - before.arrived
                waited = gap - (each.sent - before.sent)
                if each.sent < before.arrived and waited > max(TICK_NS, LEAST_WAITED * gap):
                    self._stretched.append((number, gap / each.size))
            if each.size <= SMALL:
                for place, large, known in waiting:
                    self._differences.append((place, min(known, _difference(large, each))))
                waiting, small, at = [], each, number
            elif each.size >= LARGE and len(waiting) < NEAR:
                waiting.append((number, each, _difference(each, small) if small and number - at <= NEAR else inf))
        self._differences += [(place, known) for place, _, known in waiting]
        self._differences = [each for each in self._differences if each[1] < inf]

    def has(self, packet: Packet) -> bool:
        """Return whether a packet is one of these."""
        return id(packet) in self._place

    def arrive_at_once(self, packet: Packet) -> bool:
        """Return whether two packets near one arrived in the same instant."""
        place = self._place[id(packet)]
        near = self._packets[max(0, place - NEAR) : place + NEAR]
        return any(one.arrived == other.arrived for one, other in pairwise(near))

    def split(self, packet: Packet) -> Parts:
        """Return the parts of the time of a packet."""
        place, took = self._place[id(packet)], _took(packet)
        per_byte = self._per_byte(place)
        if not per_byte and took == self.least:  # most are, where nothing queues
            return Parts(took, 0, 0)
        own = min(took, round(packet.size * per_byte))
        distance = min(took - own, self._distance(place, per_byte))
        return Parts(distance, own, took - own - distance)

    def _per_byte(self, place: int) -> float:
        """Return the ns of a byte on the line, near a packet."""
        if not self._stretched and not self._differences:
            return 0.0
        found = []
        stretched = sorted(_near(self._stretched, place))
        if len(stretched) >= SURE:
            found.append(stretched[int(len(stretched) * STRETCHED)])
        differences = _near(self._differences, place, 4 * NEAR)
        return min([*found, *differences], default=0.0)

    def _distance(self, place: int, per_byte: float) -> int:
        """Return the ns of the distance, near a packet."""
        alone = self._alone(place, per_byte)
        here = [self._rest(place, per_byte)] if alone else []
        before = here + self._side(place, -1, per_byte)
        after = here + self._side(place, 1, per_byte)
        if len(before) >= SURE and len(after) >= SURE:
            return max(min(before), min(after))
        some = before if len(before) >= SURE else after if len(after) >= SURE else before + after
        if not some:
            around = range(max(0, place - LARGE), min(len(self._packets), place + LARGE))
            some = [self._rest(each, per_byte) for each in around]
        return min(some)

    def _side(self, place: int, step: int, per_byte: float) -> list[int]:
        """Return the distances that the nearest packets show which had nothing ahead of them, before one or after it."""
        if (known := self._places_alone(per_byte)) is not None:
            here = bisect_left(known, place)
            after = bisect_right(known, place)
            near = known[max(0, here - NEAR) : here] if step < 0 else known[after : after + NEAR]
            return [self._rest(each, per_byte) for each in near if abs(each - place) < FAR]
        found: list[int] = []
        at = place + step
        while 0 <= at < len(self._packets) and len(found) < NEAR and abs(at - place) < FAR:
            if self._alone(at, per_byte):
                found.append(self._rest(at, per_byte))
            at += step
        return found

    def _places_alone(self, per_byte: float) -> Sequence[int] | None:
        """Return the places of all packets that had nothing ahead, for a time of a byte that is rounded up in its fourth digit.

        Where a link's rate is constant, there are few such times; otherwise, None.
        """
        rounded = float(f"{per_byte * (1 + UP):.3e}")
        if rounded not in self._by_rate:
            if len(self._by_rate) >= RATES:
                return None
            self._by_rate[rounded] = [each for each in range(len(self._packets)) if self._alone(each, rounded)]
        return self._by_rate[rounded]

    def _alone(self, place: int, per_byte: float) -> bool:
        """Return whether a packet had nothing ahead of it."""
        gap = self._gaps[place]
        return gap is None or gap > self._packets[place].size * per_byte + TICK_NS

    def _rest(self, place: int, per_byte: float) -> int:
        each = self._packets[place]
        return max(0, _took(each) - round(each.size * per_byte))


def _took(packet: Packet) -> int:
    return packet.arrived - packet.sent


def _difference(large: Packet, small: Packet) -> float:
    """Return the ns of a byte that two packets show; infinite if the link may have changed between them."""
    if abs(large.sent - small.sent) > max(APART_NS, APART * _took(large)):
        return inf
    return max(0.0, (_took(large) - _took(small)) / (large.size - small.size))


def _near(values: Sequence[tuple[int, float]], place: int, reach: int = FAR) -> list[float]:
    """Return the values of the places nearest to one, as many before as after, and none farther away than so many places."""
    at = bisect_left(values, (place, -inf))
    return [value for each, value in values[max(0, at - NEAR) : at + NEAR] if abs(each - place) <= reach]


def _gaps(trace: Trace) -> dict[int, int]:
    """Return by packet the ns since the one before it left its sender's interface, or reached its receiver's: the shorter.

    The first packets of interfaces are not in it.
    """
    found: dict[int, int] = {}
    for host in trace.hosts.values():
        last: dict[str, int] = {}
        for each in sorted(host.sent, key=attrgetter("left")):
            if (at := each.left) >= 0:
                if (before := last.get(each.interface)) is not None:
                    found[id(each)] = at - before
                last[each.interface] = at
    for host in trace.hosts.values():
        last = {}
        for each in host.received:
            at, number = each.arrived, id(each)
            if (before := last.get(each.interface_arrived)) is not None:
                gap = at - before
                if (known := found.get(number)) is None or gap < known:
                    found[number] = gap
            last[each.interface_arrived] = at
    return found


def ahead(trace: Trace, packet: Packet) -> int:
    """Return the bytes that were in the sender's queue when it sent a packet."""
    host, found = trace.hosts[packet.sender], 0
    for number in range(packet.order - 1, max(-1, packet.order - 4096), -1):
        each = host.sent[number]
        if each.left > packet.sent:
            found += each.size
        elif 0 <= each.left < packet.sent:
            break
    return found
