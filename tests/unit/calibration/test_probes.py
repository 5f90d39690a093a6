"""What the probes send, and what they read from segments, against scapy."""

import pytest
from scapy.layers.inet import ICMP, IP, TCP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.packet import Raw

from slownet.calibration.probes import echo_request, segment
from slownet.links.ip import IPV4, IPV6

OPTIONS = [("NOP", None), ("NOP", None), ("Timestamp", (1, 2))]


def test_an_echo_request_over_ipv4_has_its_checksum():
    request = echo_request(IPV4, 7)
    assert (ICMP(request).type, ICMP(request).seq) == (8, 7)
    again = ICMP(request)
    del again.chksum
    assert bytes(again) == request


def test_an_echo_request_over_ipv6_leaves_the_checksum_to_the_kernel():
    found = ICMPv6EchoRequest(echo_request(IPV6, 7))
    assert (found.type, found.seq, found.cksum) == (128, 7, 0)
    assert len(bytes(found)) == len(echo_request(IPV4, 7))


@pytest.mark.parametrize(("ip", "layer"), [(IPV4, IP), (IPV6, IPv6)], ids=str)
@pytest.mark.parametrize("options", [[], OPTIONS], ids=["plain", "timestamps"])
def test_a_segments_number_and_payload_are_read(ip, layer, options):
    packet = bytes(layer() / TCP(seq=4_000_000_007, options=options) / Raw(bytes(1000)))
    assert segment(ip, packet) == (4_000_000_007, 1000)
    assert segment(ip, packet[:72]) == (4_000_000_007, 1000)  # what a ring keeps of it
