"""Sorts the TCP segments of a capture into connections, and classifies each: new, a retransmission, out of order...

The rules are those of Wireshark's user guide, section 7.5 ("TCP Analysis"), as tshark 4.0 applies them, so that both give the
same numbers: a test compares all segments of tcpdump's own captures. A segment is judged by what passed before it; nothing is
kept of it but a few numbers of its direction.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from slownet.links.packets.capture_file import NO_TIME
from slownet.links.packets.decoding import Packet

# A copy differs from a segment that is sent again: a sender gives each packet of IPv4 another identification (RFC 6864, 4.1),
# and repeats a segment a round trip later at the earliest, by a timer after 200 ms (Linux's TCP_RTO_MIN) or more (RFC 6298).
# So a frame with the same TCP header and length is a copy
#
# * within 200 ms, if the identification is the same and the sender's identifications vary;
# * within half of the connection's first round trip, where they say nothing: IPv6, identifications that are 0 or never vary.
#   ACKs without data, which may well be repeated, are not compared then.
#
# The rest of the IP header may differ: a router lowers the TTL.

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


FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
WRAP = 1 << 32
FAST_NS = 20_000_000
"""A fast retransmission follows the last duplicate ACK within this."""
REORDERED_NS = 3_000_000
"""A segment is out of order if it comes within this of the newest one, where no round trip is known."""
FAST_ACKS = 2


class Kind(enum.IntFlag):
    """The kind of a segment. At most one of the first five, which state that its sequence number was passed already."""

    NEW = 0
    RETRANSMISSION = 1
    FAST_RETRANSMISSION = 2
    SPURIOUS_RETRANSMISSION = 4
    """All of its bytes had been acknowledged."""
    OUT_OF_ORDER = 8
    KEEP_ALIVE = 16
    KEEP_ALIVE_ACK = 32
    ZERO_WINDOW_PROBE = 64
    ZERO_WINDOW_PROBE_ACK = 128
    DUPLICATE_ACK = 256
    GAP = 512
    """Segments before it are missing in the capture so far."""
    ACKED_UNSEEN = 1024
    """It acknowledges what is missing in the capture."""


SENT_AGAIN = Kind.RETRANSMISSION | Kind.FAST_RETRANSMISSION
PROBES = Kind.KEEP_ALIVE | Kind.ZERO_WINDOW_PROBE


class Side:
    """The state of one sending end of a connection: numbers as TCP headers have them; None before the first."""

    __slots__ = ("acked", "acked_ns", "base", "duplicates", "last", "next", "next_ns", "whole", "window")

    def __init__(self) -> None:
        self.base: int | None = None
        self.next: int | None = None
        self.next_ns = 0
        self.whole: int | None = None
        """The end of what can be acknowledged without a gap."""
        self.acked = 0
        self.acked_ns = 0
        self.window: int | None = None
        self.duplicates = 0
        self.last = Kind.NEW


@dataclass(slots=True)
class Connection:
    """One connection: its number in the order of the capture, its ends, the ns of its newest SYN and of its first RTT."""

    number: int
    sides: tuple[Side, Side]
    syn_ns: int | None = None
    first_rtt: int | None = None
    opener: int | None = field(default=None)
    """The index of the side that sent the first SYN; None if the capture has none."""


class Judged(NamedTuple):
    """A segment's connection, the index of the side that sent it, and what it is."""

    connection: Connection
    side: int
    kind: Kind


Ends = tuple[bytes, int, bytes, int]


class Connections:
    """The connections of a capture, by their ends."""

    def __init__(self) -> None:
        self._numbers = count()
        self._open: dict[Ends, tuple[Connection, int]] = {}

    def find(self, packet: Packet) -> tuple[Connection, int]:
        """Return the connection of a segment, and the index of the side that sent it.

        A SYN with another number than that of the open connection between the same ends opens a new one.
        """
        ends = packet[1:5]
        found = self._open.get(ends)
        if found is None:
            return self._opened(ends)
        if packet.flags & (SYN | ACK) == SYN:
            side = found[0].sides[found[1]]
            if side.base is not None and side.base != packet.sequence:
                return self._opened(ends)
            if side.base is not None:
                side.next = side.whole  # a RST with another number may have moved it
        elif packet.flags & SYN:
            found[0].sides[found[1]].base = packet.sequence
        return found

    def _opened(self, ends: Ends) -> tuple[Connection, int]:
        one = Side()
        # A connection of a socket with itself has one side only.
        sides = (one, one) if ends[:2] == ends[2:] else (one, Side())
        found = Connection(next(self._numbers), sides), 0
        self._open[ends[2:] + ends[:2]] = found[0], 1
        self._open[ends] = found
        return found

    def judge(self, packet: Packet) -> Judged:
        """Return what a segment is, and remember it."""
        connection, index = self.find(packet)
        mine, other = connection.sides[index], connection.sides[1 - index]
        flags = packet.flags
        _set_bases(packet, mine, other)
        kind = _kind(packet, mine, other, connection)
        _remember(packet, mine, kind)
        if flags & (SYN | ACK) == SYN:
            connection.syn_ns = None if packet.ns == NO_TIME else packet.ns
            connection.opener = index if connection.opener is None else connection.opener
        elif flags & (SYN | ACK) == ACK and connection.first_rtt is None:
            connection.first_rtt = _span(connection.syn_ns, packet.ns)
        return Judged(connection, index, kind)


