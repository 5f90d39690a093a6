"""The state of a TCP sender when it sent a segment: what was in flight, what the window allowed, what it had sent before.

The state is that of the instant before: of an ACK that arrives and the segment that it lets go, only the first is known.
"""

from __future__ import annotations

from collections import defaultdict, deque

from slownet.waits.packets import ACK, FIN, RST, SYN, TLS_TYPES, Ends, Packet
from slownet.waits.trace import Host, Trace

USUAL_MSS = 1448
SLOW_START = "slow start"
SEND_BUFFER = "send buffer"
RECOVERY = "recovery after a loss"
AVOIDANCE = "congestion avoidance after a loss"
AFTER_TIMEOUT = "slow start after a timeout"
FIRST_WINDOW = 10
"""Segments of Linux's first congestion window: with as many in flight, that waits for ACKs, not Nagle's algorithm."""
KEPT_OF_WINDOW = 0.7
"""The part of its window that CUBIC keeps after a loss (RFC 9438, 4.6)."""
_TIMESTAMPS = 12
_WRAP, _HALF = 1 << 32, 1 << 31
CLIENT_HELLO, SERVER_HELLO = 1, 2
HANDSHAKE, APPLICATION = 22, 23


class _Side:
    """One end of a connection.

    highest, acked, edge, small_end: in bytes since its first, -1 if unknown; segments: in flight. What begins with prior is
    the state of the instant before. nodelay: whether it has sent a small segment while an earlier one was in flight, as only a
    socket with TCP_NODELAY does. scale: of the other end's windows; None before its SYN is seen. came: when something last
    arrived. has_lost: whether it has sent data again. lost_below: until this is acknowledged, it recovers. slow_below: segments
    below which it is in slow start after a timeout.
    """

    __slots__ = (
        "acked", "at", "base", "came", "edge", "has_lost", "heard", "hello", "highest", "lost_below", "mss", "nodelay",
        "opened", "opener", "prior_acked", "prior_edge", "prior_highest", "prior_segments", "prior_small_end", "records",
        "scale", "segments", "slow_below", "small_end", "turns", "unacked",
    )  # fmt: skip

    def __init__(self) -> None:
        self.base: int | None = None
        self.mss = USUAL_MSS
        self.scale: int | None = None
        self.opened = self.heard = self.opener = False
        self.nodelay = False
        self.unacked: deque[int] = deque()
        self.turns, self.hello = 0, -1
        self.highest = self.acked = self.prior_highest = self.prior_acked = 0
        self.edge = self.small_end = self.prior_edge = self.prior_small_end = self.at = -1
        self.segments = self.prior_segments = 0
        self.came = -1
        self.lost_below, self.slow_below, self.has_lost = 0, 0.0, False
        self.records: Records | None = None

    def move(self, ns: int) -> None:
        """Keep the state of the instant before."""
        if ns != self.at:
            self.prior_highest, self.prior_acked, self.prior_edge = self.highest, self.acked, self.edge
            self.prior_small_end, self.prior_segments, self.at = self.small_end, self.segments, ns

    def sends_again(self, begin: int, end: int, ns: int) -> None:
        """Note data that are sent again: after an ACK that shows a loss, or by a timer; a tail probe changes nothing.

        After a timeout the window is one segment, and opens by slow start to seven tenths of what it was (CUBIC, RFC 9438).
        """
        by_timer = self.came != ns
        if by_timer and end == self.highest and self.prior_segments > 1:
            return
        self.has_lost = True
        if begin >= self.lost_below:
            self.slow_below = KEPT_OF_WINDOW * self.prior_segments if by_timer else 0.0
        self.lost_below = max(self.lost_below, self.highest)

    @property
    def phase(self) -> str:
        """The state of its congestion window."""
        if not self.has_lost:
            return SLOW_START
        if self.prior_acked < self.lost_below:
            return RECOVERY
        return AFTER_TIMEOUT if self.prior_segments < self.slow_below else AVOIDANCE

    def since(self, number: int) -> int:
        """Return a sequence number in bytes since the first."""
        assert self.base is not None
        return (number - self.base + _HALF) % _WRAP - _HALF


def follow(trace: Trace) -> None:
    """Add to each segment of TCP what its sender knew."""
    for host in trace.hosts.values():
        _follow(host)


def _follow(host: Host) -> None:
    sides: defaultdict[Ends, _Side] = defaultdict(_Side)
    sent, received = iter(host.sent), iter(host.received)
    out, into = next(sent, None), next(received, None)
    while out is not None or into is not None:
        if into is not None and (out is None or into.arrived < out.sent or into.precedes(out)):
            if into.is_tcp and host.wants(into):
                _receive(sides[into.connection], into)
            into = next(received, None)
        elif out is not None:
            if out.is_tcp and host.made(out):
                _send(sides[out.connection], out)
            out = next(sent, None)


