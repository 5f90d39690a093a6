"""Packets of captures, as the account needs them: who sent what, and what distinguishes a packet from all others.

Captures of hosts are of Ethernet. What is read of a frame is little, because there may be millions: addresses, ports, TCP's
numbers, and the payload's first bytes. These are read here and not by tshark, which reads the contents of messages
(`slownet.waits.dissected`): for the 300,000 frames of 100,000 steps this takes 1.8 s of CPU, tshark 10.6 s for the same fields,
and a lab has none unless its project asks for it. For that reason types of TLS's records, the first byte of QUIC, frames of
HTTP/2 that only control a connection, and the ports of name servers are recognized here, too, and nothing else of any protocol.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from slownet.links.packets.capture_file import Frame

ARP, IPV4, IPV6 = 0x0806, 0x0800, 0x86DD
TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
ETHERNET = 1
ECHOES = {ICMP: (b"\x00", b"\x08"), ICMPV6: (b"\x80", b"\x81")}
"""First bytes of echoes and their answers."""
PLAIN = b"\x08\x00\x45"
"""Bytes 12 to 14 of a frame with a header of IPv4 that has no options."""
TLS_TYPES = {20, 21, 22, 23}
SETTINGS = 4
CONTROL = {SETTINGS, 6, 8}
"""Types of HTTP/2's frames that control a connection: SETTINGS, PING, WINDOW_UPDATE."""
KEPT = 1600
"""Bytes of the payload that are read: a whole segment, because records of TLS begin anywhere in one."""
HEAD = 64
"""Bytes of the payload that are kept of packets without TLS: a transfer of 100,000 segments fits in memory then."""
Ends = tuple[bytes, int, bytes, int, int]
"""A connection: address and port of both ends, in an order that is the same for both directions, and the protocol."""
_Addresses = tuple[bytes, bytes, int, int, Ends]
"""Source and target, their ports, and the connection."""
_TCP = struct.Struct("!HHIIHH")
_PLAIN_TCP = struct.Struct("!IIHH")
_UDP = struct.Struct("!HHH")