def _span(begin: int | None, end: int) -> int | None:
    """Return the ns between two times; None where one of them is not known, or it is 0."""
    return None if begin is None or end == NO_TIME else (end - begin) or None


def after(one: int, other: int) -> bool:
    """Return whether a sequence number lies after another, in the circle of 32 bits."""
    return 0 < (one - other) % WRAP < WRAP >> 1


def _set_bases(packet: Packet, mine: Side, other: Side) -> None:
    if mine.base is None:
        mine.base = packet.sequence if packet.flags & SYN else (packet.sequence - 1) % WRAP
    if other.base is None and packet.flags & ACK:
        other.base = (packet.acknowledged - 1) % WRAP


def _kind(packet: Packet, mine: Side, other: Side, connection: Connection) -> Kind:
    length, flags = packet.length, packet.flags
    if length == 1 and packet.sequence == mine.next and other.window == 0:
        return Kind.ZERO_WINDOW_PROBE | _on_acks(packet, mine, other)
    kind = Kind.NEW
    plain = not flags & (SYN | FIN | RST)
    ahead = None if mine.next is None else (packet.sequence - mine.next) % WRAP
    if ahead and ahead < WRAP >> 1 and not flags & RST:
        kind |= Kind.GAP
    if length <= 1 and ahead == WRAP - 1 and plain:
        kind |= Kind.KEEP_ALIVE
    if not length and plain:
        kind |= _pure_ack(packet, mine, other)
    kind |= _on_acks(packet, mine, other)
    if (length or flags & (SYN | FIN)) and not kind & Kind.KEEP_ALIVE:
        kind |= _sent_before(packet, mine, other, connection)
    return kind


def _pure_ack(packet: Packet, mine: Side, other: Side) -> Kind:
    """Return what an ACK without data is, if it repeats the one before."""
    if (packet.window, packet.sequence, packet.acknowledged) != (mine.window, mine.next, mine.acked):
        return Kind.NEW
    if packet.window:
        if other.last & Kind.KEEP_ALIVE:
            return Kind.KEEP_ALIVE_ACK
        mine.duplicates = 1 if mine.duplicates < 0 else mine.duplicates + 1
        return Kind.DUPLICATE_ACK
    return Kind.ZERO_WINDOW_PROBE_ACK if other.last & Kind.ZERO_WINDOW_PROBE else Kind.NEW


def _on_acks(packet: Packet, mine: Side, other: Side) -> Kind:
    """Record what a segment acknowledges; return whether that includes what the capture has not."""
    if packet.acknowledged != mine.acked:
        mine.duplicates = 0
    if other.whole is None or not packet.flags & ACK or not after(packet.acknowledged, other.whole):
        return Kind.NEW
    if other.next is not None and after(other.next, other.whole):
        other.whole = other.next
        return Kind.ACKED_UNSEEN
    again = bool(other.duplicates)
    other.duplicates = -1  # until an ACK of the other side: the same gap counts once
    return Kind.NEW if again else Kind.ACKED_UNSEEN


def _sent_before(packet: Packet, mine: Side, other: Side, connection: Connection) -> Kind:
    """Return in what way a segment with data, a SYN or a FIN repeats numbers that have passed, if it does."""
    length, end = packet.length, (packet.sequence + packet.length) % WRAP
    if length and other.acked and not after(end, other.acked):
        return Kind.SPURIOUS_RETRANSMISSION
    if mine.next is None or not after(mine.next, packet.sequence):
        return Kind.NEW
    if length > 1 and (mine.next - packet.sequence) % WRAP == 1:
        return Kind.NEW  # what a zero window probe had the first byte of
    if other.duplicates >= FAST_ACKS and other.acked == packet.sequence and packet.ns - other.acked_ns < FAST_NS:
        return Kind.FAST_RETRANSMISSION
    close = connection.first_rtt or REORDERED_NS
    if packet.ns - mine.next_ns < close and mine.next != (end + bool(packet.flags & (SYN | FIN))) % WRAP:
        return Kind.OUT_OF_ORDER
    return Kind.RETRANSMISSION


def _remember(packet: Packet, mine: Side, kind: Kind) -> None:
    end = (packet.sequence + packet.length + bool(packet.flags & (SYN | FIN))) % WRAP
    if not kind & Kind.ZERO_WINDOW_PROBE:
        if mine.next is None or after(end, mine.next):
            mine.next, mine.next_ns = end, packet.ns
        if mine.whole is None or packet.sequence == mine.whole:
            mine.whole = mine.next
    mine.window, mine.acked, mine.acked_ns, mine.last = packet.window, packet.acknowledged, packet.ns, kind
