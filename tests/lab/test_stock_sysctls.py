"""A host has the kernel's settings of stock Debian 13, but for a list with reasons."""

import pytest
from stock_sysctls import RECORD, compare, read, without_states

from slownet.net.network import Network
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
ALL = "sysctl -a 2>/dev/null"


@pytest.fixture(scope="module")
def of_a_host(net):
    return read(net["client"].cmd(ALL))


def test_every_difference_has_its_reason(of_a_host):
    unlisted, _ = compare(read(RECORD.read_text()), of_a_host)
    assert unlisted == []


@pytest.mark.strict
def test_every_reason_has_its_difference(of_a_host):
    _, unused = compare(read(RECORD.read_text()), of_a_host)
    assert unused == []


def test_buffers_are_debians(of_a_host):
    assert of_a_host["net.ipv4.tcp_rmem"] == "4096 131072 6291456"
    assert of_a_host["net.core.rmem_max"] == of_a_host["net.core.wmem_max"] == "212992"


def test_they_are_after_a_mininet_program_too(of_a_host):
    """Mininet's own limits stay with the machine, but no host of slownet gets them."""
    from mininet.util import fixLimits

    fixLimits()
    with Network(TwoHosts) as net:
        assert without_states(read(net["client"].cmd(ALL))) == without_states(of_a_host)


def test_a_syn_offers_what_debians_does(net):
    """44 segments of 1460 bytes; with Mininet's buffer it would be 29."""
    server, client = net["server"], net["client"]
    with net.capture("client", path="/tmp/syn.pcap", filter="tcp[tcpflags] & tcp-syn != 0"):
        program = "import socket; s = socket.create_server(('', 8000)); s.accept()"
        served = server.popen(["python3", "-c", program])
        client.cmd(f"until nc -z {server.IP()} 8000; do sleep 0.1; done")
        served.communicate()
    shown = client.cmd("tcpdump -nn -r /tmp/syn.pcap 2>/dev/null")
    assert "win 64240" in shown
    assert "win 65160" in shown  # the server's, whose timestamps are agreed already