def _receive(side: _Side, packet: Packet) -> None:
    side.move(packet.arrived)
    side.came = packet.arrived
    if packet.flags & SYN:
        mss, scale = _options(packet.options)
        side.mss, side.scale = min(side.mss, mss - _TIMESTAMPS), scale
    if packet.length:
        side.heard = True
    if packet.flags & ACK and side.base is not None:
        acked = side.since(packet.ack)
        side.acked = max(side.acked, acked)
        side.edge = _edge(side, packet, acked)
        while side.unacked and side.unacked[0] <= side.acked:
            side.unacked.popleft()
        side.segments = len(side.unacked)
        if side.small_end <= side.acked:
            side.small_end = -1


def _edge(side: _Side, packet: Packet, acked: int) -> int:
    """Return how far the other end's window reaches; -1 if its scale is unknown, because its SYN came before the captures."""
    if packet.flags & SYN or not packet.window:
        return acked + packet.window
    return -1 if side.scale is None else acked + (packet.window << side.scale)


def _send(side: _Side, packet: Packet) -> None:
    side.move(packet.sent)
    if side.base is None:
        side.base, side.opener = packet.seq, packet.is_opening
        side.records = Records() if packet.flags & SYN else None
    begin, end = side.since(packet.seq), side.since(packet.end)
    packet.mss = side.mss
    packet.flight = side.prior_highest - side.prior_acked
    packet.edge = side.prior_edge
    packet.segments, packet.side, packet.phase = side.prior_segments, side, side.phase
    packet.held = side.prior_small_end >= 0 and packet.length < side.mss
    packet.highest, packet.opens = side.prior_highest, side.opener
    if packet.length or packet.flags & (SYN | FIN):
        packet.repeated = side.opened and begin < side.highest
        if packet.repeated and packet.length:
            side.sends_again(begin, end, packet.sent)
        if packet.length and (side.heard or not side.turns):
            side.turns, side.heard = side.turns + 1, False
        if packet.length and not packet.repeated and side.records:
            packet.tls = side.records.add(packet.data, packet.length)
        if packet.tls and _is_hello(packet.data) and packet.data[5] == SERVER_HELLO:
            side.hello = side.turns
        packet.of_hello = side.turns == side.hello
        if packet.length and packet.length < side.mss and not packet.repeated:
            side.nodelay = side.nodelay or (side.small_end >= 0 and not packet.flags & FIN)  # close() waits for none
            side.small_end = end
        if not packet.repeated:
            side.unacked.append(end)
            side.segments += 1
        side.highest = max(side.highest, end)
        side.opened = True
    packet.edge = 0
    if side.prior_edge >= 0 and not packet.flags & (SYN | RST):  # of the first one that waited: ACKs may let go many at once
        packet.edge = side.prior_edge - side.prior_highest - (end - begin if begin <= side.prior_highest else side.mss)
    packet.end = end


def _options(options: bytes) -> tuple[int, int]:
    """Return the maximum segment size and the window's scale of a SYN."""
    mss, scale, at = USUAL_MSS + _TIMESTAMPS, 0, 0
    while at + 1 < len(options) and options[at]:
        kind, length = options[at], options[at + 1]
        if kind == 1:
            at += 1
            continue
        if kind == 2 and at + 4 <= len(options):
            mss = options[at + 2] << 8 | options[at + 3]
        elif kind == 3 and at + 3 <= len(options):
            scale = min(options[at + 2], 14)
        at += max(2, length)
    return mss, scale


class Records:
    """The records of TLS in a direction: their types, as far as they are whole and in order."""

    def __init__(self) -> None:
        self._left, self._head, self._kind, self._lost = 0, b"", 0, False

    def add(self, data: bytes, length: int) -> tuple[int, ...]:
        """Return the types of the records of which these bytes are a part; nothing for what is no TLS."""
        found: list[int] = []
        at = 0
        if (self._lost or self._head) and _is_hello(data):  # after words in plain text, as of PostgreSQL or SMTP
            self._left, self._head, self._lost = 0, b"", False
        while at < len(data) and not self._lost:
            if self._left:
                took = min(self._left, len(data) - at)
                self._left, at = self._left - took, at + took
                found.append(self._kind)
                continue
            took = min(5 - len(self._head), len(data) - at)
            self._head, at = self._head + data[at : at + took], at + took
            if len(self._head) == 5:
                self._kind, self._left = self._head[0], self._head[3] << 8 | self._head[4]
                self._lost = self._kind not in TLS_TYPES or self._head[1] != 3
                self._head = b""
        if len(data) < length:
            self._left -= length - len(data)
            self._lost = self._lost or self._left < 0
        return tuple(found)


def _is_hello(data: bytes) -> bool:
    """Return whether a handshake of TLS begins."""
    return (
        len(data) > 9
        and data[0] == HANDSHAKE
        and data[1] == 3
        and data[5] in (CLIENT_HELLO, SERVER_HELLO)
        and data[6:7] == b"\0"
    )
