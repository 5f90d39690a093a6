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


def ways(trace: Trace, begin: int, end: int) -> dict[tuple[str, str], Way]:
    """Return the ways between hosts that packets took between two times."""
    small: dict[tuple[str, str], _Least] = {}
    large: dict[tuple[str, str], _Least] = {}
    for host in trace.hosts.values():
        for number in range(bisect_left(host.arrivals, begin), host.arrived_by(end)):
            each = host.received[number]
            if not each.sender or each.sent < 0:
                continue
            pair, took = (each.sender, each.receiver), each.arrived - each.sent
            for kept, fits in ((small, each.size <= SMALL), (large, each.size >= LARGE)):
                if fits and (pair not in kept or (took, each.size) < (kept[pair].ns, kept[pair].size)):
                    kept[pair] = _Least(took, each.size)
    return {pair: _way(small.get(pair), large.get(pair)) for pair in small.keys() | large.keys()}


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
