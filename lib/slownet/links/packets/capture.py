"""Reads TCP connections and UDP datagrams from a capture, and how long written bytes were held back."""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from slownet.model.errors import ToolError

SYN, FIN, RST, PSH, ACK = 0x02, 0x01, 0x04, 0x08, 0x10
WRAP = 1 << 32


@dataclass(frozen=True)
class Segment:
    """One TCP segment; ``ns`` since 1970, ``sequence`` and ``acknowledged`` relative to the first bytes sent.

    ``outward``: whether the side that opened the connection sent it. ``acknowledged`` counts the other direction's bytes.
    """

    ns: int
    outward: bool
    flags: int
    sequence: int
    acknowledged: int
    length: int
    data: bytes = field(default=b"", repr=False)
    """What the capture has of its payload."""

    @property
    def end(self) -> int:
        """The sequence number after its last byte."""
        return self.sequence + self.length


@dataclass(frozen=True)
class Departure:
    """The bytes up to ``end`` of one write: when the program wrote them and when the last of them left, in ns since 1970.

    ``acked`` is the time of the last ACK of new bytes before the segment left; None without one.
    """

    end: int
    written: int
    left: int
    acked: int | None

    @property
    def held_ms(self) -> float:
        """The time from the write to the wire, in ms."""
        return (self.left - self.written) / 1e6


@dataclass(frozen=True)
class Datagram:
    """The payload of one UDP datagram; ``ns`` since 1970; ``outward``: to the server's port."""

    ns: int
    outward: bool
    data: bytes = field(repr=False)


Ends = tuple[str, int, str, int]
"""Address and port of a packet's sender, then of its receiver."""


class _Sent(NamedTuple):
    """A TCP packet of a capture, as scapy's frame."""

    ns: int
    ends: Ends
    frame: Any


def read(source: Path | bytes) -> list[Segment]:
    """Return the segments of the first connection in a pcap, in the order of the capture.

    Raises
    ------
    ToolError
        It is not a capture, or has no start of a connection.
    """
    return connections(source)[0]


def connections(source: Path | bytes) -> list[list[Segment]]:
    """Return the segments of each connection that starts in a pcap, in the order of the capture.

    Raises
    ------
    ToolError
        It is not a capture, or has no start of a connection.
    """
    from scapy.layers.inet import TCP

    with undamaged(source):
        packets = [_Sent(ns, between(frame, TCP), frame) for ns, frame in frames(source) if TCP in frame]
    by_connection: dict[frozenset[tuple[str, int]], list[_Sent]] = {}
    for each in packets:
        by_connection.setdefault(_both(each.ends), []).append(each)
    openings: dict[Ends, _Sent] = {}
    for each in packets:
        if each.frame[TCP].flags.value & (SYN | ACK) == SYN:
            openings.setdefault(each.ends, each)  # a SYN that is sent again opens nothing new
    if not openings:
        raise ToolError(f"no connection starts in {len(packets)} TCP packets", _name(source))
    with undamaged(source):
        return [_segments(by_connection[_both(ends)], opening) for ends, opening in openings.items()]


def datagrams(source: Path | bytes, port: int) -> list[list[Datagram]]:
    """Return the UDP datagrams of each QUIC connection that a client begins with a server's port, in this order.

    Raises
    ------
    ToolError
        It is not a capture, or no connection begins.
    """
    from scapy.layers.inet import UDP

    found: dict[frozenset[tuple[str, int]], list[Datagram]] = {}
    for ns, frame in frames(source):
        if UDP in frame and port in (frame[UDP].dport, frame[UDP].sport):
            ends = between(frame, UDP)
            udp = frame[UDP]
            one = Datagram(ns, udp.dport == port, bytes(udp.payload)[: udp.len - 8])
            found.setdefault(_both(ends), []).append(one)
    # Others end what began before the capture: their first packet is the server's, or no Initial packet (RFC 9000, 17.2.2).
    begun = [flow for flow in found.values() if flow[0].outward and flow[0].data[:1] and flow[0].data[0] & 0xB0 == 0x80]
    if not begun:
        raise ToolError(f"no QUIC connection to port {port} begins", _name(source))
    return begun


def _damage() -> tuple[type[Exception], ...]:
    """Return what scapy's dissectors and aioquic raise for packets that are not as they should be."""
    from aioquic.quic.crypto import CryptoError
    from aioquic.tls import Alert
    from scapy.error import Scapy_Exception

    return (
        AssertionError, AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError, struct.error,
        Alert, CryptoError, Scapy_Exception,
    )  # fmt: skip


