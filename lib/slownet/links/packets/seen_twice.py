"""Recognizes a frame that a capture has twice: taken on a bridge, on a mirrored port, on a router or on all interfaces at once.

A copy differs from a segment that is sent again: a sender gives each packet of IPv4 another identification (RFC 6864, 4.1), and
repeats a segment a round trip later at the earliest, by a timer after 200 ms (Linux's TCP_RTO_MIN) or more (RFC 6298). So a
frame with the same TCP header and length is a copy

* within 200 ms, if the identification is the same and the sender's identifications vary;
* within half of the connection's first round trip, where they say nothing: IPv6, identifications that are 0 or always the same.
  ACKs without data, which may well be repeated, are not compared then.

The rest of the IP header may differ: a router lowers the TTL.
"""

from __future__ import annotations

from collections import OrderedDict

from slownet.links.packets.decoding import Packet
from slownet.links.packets.tcp_analysis import FIN, SYN, Connection

SAME_IDENTITY_NS = 200_000_000
UNKNOWN_RTT_NS = 1_000_000
LONGEST_NS = 10_000_000
"""The longest time between copies without identifications, on connections with long round trips."""
MOST = 1 << 16
"""Frames that are remembered."""


class Copies:
    """The frames of the last 200 ms."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[object, ...], int] = OrderedDict()
        self._identities: dict[tuple[int, int], int] = {}
        """By connection and side: its identification, or -1 if they vary."""

    def is_copy(self, packet: Packet, connection: Connection, side: int) -> bool:
        """Return whether a frame with this segment was seen shortly before; remember it if not."""
        sender = connection.number, side
        key = (sender, packet.identity, packet.length, packet.header)
        before = self._seen.get(key)
        known = self._identities.setdefault(sender, packet.identity)
        if known not in (-1, packet.identity):
            known = self._identities[sender] = -1
        if before is not None and packet.ns - before < self._window(packet, connection, known == -1):
            return True
        self._seen[key] = packet.ns
        self._seen.move_to_end(key)
        self._forget(packet.ns)
        return False

    @staticmethod
    def _window(packet: Packet, connection: Connection, vary: bool) -> int:
        """Return the ns within which the same frame is a copy."""
        if packet.identity and vary:
            return SAME_IDENTITY_NS
        if not packet.length and not packet.flags & (SYN | FIN):
            return 0
        return UNKNOWN_RTT_NS if connection.first_rtt is None else min(connection.first_rtt // 2, LONGEST_NS)

    def _forget(self, now: int) -> None:
        while self._seen:
            key, ns = next(iter(self._seen.items()))
            if len(self._seen) <= MOST and now - ns < SAME_IDENTITY_NS:
                return
            del self._seen[key]
