"""The two versions of IP against scapy's packets."""

import socket

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.packet import Raw

from slownet.links.conditions.link import MTU
from slownet.links.ip import ECHO_HEADER, IPV4, IPV6, TCP_HEADER, UDP_HEADER, VERSIONS, checksum

LAYERS = {IPV4: IP, IPV6: IPv6}
TIMESTAMPS = [("NOP", None), ("NOP", None), ("Timestamp", (1, 2))]


@pytest.mark.parametrize(("ip", "layer"), LAYERS.items(), ids=str)
@pytest.mark.parametrize(
    ("upper", "protocol"), [(TCP(options=TIMESTAMPS), socket.IPPROTO_TCP), (UDP(), socket.IPPROTO_UDP)], ids=["TCP", "UDP"]
)
def test_a_header_is_read(ip, layer, upper, protocol):
    content = Raw(bytes(7))
    packet = bytes(layer() / upper / content)
    header = {socket.IPPROTO_TCP: TCP_HEADER, socket.IPPROTO_UDP: UDP_HEADER}[protocol]
    assert ip.protocol(packet) == protocol
    assert ip.payload(packet) == header + 7
    assert len(packet) == ip.header + header + 7


@pytest.mark.parametrize(("ip", "echo"), [(IPV4, IP() / ICMP(type=8)), (IPV6, IPv6() / ICMPv6EchoRequest())], ids=str)
def test_an_echo_request_has_its_type_and_size(ip, echo):
    packet = bytes(echo)
    assert len(packet) == ip.header + ECHO_HEADER
    assert (ip.protocol(packet), packet[ip.header]) == (ip.icmp, ip.echo_request)


def test_the_least_mtu_carries_what_each_version_must_carry():
    assert (IPV4.least_mtu, IPV6.least_mtu) == (576, 1280)  # RFC 791, 3.1; RFC 8200, 5
    assert [MTU - ip.header - TCP_HEADER for ip in (IPV4, IPV6)] == [1448, 1428]


def test_a_version_is_found_by_its_number():
    assert VERSIONS == {4: IPV4, 6: IPV6}
    assert [str(ip) for ip in VERSIONS.values()] == ["IPv4", "IPv6"]


def test_the_checksum_is_that_of_rfc_1071():
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == ~0xDDF2 & 0xFFFF  # its example in section 3
    packet = bytes(IP() / ICMP(type=8, id=1, seq=2) / Raw(bytes(range(200, 212))))[IPV4.header :]
    written = int.from_bytes(packet[2:4], "big")
    assert checksum(packet[:2] + bytes(2) + packet[4:]) == written
    assert checksum(bytes.fromhex("ffff") * 3) == 0