class Packet:
    """A packet on one hop, with the times when it was seen.

    Attributes
    ----------
    sent, left, arrived : int
        When the sender's queue got it, when it left that queue, and when the receiver had it, in ns; -1 if that was not seen.
    sender, receiver : str
        The hosts, empty if unknown.
    connection : tuple
        Its ends and its protocol, the same for both directions.
    hop : bytes or tuple
        What identifies it on its hop, as `hop_key` returns it, or else its fields.
    is_tcp, is_pure_ack : bool
        True for a segment of TCP, and if that only acknowledges. They are asked for a dozen times a packet.
    """

    __slots__ = (
        "ack", "arrived", "connection", "data", "dport", "edge", "end", "flags", "flight", "frame", "frame_arrived", "held",
        "highest", "hop", "identity", "interface", "interface_arrived", "is_pure_ack", "is_tcp", "kind", "left", "length",
        "mac", "mark", "mss", "of_hello", "opens", "options", "order", "phase", "protocol", "receiver", "repeated", "segments",
        "sender", "sent", "seq", "side", "size", "source", "sport", "target", "tls", "window",
    )  # fmt: skip

    def __init__(self, frame: Frame, hop: object = None, known: dict[bytes, _Addresses] | None = None) -> None:
        data = frame.data
        self.mac = data[6:12]
        self.size, self.frame, self.frame_arrived = frame.length, frame.number, 0
        self.sent = self.left = self.arrived = -1
        self.sender = self.receiver = self.interface = self.interface_arrived = ""
        self.protocol = self.identity = self.sport = self.dport = self.length = self.flags = 0
        self.seq = self.ack = self.window = self.end = self.mss = self.order = 0
        self.source = self.target = self.data = self.options = b""
        self.repeated = self.held = self.of_hello = self.opens = False
        self.flight = self.edge = self.highest = self.segments = 0
        self.phase = ""
        self.side: Any = None
        self.tls: Any = ()
        self.kind, self.mark = data[12] << 8 | data[13], 0
        if hop is not None and (data[16] or data[17] >= 40):
            self.hop = hop
            self._plain(data, known if known is not None else {})
            return
        if self.kind == IPV4 and len(data) >= 34:
            self._ipv4(data)
        elif self.kind == IPV6 and len(data) >= 54:
            self._ipv6(data)
        elif self.kind == ARP and len(data) >= 42:
            self.source, self.target, self.options = data[28:32], data[38:42], data[20:22]
        self.is_tcp = self.protocol == TCP
        self.is_pure_ack = self.is_tcp and not self.length and not self.flags & (SYN | FIN | RST)
        self.connection = _connection(self.source, self.sport, self.target, self.dport, self.protocol)
        self.mark = 0 if self.protocol == TCP else hash(self.data)
        self.hop = hop or self._key()

    def _plain(self, data: bytes, known: dict[bytes, _Addresses]) -> None:
        """Read a segment of TCP over IPv4 that has a `hop_key`. known: what others with the same addresses have read."""
        if (found := known.get(data[26:38])) is None:
            source, target, sport, dport = data[26:30], data[30:34], data[34] << 8 | data[35], data[36] << 8 | data[37]
            found = known[data[26:38]] = source, target, sport, dport, _connection(source, sport, target, dport, TCP)
        self.source, self.target, self.sport, self.dport, self.connection = found
        self.seq, self.ack, mixed, self.window = _PLAIN_TCP.unpack_from(data, 38)
        whole, body = 14 + (data[16] << 8 | data[17]), 34 + (mixed >> 12 << 2)
        self.identity, self.protocol, self.is_tcp = data[18] << 8 | data[19], TCP, True
        self.flags = flags = mixed & 0x3F
        self.options, self.data = data[54:body], data[body : min(whole, body + KEPT)]
        self.length = length = whole - body
        self.end = self.seq + length + (1 if flags & SYN else 0) + (flags & FIN)
        self.is_pure_ack = not length and not flags & (SYN | FIN | RST)

    def _ipv4(self, data: bytes) -> None:
        at = 14 + (data[14] & 15) * 4
        end = min(14 + (data[16] << 8 | data[17]), len(data))
        self.identity, self.protocol = data[18] << 8 | data[19], data[23]
        self.source, self.target = data[26:30], data[30:34]
        if (data[20] << 8 | data[21]) & 0x1FFF:
            self.protocol, self.options = 0, data[20:22]  # a later fragment, without ports
        self._transport(data, at, end, 14 + (data[16] << 8 | data[17]))

    def _ipv6(self, data: bytes) -> None:
        whole = 54 + (data[18] << 8 | data[19])
        self.protocol, self.source, self.target = data[20], data[22:38], data[38:54]
        self._transport(data, 54, min(whole, len(data)), whole)

    def _transport(self, data: bytes, at: int, end: int, whole: int) -> None:
        if self.protocol == TCP and end >= at + 20:
            self.sport, self.dport, self.seq, self.ack, mixed, self.window = _TCP.unpack_from(data, at)
            self.flags = mixed & 0x3F
            body = at + (mixed >> 12 << 2)
            self.options, self.data, self.length = data[at + 20 : body], data[body : min(end, body + KEPT)], whole - body
            self.end = self.seq + self.length + bool(self.flags & SYN) + bool(self.flags & FIN)
        elif self.protocol == UDP and end >= at + 8:
            self.sport, self.dport, _ = _UDP.unpack_from(data, at)
            self.data, self.length = data[at + 8 : min(end, at + 8 + KEPT)], whole - at - 8
        else:
            self.data, self.length = data[at : min(end, at + KEPT)], whole - at

    def _key(self) -> tuple[object, ...]:
        """Return the fields that identify it on its hop; a checksum may be filled in behind the queue, and ECN set."""
        return self.mac, self.identity, self.sport, self.dport, self.seq, self.ack, self.flags, self.size, self.options, (
            self.mark if self.protocol != TCP else self.source
        ), self.target  # fmt: skip

    @property
    def passing(self) -> tuple[object, ...]:
        """The fields that identify it on all hops: a router changes none of them."""
        return (
            self.source, self.target, self.identity, self.sport, self.dport, self.seq, self.ack, self.flags, self.length,
            self.protocol, self.mark,
        )  # fmt: skip

    def precedes(self, sent: Packet) -> bool:
        """Return whether it had arrived at the host that sent another packet when that one was sent.

        In the same instant the order of the frames in the capture of the interface decides.
        """
        if self.arrived != sent.sent:
            return self.arrived < sent.sent
        same_file = sent.left == sent.sent and sent.frame and self.frame_arrived and sent.interface == self.interface_arrived
        return not same_file or self.frame_arrived < sent.frame

    @property
    def is_quic(self) -> bool:
        """True if it opens a connection of QUIC: a datagram with the long header of an Initial packet (RFC 9000, 17.2)."""
        return self.protocol == UDP and self.data[:1] >= b"\xc0" and self.data[1:5] != bytes(4)

    @property
    def is_opening(self) -> bool:
        """True for a SYN, not for its answer."""
        return self.protocol == TCP and self.flags & (SYN | ACK) == SYN

    @property
    def is_control(self) -> bool:
        """True if it only controls a connection of HTTP/2 without TLS: after it, nothing waits for a timer of its receiver.

        It consists of frames of SETTINGS, PING and WINDOW_UPDATE (RFC 9113, 6).
        """
        at, whole = 0, len(self.data)
        if self.protocol != TCP or not 9 <= whole == self.length:
            return False
        while at + 9 <= whole and self.data[at + 3] in CONTROL:
            at += 9 + int.from_bytes(self.data[at : at + 3])
        return at == whole

    @property
    def is_settings(self) -> bool:
        """True if it begins with the SETTINGS of one end of HTTP/2, which the other end may wait for before it asks."""
        return self.is_control and self.data[3] == SETTINGS and not self.data[4] & 1

    @property
    def is_neighbours(self) -> bool:
        """True if it looks for a neighbour: ARP, or IPv6's solicitations and advertisements."""
        return self.kind == ARP or (self.protocol == ICMPV6 and self.data[:1] in (b"\x87", b"\x88"))

    @property
    def is_ping(self) -> bool:
        """True for an echo, or its answer."""
        return self.protocol in ECHOES and self.data[:1] in ECHOES[self.protocol]

    @property
    def is_for_many(self) -> bool:
        """True for a broadcast or multicast."""
        return bool(self.target and (self.target[0] == 0xFF or (len(self.target) == 4 and self.target[0] >= 224)))

    @property
    def is_housekeeping(self) -> bool:
        """True if no program asked for it: reports of multicast listeners, solicitations of routers."""
        return self.protocol == ICMPV6 and self.data[:1] not in (b"\x80", b"\x81", b"\x01", b"\x02", b"\x03", b"\x87", b"\x88")

    def ends(self) -> str:
        """Return the two ends as text, the sender's first."""
        if self.kind == ARP:
            return f"{ip_address(self.source)} > {ip_address(self.target)}"
        if len(self.source) not in (4, 16):
            return "a frame without an address"
        return f"{_end(self.source, self.sport)} > {_end(self.target, self.dport)}"


