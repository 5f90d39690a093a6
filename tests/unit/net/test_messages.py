"""The contents of netlink and ICMP messages; tests in the lab show that the kernel accepts them."""

import socket
import struct

import pytest

from slownet.links.ip import IPV4
from slownet.model.errors import NetworkError
from slownet.net import netlink, reach
from slownet.net.netlink import End


def attributes(data):
    found = {}
    while data:
        length, kind = struct.unpack_from("=HH", data)
        found[kind] = data[4:length]
        data = data[length + -length % 4 :]
    return found


def test_an_end_says_name_namespace_group_and_address():
    found = attributes(End("h1-eth0", 7, "02:00:00:00:00:0a").attributes(group=5))
    assert found[netlink.IFLA_IFNAME] == b"h1-eth0\0"
    assert found[netlink.IFLA_NET_NS_FD] == struct.pack("=i", 7)
    assert found[netlink.IFLA_GROUP] == struct.pack("=I", 5)
    assert found[netlink.IFLA_ADDRESS] == bytes([2, 0, 0, 0, 0, 10])
    assert netlink.IFLA_GSO_MAX_SEGS not in found
    assert attributes(End("h1-eth0", 7, None, 1).attributes(0))[netlink.IFLA_GSO_MAX_SEGS] == struct.pack("=I", 1)


def test_an_end_says_how_many_segments_a_packet_may_hold():
    assert netlink.IFLA_GSO_MAX_SEGS not in attributes(End("h1-eth0", 7, None).attributes(group=5))
    found = attributes(End("h1-eth0", 7, None, 1).attributes(group=5))
    assert found[netlink.IFLA_GSO_MAX_SEGS] == struct.pack("=I", 1)


def test_an_address_has_its_broadcast():
    found = attributes(netlink._address("lo", "10.1.2.3", "20")[8:])
    assert found[netlink.IFA_LOCAL] == found[netlink.IFA_ADDRESS] == bytes([10, 1, 2, 3])
    assert found[netlink.IFA_BROADCAST] == bytes([10, 1, 15, 255])
    assert netlink.IFA_BROADCAST not in attributes(netlink._address("lo", "10.1.2.3", "31")[8:])


def test_a_neighbour_has_its_address_and_state():
    message = netlink._neighbour("lo", "10.1.2.3", netlink.NUD_PERMANENT)
    assert struct.unpack_from("=BBHiHBB", message) == (2, 0, 0, 1, 0x80, 0, 0)  # lo is the first interface everywhere
    assert attributes(message[12:]) == {netlink.NDA_DST: bytes([10, 1, 2, 3])}
    of_ipv6 = netlink._neighbour("lo", "2001:db8::a01:203", netlink.NUD_PERMANENT)
    assert of_ipv6[0] == socket.AF_INET6
    assert attributes(of_ipv6[12:]) == {netlink.NDA_DST: socket.inet_pton(socket.AF_INET6, "2001:db8::a01:203")}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: End("averylonghost-eth0", 7, None).attributes(0), "'averylonghost-eth0' is not an interface name"),
        (lambda: End("h1-eth0", 7, "02:00").attributes(0), "'02:00' is not an Ethernet address"),
        (lambda: End("h1-eth0", 7, "zz:00:00:00:00:00").attributes(0), "is not an Ethernet address"),
        (lambda: netlink._address("lo", "10.0.0.256", "8"), "'10.0.0.256' is not an IPv4 address, interface lo"),
        (lambda: netlink._address("lo", "10.0.0.1", "33"), "'33' is not a prefix length"),
        (lambda: netlink._address("lo", "10.0.0.1", "None"), "'None' is not a prefix length"),
    ],
)
def test_what_cannot_be_is_one_line(wrong, message):
    with pytest.raises(NetworkError) as caught:
        wrong()
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_the_kernels_reason_is_read():
    text = b"Attribute failed policy validation.\0"
    extended = struct.pack("=HH", 4 + len(text), netlink.NLMSGERR_ATTR_MSG) + text
    answer = struct.pack("=IHHIIi", 0, netlink.NLMSG_ERROR, 0x300, 1, 0, -22) + bytes(16) + extended
    assert netlink._reason(answer, 0x300) == "Attribute failed policy validation"
    assert netlink._reason(answer[:36], 0x100) == ""


def test_an_echo_request_has_a_right_checksum():
    words = struct.unpack("!4H", IPV4.echo(reach._identity(), 0))
    total = sum(words)
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF  # RFC 1071
