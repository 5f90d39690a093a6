"""Finds the TCP segment in a frame: link headers, VLAN tags, MPLS, PPPoE, IP in IP, GRE, VXLAN and Geneve are taken off.

Link types: https://www.tcpdump.org/linktypes.html. A packet's length is what its IP header states, so that a frame's padding
and the bytes that a snapshot length cut off do not matter, but not more than the frame's; where it states 0, as with
segmentation offload, it is the frame's.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from slownet.links.packets.capture_file import Frame

IPV4, IPV6, TCP, UDP = 0x0800, 0x86DD, 6, 17
VLANS = (0x8100, 0x88A8, 0x9100, 0x9200)
MPLS, PPPOE = (0x8847, 0x8848), 0x8864
TEB = 0x6558
"""Transparent Ethernet bridging: a frame inside of a tunnel."""
PPP = {0x21: IPV4, 0x57: IPV6, 0x281: MPLS[0], 0x283: MPLS[1]}
BSD_IPV6 = (10, 23, 24, 28, 30)
"""AF_INET6 of Linux, Windows, NetBSD, FreeBSD and macOS; AF_INET is 2 everywhere."""
VXLAN_PORT, GENEVE_PORT = 4789, 6081
DEEPEST = 8
"""Tunnels in one another."""
_EXTENSIONS = (0, 43, 60, 135)  # hop by hop, routing, destination, mobility: each states its length in units of 8 bytes
_FRAGMENT, _AUTHENTICATION = 44, 51
_IPIP, _IPV6_IN, _GRE = 4, 41, 47
_TCP = struct.Struct("!HHIIHH")


class Packet(NamedTuple):
    """A TCP segment: ports and numbers as its header has them.

    ``identity`` is IPv4's identification, 0 over IPv6; ``options`` the bytes of TCP options, ``mss`` the maximum segment size
    among them or 0; ``length`` the payload's bytes on the wire, ``header`` the captured TCP header, ``data`` the payload.
    """

    ns: int
    source: bytes
    sport: int
    target: bytes
    dport: int
    sequence: int
    acknowledged: int
    flags: int
    window: int
    length: int
    options: int
    mss: int
    identity: int
    header: bytes
    data: bytes


class DamagedFrameError(Exception):
    """A frame whose headers are not whole, and why."""


class FragmentError(Exception):
    """A fragment of a packet of IP."""


def segment(frame: Frame) -> Packet | None:
    """Return the TCP segment of a frame; None if it has none.

    Raises DamagedFrameError: a header is not whole, or contradicts itself. Raises FragmentError: it is a fragment of a packet.
    Raises KeyError: its link type is not known: ask `LINKS`.
    """
    try:
        kind, at = LINKS[frame.link](frame.data)
        return _network(kind, frame, at)
    except (IndexError, struct.error):
        raise DamagedFrameError(f"its {len(frame.data)} bytes end in a header") from None


def _ethernet(data: bytes) -> tuple[int, int]:
    if len(data) < 14:
        raise DamagedFrameError(f"its {len(data)} bytes are not an Ethernet header")
    return data[12] << 8 | data[13], 14


def _word(at: int, header: int) -> Callable[[bytes], tuple[int, int]]:
    """Return the reader of a link header of so many bytes, with an Ethernet type at an offset."""

    def read(data: bytes) -> tuple[int, int]:
        if len(data) < header:
            raise DamagedFrameError(f"its {len(data)} bytes are not a header of its link")
        return data[at] << 8 | data[at + 1], header

    return read


def _raw(data: bytes) -> tuple[int, int]:
    if not data:
        raise DamagedFrameError("it is empty")
    return {4: IPV4, 6: IPV6}.get(data[0] >> 4, 0), 0


def _null(data: bytes) -> tuple[int, int]:
    if len(data) < 4:
        raise DamagedFrameError(f"its {len(data)} bytes are not a header of its link")
    family = max(data[0], data[3])  # in the byte order of the machine that captured; all families are below 256
    return IPV4 if family == 2 else IPV6 if family in BSD_IPV6 else 0, 4


def _ppp(data: bytes) -> tuple[int, int]:
    at = 2 if data[:2] == b"\xff\x03" else 0
    if len(data) < at + 2:
        raise DamagedFrameError(f"its {len(data)} bytes are not a header of PPP")
    if data[at] & 1:  # a protocol of one byte (RFC 1661, 6.5)
        return PPP.get(data[at], 0), at + 1
    return PPP.get(data[at] << 8 | data[at + 1], 0), at + 2


def _wifi(data: bytes, is_padded: bool = False) -> tuple[int, int]:
    """Read IEEE 802.11 (2020, 9.2.4): of data that is not encrypted, a header, then LLC with SNAP and the Ethernet type.

    is_padded: whether the header is followed by zeros, up to a multiple of four bytes.
    """
    if len(data) < 2:
        raise DamagedFrameError(f"its {len(data)} bytes are not a header of its link")
    kind, flags = data[0], data[1]
    if kind & 0x4C != 0x08 or flags & 0x40:  # not data, or without a content, or encrypted
        return 0, len(data)
    has_quality, has_control = kind >> 7, kind >> 7 & flags >> 7
    quality = 24 + 6 * (flags & 3 == 3)
    at = quality + 2 * has_quality + 4 * has_control
    at += -at % 4 if is_padded else 0
    if len(data) < at + 8:
        raise DamagedFrameError(f"its {len(data)} bytes are not a header of its link")
    is_part = flags & 0x04 or data[22] & 0x0F
    is_many = has_quality and data[quality] & 0x80
    if is_part or is_many or data[at : at + 6] not in SNAP:
        return 0, len(data)
    return data[at + 6] << 8 | data[at + 7], at + 8


def _radiotap(data: bytes) -> tuple[int, int]:
    """Read https://www.radiotap.org: what the radio reports of a frame, such as whether its header is padded, and the frame."""
    if len(data) < 8 or len(data) < (size := data[2] | data[3] << 8):
        raise DamagedFrameError(f"its {len(data)} bytes are not a header of its link")
    at, there = 4, data[4]
    while data[at + 3] & 0x80:  # there are more words of what there is
        at += 4
    at += 4
    at += -at % 8 + 8 if there & 1 else 0
    kind, begin = _wifi(data[size:], is_padded=bool(there & 2 and data[at] & 0x20))
    return kind, size + begin


