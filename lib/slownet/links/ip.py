"""The two versions of IP as values: what a packet's header is like, and which sockets send it.

Sources: RFC 791 and RFC 792 for IPv4, RFC 8200 and RFC 4443 for IPv6; linux/in.h and linux/in6.h for the socket options.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

UDP_HEADER = 8  # RFC 768
ECHO = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence number
ECHO_HEADER = ECHO.size  # RFC 792, RFC 4443: 8
TCP_HEADER = 32  # RFC 9293: 20; RFC 7323: 12 of timestamps, which Linux sends in every segment
PMTUDISC_PROBE = 3  # of both versions' MTU_DISCOVER: never fragment, and do not believe the path MTU that was learned


@dataclass(frozen=True)
class IP:
    """One version of IP.

    version: 4 or 6.
    family: of sockets.
    ethertype: of frames that carry it.
    header: bytes of a header without options or extensions.
    protocol_at, length_at: offsets in the header, in bytes, of the payload's protocol and of the length.
    length_counts: bytes of the header that the length includes.
    icmp: the protocol number of its ICMP.
    echo_request, echo_reply: the ICMP types of an echo request and of its reply.
    mtu_discover: level and name of the socket option that forbids fragmentation.
    least_mtu: bytes. IPv6 needs 1280 of a link (RFC 8200, section 5). IPv4 would need 68, but hosts accept 576 (RFC 791,
        section 3.1).
    """

    version: int
    family: socket.AddressFamily
    ethertype: int
    header: int
    protocol_at: int
    length_at: int
    length_counts: int
    icmp: int
    echo_request: int
    echo_reply: int
    mtu_discover: tuple[int, int]
    least_mtu: int

    def protocol(self, packet: bytes) -> int:
        """Return the protocol number of a packet's payload."""
        return packet[self.protocol_at]

    def payload(self, packet: bytes) -> int:
        """Return the length of a packet's payload in bytes, as its header states it."""
        length = int.from_bytes(packet[self.length_at : self.length_at + 2], "big")
        return length - self.length_counts

    def echo(self, identity: int, number: int, content: bytes = b"") -> bytes:
        """Return an ICMP echo request with an even number of bytes of content, with its checksum over IPv4 (RFC 792).

        Over IPv6 the checksum includes the addresses (RFC 4443, section 2.3), and the kernel writes it (RFC 3542, section 3.1).
        """
        written = checksum(ECHO.pack(self.echo_request, 0, 0, identity, number) + content) if self.version == 4 else 0
        return ECHO.pack(self.echo_request, 0, written, identity, number) + content

    def __str__(self) -> str:
        return f"IPv{self.version}"


IPV4 = IP(4, socket.AF_INET, 0x0800, 20, 9, 2, 20, socket.IPPROTO_ICMP, 8, 0, (socket.IPPROTO_IP, 10), 576)
IPV6 = IP(6, socket.AF_INET6, 0x86DD, 40, 6, 4, 0, socket.IPPROTO_ICMPV6, 128, 129, (socket.IPPROTO_IPV6, 23), 1280)
VERSIONS: Mapping[int, IP] = {each.version: each for each in (IPV4, IPV6)}


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071) of an even number of bytes."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
