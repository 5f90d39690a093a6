"""How long packets take from one host to another without a queue: the least that was seen, by their size."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from slownet.why.packets import Packet
from slownet.why.trace import Trace

SMALL, LARGE = 200, 600
"""Bytes of frames: what is smaller, and larger, shows by the difference of their times how long a byte takes."""


@dataclass(frozen=True)
class Way:
    """From one host to another: the ns of an empty packet, and of each byte."""

    base: float
    per_byte: float

    def split(self, packet: Packet) -> tuple[int, int, int]:
        """Return the ns of a packet for the distance, for its own bytes on the line, and in queues."""
        took = packet.arrived - packet.sent
        own = min(took, round(packet.size * self.per_byte))
        distance = min(took - own, round(self.base))
        return distance, own, took - own - distance


@dataclass(frozen=True)
class _Least:
    ns: int
    size: int


Pair = tuple[str, str, bytes, bytes]
"""Sender and receiver, source and target: two addresses of a host may be of different networks, or paths."""


def pair(packet: Packet) -> Pair:
    """Return between what a packet went."""
    return packet.sender, packet.receiver, packet.source, packet.target


def ways(trace: Trace, begin: int, end: int) -> dict[Pair, Way]:
    """Return the ways that packets took between two times."""
    small: dict[Pair, _Least] = {}
    middle: dict[Pair, _Least] = {}
    large: dict[Pair, _Least] = {}
    for host in trace.hosts.values():
        for number in range(bisect_left(host.arrivals, begin), host.arrived_by(end)):
            each = host.received[number]
            if not each.sender or each.sent < 0:
                continue
            took = each.arrived - each.sent
            kept = small if each.size <= SMALL else large if each.size >= LARGE else middle
            key = pair(each)
            least = kept.get(key)
            if least is None or took < least.ns or (took == least.ns and each.size < least.size):
                kept[key] = _Least(took, each.size)
    small = middle | small
    return {key: _way(small.get(key), large.get(key)) for key in small.keys() | large.keys()}


def _way(small: _Least | None, large: _Least | None) -> Way:
    if small is None or large is None:
        least = small or large
        assert least is not None
        return Way(least.ns, 0.0)
    per_byte = max(0.0, (large.ns - small.ns) / (large.size - small.size))
    return Way(max(0.0, min(small.ns - small.size * per_byte, large.ns - large.size * per_byte)), per_byte)


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