SNAP = (b"\xaa\xaa\x03\x00\x00\x00", b"\xaa\xaa\x03\x00\x00\xf8")
LINKS: Mapping[int, Callable[[bytes], tuple[int, int]]] = {
    0: _null, 1: _ethernet, 9: _ppp, 12: _raw, 14: _raw, 50: _ppp, 101: _raw, 104: _word(2, 4), 105: _wifi, 108: _null,
    113: _word(14, 16), 127: _radiotap, 228: _raw, 229: _raw, 242: _word(40, 44), 276: _word(0, 20),
}  # fmt: skip
"""By a link type that is read, a function that returns the Ethernet type of what a frame carries, and where that begins."""
NAMES: Mapping[int, str] = {
    0: "NULL", 1: "Ethernet", 6: "Token Ring", 7: "ARCNET", 8: "SLIP", 9: "PPP", 10: "FDDI", 50: "PPP_HDLC", 51: "PPPoE",
    100: "ATM", 101: "raw IP", 104: "Cisco HDLC", 105: "IEEE 802.11", 107: "Frame Relay", 108: "LOOP",
    113: "Linux cooked (SLL)", 119: "Prism and IEEE 802.11",
    127: "radiotap and IEEE 802.11", 163: "AVS and IEEE 802.11", 187: "Bluetooth", 189: "USB",
    192: "PPI", 195: "IEEE 802.15.4", 201: "Bluetooth", 220: "USB", 227: "CAN", 228: "IPv4", 229: "IPv6", 239: "NFLOG",
    242: "IP over InfiniBand", 253: "netlink", 276: "Linux cooked (SLL2)",
}  # fmt: skip


def link_name(link: int) -> str:
    """Return how errors name a link type."""
    return f"{NAMES[link]} (link type {link})" if link in NAMES else f"link type {link}"


def _network(kind: int, frame: Frame, at: int) -> Packet | None:
    """Return the TCP segment in a packet of an Ethernet type at an offset of a frame."""
    data = frame.data
    for _ in range(DEEPEST):
        kind, at = _untagged(kind, data, at)
        if kind == IPV4:
            inner = _ipv4(frame, at)
        elif kind == IPV6:
            inner = _ipv6(frame, at)
        else:
            return None
        if inner is None or isinstance(inner, Packet):
            return inner
        kind, at = inner
    return None