def hop_key(data: bytes) -> bytes | None:
    """Return what identifies a segment of TCP over IPv4 on its hop, of a frame's bytes; None for any other frame.

    Most frames of a capture are such, and two of three are seen a second time: their fields need not be read then. Without the
    checksums, which may be filled in behind the queue, and ECN.
    """
    if data[12:15] != PLAIN or len(data) < 54 or data[23] != TCP or (data[20] & 0x1F) or data[21]:
        return None
    return data[6:12] + data[16:20] + data[26:50] + data[54 : 34 + (data[46] >> 4 << 2)]


def _connection(source: bytes, sport: int, target: bytes, dport: int, protocol: int) -> Ends:
    if (source, sport) <= (target, dport):
        return source, sport, target, dport, protocol
    return target, dport, source, sport, protocol


class Shared:
    """Addresses that many packets share, kept once; and the connections that have shown records of TLS."""

    def __init__(self) -> None:
        self.addresses: dict[bytes, _Addresses] = {}
        self._known: dict[Any, Any] = {}
        self._secure: set[Ends] = set()

    def trim(self, packet: Packet) -> None:
        """Let a packet share its addresses with others, and drop most of its payload unless it may be of TLS."""
        once = self._known.setdefault
        packet.mac = once(packet.mac, packet.mac)
        packet.source, packet.target = once(packet.source, packet.source), once(packet.target, packet.target)
        packet.connection = once(packet.connection, packet.connection)
        data = packet.data
        if packet.is_tcp and packet.connection in self._secure:
            return
        if packet.is_tcp and data[1:2] == b"\3" and data[0] in TLS_TYPES:
            self._secure.add(packet.connection)
        elif len(data) > HEAD:
            packet.data = data[:HEAD]


@lru_cache(maxsize=1 << 12)
def _end(address: bytes, port: int) -> str:
    text = str(ip_address(address))
    text = f"[{text}]" if ":" in text and port else text
    return f"{text}:{port}" if port else text
