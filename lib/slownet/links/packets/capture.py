"""Reads TCP connections and UDP datagrams from a capture, and how long written bytes were held back."""

from __future__ import annotations

import contextlib
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.links.packets import decoding
from slownet.links.packets.capture_file import CaptureFile, Frame
from slownet.links.packets.decoding import Packet
from slownet.links.packets.tcp_analysis import ACK, FIN, PSH, RST, SYN, WRAP, Connection, Connections
from slownet.model.errors import ToolError

__all__ = ["ACK", "FIN", "PSH", "RST", "SYN"]


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
    """The captured part of its payload."""

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


ETHERNET = 1
Ends = tuple[str, int, str, int]
"""Address and port of a packet's sender, then of its receiver."""


def read(source: Path | bytes) -> list[Segment]:
    """Return the segments of the first connection in a pcap, in the order of the capture.

    Raises ToolError: it is not a capture, or has no start of a connection.
    """
    return connections(source)[0]


def connections(source: Path | bytes) -> list[list[Segment]]:
    """Return the segments of each connection that starts in a pcap, in the order of the capture.

    Raises ToolError: it is not a capture, or has no start of a connection.
    """
    found, packets = Connections(), 0
    segments: dict[int, list[tuple[Packet, int]]] = {}
    opened: dict[int, Connection] = {}
    for packet in _packets(source):
        packets += 1
        one, side = found.find(packet)
        # Whoever sends the first SYN opens it; what was sent before is of a connection that the capture has no start of.
        if packet.flags & (SYN | ACK) == SYN and one.opener is None:
            one.opener, one.sides[side].base = side, packet.sequence
            opened[one.number] = one
        segments.setdefault(one.number, []).append((packet, side))
    if not opened:
        raise ToolError(f"no connection starts in {packets} TCP packets", _name(source))
    return [_segments(segments[number], one.opener or 0) for number, one in opened.items()]


def _packets(source: Path | bytes) -> Iterator[Packet]:
    """Yield the TCP packets of a capture. Raises ToolError, also for a damaged one."""
    for frame in _frames(source):
        try:
            packet = decoding.segment(frame)
        except decoding.DamagedFrameError as error:
            what = f"a packet of the capture is damaged (frame {frame.number}: {error})"
            raise ToolError(what, _name(source), "measure it again") from error
        except decoding.FragmentError:
            continue
        if packet:
            yield packet


def datagrams(source: Path | bytes, port: int) -> list[list[Datagram]]:
    """Return the UDP datagrams of each QUIC connection that a client begins with a server's port, in this order.

    Raises ToolError: it is not a capture, or no connection begins.
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
    """Return what scapy's dissectors and aioquic raise for packets that are not as they should be.

    aioquic need not be installed: what has not been imported raises nothing.
    """
    from scapy.error import Scapy_Exception

    names = (("aioquic.quic.crypto", "CryptoError"), ("aioquic.tls", "Alert"))
    raised = (getattr(sys.modules[module], name) for module, name in names if module in sys.modules)
    return (
        AssertionError, AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError, struct.error,
        Scapy_Exception, *raised,
    )  # fmt: skip


@contextlib.contextmanager
def undamaged(source: Path | bytes) -> Iterator[None]:
    """Read packets in this block: what scapy and aioquic raise for damaged ones becomes a ToolError."""
    try:
        yield
    except ImportError as error:
        what = f"TLS and QUIC of a capture cannot be read: {error.name} is not installed"
        raise ToolError(what, _name(source), "pip install aioquic") from error
    except _damage() as error:
        why = f"{type(error).__name__}: {error}"
        raise ToolError(f"a packet of the capture is damaged ({why})", _name(source), "measure it again") from error


def _name(source: Path | bytes) -> str:
    return str(source) if isinstance(source, Path) else "capture"


def frames(source: Path | bytes) -> list[tuple[int, Any]]:
    """Return the frames of a capture of Ethernet as scapy's packets, with their times in ns since 1970. Raises ToolError."""
    from scapy.layers import inet6  # noqa: F401  # so that an IPv6 packet's payload is read
    from scapy.layers.l2 import Ether

    with undamaged(source):
        return [(each.ns, Ether(each.data)) for each in _frames(source, only=(ETHERNET,))]


def _frames(source: Path | bytes, only: Iterable[int] = decoding.LINKS) -> list[Frame]:
    """Return the frames of a capture. Raises ToolError, also for another link type."""
    try:
        capture = CaptureFile(source.read_bytes() if isinstance(source, Path) else source, _name(source))
    except OSError as error:
        raise ToolError(f"the capture cannot be read: {error}", _name(source)) from error
    found = list(capture)
    if other := next((each.link for each in found if each.link not in only), None):
        raise ToolError(f"the capture has frames of {decoding.link_name(other)}", _name(source))
    return found


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


def _segments(packets: Sequence[tuple[Packet, int]], opener: int) -> list[Segment]:
    """Return the segments of a connection from its packets, each with the index of its sender."""
    syns = {side == opener: packet.sequence + 1 for packet, side in reversed(packets) if packet.flags & SYN}
    first = {True: syns[True], False: syns.get(False, 0)}
    segments = []
    for packet, side in packets:
        outward = side == opener
        sequence = _since(packet.sequence, first[outward])
        acknowledged = _since(packet.acknowledged, first[not outward])
        segments.append(Segment(packet.ns, outward, packet.flags, sequence, acknowledged, packet.length, packet.data))
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