def _untagged(kind: int, data: bytes, at: int) -> tuple[int, int]:
    """Take off VLAN tags, MPLS labels, PPPoE, LLC with SNAP and an inner Ethernet header."""
    while True:
        if kind in VLANS:
            kind, at = data[at + 2] << 8 | data[at + 3], at + 4
        elif kind in MPLS:
            while not data[at + 2] & 1:
                at += 4
            at += 4
            kind = {4: IPV4, 6: IPV6}.get(data[at] >> 4, 0)
        elif kind == PPPOE:
            kind, at = PPP.get(data[at + 6] << 8 | data[at + 7], 0), at + 8
        elif kind == TEB:
            kind, at = data[at + 12] << 8 | data[at + 13], at + 14
        elif kind <= 1500 and data[at : at + 6] == b"\xaa\xaa\x03\0\0\0":
            kind, at = data[at + 6] << 8 | data[at + 7], at + 8
        else:
            return kind, at


Inner = tuple[int, int]


def _ipv4(frame: Frame, at: int) -> Packet | Inner | None:
    data = frame.data
    header = (data[at] & 15) * 4
    if data[at] >> 4 != 4 or header < 20 or len(data) < at + 20:
        raise DamagedFrameError("its header of IPv4 is damaged")
    whole = data[at + 2] << 8 | data[at + 3] or frame.length - at
    if whole < header:
        raise DamagedFrameError(f"its packet states {whole} bytes")
    if (data[at + 6] << 8 | data[at + 7]) & 0x3FFF:
        raise FragmentError
    ends = data[at + 12 : at + 16], data[at + 16 : at + 20]
    end = min(at + whole, frame.length)
    return _transport(frame, data[at + 9], at + header, end, ends, data[at + 4] << 8 | data[at + 5])


def _ipv6(frame: Frame, at: int) -> Packet | Inner | None:
    data = frame.data
    if data[at] >> 4 != 6 or len(data) < at + 40:
        raise DamagedFrameError("its header of IPv6 is damaged")
    stated = data[at + 4] << 8 | data[at + 5]
    end = min(at + 40 + stated, frame.length) if stated else frame.length
    ends = data[at + 8 : at + 24], data[at + 24 : at + 40]
    following, at = data[at + 6], at + 40
    while True:
        if following in _EXTENSIONS:
            following, at = data[at], at + 8 + 8 * data[at + 1]
        elif following == _AUTHENTICATION:
            following, at = data[at], at + 8 + 4 * data[at + 1]
        elif following == _FRAGMENT:
            if (data[at + 2] << 8 | data[at + 3]) & 0xFFF9:
                raise FragmentError
            following, at = data[at], at + 8
        else:
            return _transport(frame, following, at, end, ends, 0)


def _transport(
    frame: Frame, protocol: int, at: int, end: int, ends: tuple[bytes, bytes], identity: int
) -> Packet | Inner | None:
    data = frame.data
    if protocol == TCP:
        return _tcp(frame, at, end, ends, identity)
    if protocol == _IPIP:
        return IPV4, at
    if protocol == _IPV6_IN:
        return IPV6, at
    if protocol == _GRE and not data[at + 1] & 7:
        optional = bool(data[at] & 0xC0) + bool(data[at] & 0x20) + bool(data[at] & 0x10)  # checksum or route, key, number
        return data[at + 2] << 8 | data[at + 3], at + 4 + 4 * optional
    if protocol == UDP:
        port = data[at + 2] << 8 | data[at + 3]
        if port == VXLAN_PORT:
            return TEB, at + 16
        if port == GENEVE_PORT:
            return data[at + 10] << 8 | data[at + 11], at + 16 + 4 * (data[at + 8] & 0x3F)
    return None


def _tcp(frame: Frame, at: int, end: int, ends: tuple[bytes, bytes], identity: int) -> Packet:
    data = frame.data
    sport, dport, sequence, acknowledged, mixed, window = _TCP.unpack_from(data, at)
    header = mixed >> 12 << 2
    body = at + header
    if header < 20 or body > end:
        raise DamagedFrameError(f"its TCP header states {header} bytes of {max(0, end - at)}")
    if len(data) < min(at + 20, end):
        raise DamagedFrameError(f"its {len(data)} bytes end in a header")
    flags = mixed & 0xFFF
    mss = _mss(data, at + 20, min(body, len(data))) if flags & 2 and header > 20 else 0
    return Packet(
        frame.ns, ends[0], sport, ends[1], dport, sequence, acknowledged, flags, window, end - body, header - 20, mss, identity,
        data[at:body], data[body:end],
    )  # fmt: skip


def _mss(data: bytes, at: int, end: int) -> int:
    """Return the maximum segment size of TCP's options; 0 without one."""
    while at + 1 < end and data[at]:
        if data[at] == 1:  # padding
            at += 1
            continue
        if data[at] == 2 and data[at + 1] == 4 and at + 4 <= end:
            return data[at + 2] << 8 | data[at + 3]
        at += max(2, data[at + 1])
    return 0
