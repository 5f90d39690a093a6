"""Segments that a pacing rate held back: BBR's, or what a program has set by SO_MAX_PACING_RATE.

A sender that paces lets so many bytes go and waits until its rate allows the next ones (Linux's tcp_update_skb_after_send, and
the queueing discipline fq). No packet arrives then, as at a timer of the program. The two differ by what the program had
written: only the last segment of a write has PSH, so what follows a full one without PSH was in the kernel already. Behind a
segment with PSH, and among those that are sent again, the time counts as pacing if it fits the rate that such segments near it
show. The rate is that of tcp_info (``ss -ti``); BBR's gains change it in each round trip.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence

from slownet.waits.packets import FIN, PSH, Packet
from slownet.waits.trace import Host

PACING = "pacing"
RTO_MIN_NS = 200_000_000
"""Linux's TCP_RTO_MIN: TCP_CORK holds a segment that is not full for longer, and what is sent again earlier has no timeout."""
NEAR = 4
"""Times before, and after, that show the rate."""
APART = 2.0
"""The largest quotient of a time and that of the rate: the kernel gives half of a segment's time back after a rest."""


class Pacing:
    """The data that a host sent on one connection, and how long a pacing rate held them back.

    segments: those with data, as they were sent. after_ns: the most time that the kernel takes to send what an ACK lets go; 0
    where computing takes none.
    """

    def __init__(self, host: Host, segments: Sequence[Packet], after_ns: int = 0) -> None:
        self._segments = segments
        self._orders = array("q", (each.order for each in segments))
        self._bursts: list[int] = []
        self._places = array("q")
        self._rates: list[float] = []
        for number, each in enumerate(segments):
            together = number and each.sent == segments[number - 1].sent
            self._bursts.append(each.length + (self._bursts[-1] if together else 0))
            if number and not together and _is_held(segments[number - 1], each) and not _is_let_go(host, each, after_ns):
                self._places.append(number)
                self._rates.append(self._bursts[number - 1] / (each.sent - segments[number - 1].sent))

    def before(self, packet: Packet) -> Packet | None:
        """Return the segment after which a rate held a packet back; None if none did. `packet` is one of the segments."""
        place = bisect_left(self._orders, packet.order)
        if not place or not self._rates:
            return None
        before = self._segments[place - 1]
        took = packet.sent - before.sent
        if took and (_is_held(before, packet) or self._fits(place, took)):
            return before
        return None

    def _fits(self, place: int, took: int) -> bool:
        """Return whether the rate near a segment explains its time."""
        if took >= RTO_MIN_NS:
            return False
        at = bisect_left(self._places, place)
        times = [self._bursts[place - 1] / rate for rate in self._rates[max(0, at - NEAR) : at + NEAR]]
        return min(times) <= APART * took and took <= APART * max(times)


def rate(host: Host, before: Packet, packet: Packet) -> float:
    """Return the bit/s that a segment held back shows: what had been sent at once, up to `before`, divided by the time."""
    together = 0
    for number in range(before.order, -1, -1):
        each = host.sent[number]
        if each.sent != before.sent:
            break
        together += each.length if each.connection == packet.connection else 0
    return together * 8e9 / (packet.sent - before.sent)


def _is_held(before: Packet, packet: Packet) -> bool:
    """Return whether a packet had been written together with the full segment before it, and the windows had room for it."""
    begin = packet.end - packet.length - bool(packet.flags & FIN)
    is_one_write = before.length >= before.mss and not before.flags & PSH and begin == before.end
    is_corked = packet.length < packet.mss and packet.sent - before.sent >= RTO_MIN_NS
    return is_one_write and not before.repeated and not packet.repeated and packet.edge >= 0 and not is_corked


def _is_let_go(host: Host, packet: Packet, after_ns: int) -> bool:
    """Return whether something arrived on a segment's connection when it was sent, or left the queue then: an ACK, or room."""
    for packets, times in ((host.received, host.arrivals), (host.left, host.departures)):
        place = bisect_left(times, packet.sent - after_ns)
        while place < len(packets) and times[place] <= packet.sent:
            if packets[place].connection == packet.connection:
                return True
            place += 1
    return False