@contextlib.contextmanager
def undamaged(source: Path | bytes) -> Iterator[None]:
    """Read packets in this block: what scapy and aioquic raise for damaged ones becomes a ToolError."""
    try:
        yield
    except _damage() as error:
        why = f"{type(error).__name__}: {error}"
        raise ToolError(f"a packet of the capture is damaged ({why})", _name(source), "measure it again") from error


def _name(source: Path | bytes) -> str:
    return str(source) if isinstance(source, Path) else "capture"


def frames(source: Path | bytes) -> list[tuple[int, Any]]:
    """Return the frames of a pcap as scapy's packets, with their times in ns since 1970. Raises ToolError."""
    from scapy.error import Scapy_Exception
    from scapy.layers import inet6  # noqa: F401  # so that an IPv6 packet's payload is read
    from scapy.layers.l2 import Ether
    from scapy.utils import RawPcapReader

    try:
        content = source.read_bytes() if isinstance(source, Path) else source
        # raw, because scapy's own packets have their time as a float with a resolution of 240 ns
        with RawPcapReader(cast(str, io.BytesIO(content))) as reader, undamaged(source):
            fraction = 1 if reader.nano else 1000
            return [(meta.sec * 10**9 + meta.usec * fraction, Ether(data)) for data, meta in reader]
    except (Scapy_Exception, EOFError, OSError) as error:
        raise ToolError(f"the capture cannot be read: {error}", _name(source)) from error


def between(packet: Any, layer: Any) -> Ends:
    """Return address and port of a frame's sender, then of its receiver; `layer`: scapy's TCP or UDP."""
    ip = _ip(packet)
    return ip.src, packet[layer].sport, ip.dst, packet[layer].dport


def _both(ends: Ends) -> frozenset[tuple[str, int]]:
    """Return the two ends of a connection, the same for both directions."""
    return frozenset((ends[:2], ends[2:]))


def carried(packet: Any) -> int:
    """Return how many bytes of payload a TCP segment carries, without the padding of a short frame."""
    from scapy.layers.inet import IP, TCP

    ip = _ip(packet)
    whole = ip.len - 4 * ip.ihl if isinstance(ip, IP) else ip.plen - (len(ip.payload) - len(packet[TCP]))  # extension headers
    return int(whole - 4 * packet[TCP].dataofs)


def _ip(packet: Any) -> Any:
    """Return the packet of IPv4 or IPv6 in a frame."""
    from scapy.layers.inet import IP
    from scapy.layers.inet6 import IPv6

    return packet[IP] if IP in packet else packet[IPv6]


def _segments(packets: Sequence[_Sent], opening: _Sent) -> list[Segment]:
    """Return the segments of the connection that a SYN opens, among all packets between its ends."""
    from scapy.layers.inet import TCP

    first = {True: opening.frame[TCP].seq + 1, False: 0}
    segments = []
    for ns, ends, packet in packets:
        tcp = packet[TCP]
        outward = ends == opening.ends
        if not outward and tcp.flags.value & SYN:
            first[False] = tcp.seq + 1
        length = carried(packet)
        sequence, acknowledged = _since(tcp.seq, first[outward]), _since(tcp.ack, first[not outward])
        data = bytes(tcp.payload)[:length]  # without the padding of a short frame
        segments.append(Segment(ns, outward, tcp.flags.value, sequence, acknowledged, length, data))
    return segments


def _since(number: int, first: int) -> int:
    """Return a sequence number relative to the connection's first byte; -1 for the SYN itself."""
    distance = (number - first) % WRAP
    return distance - WRAP if distance > WRAP // 2 else distance


def departures(writes: Iterable[tuple[int, int]], segments: Sequence[Segment]) -> list[Departure]:
    """Match each write, ``(ns, bytes)`` in order, with the first segment that carried its last byte.

    Writes whose bytes were never sent are left out.
    """
    found = []
    end = 0
    for written, length in writes:
        end += length
        segment = next((each for each in segments if each.outward and each.length and each.end >= end), None)
        if segment is None:
            break
        acked = None
        highest = 0
        for each in segments:
            if each is segment:
                break
            if not each.outward and each.flags & ACK and each.acknowledged > highest:
                highest, acked = each.acknowledged, each.ns
        found.append(Departure(end, written, segment.ns, acked))
    return found
