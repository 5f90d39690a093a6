"""Connections that compete for a bottleneck: which share each gets, and that marks are used and given back."""

import re

import pytest

from slownet.model.errors import ToolError
from slownet.tools.competing import competing
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RATE, RTT, FRAME = 4e6, "20ms", 1514


def counted(host, what):
    """Return the largest number that tc's statistics show under a name, of all queues of a host."""
    return max((int(number) for number in re.findall(rf"{what} (\d+)", host.cmd("tc -s qdisc show"))), default=0)


def settings(net):
    routes = [net[name].cmd("ip route show") for name in ("client", "server")]
    return [*routes, *(net[name].cmd("sysctl -n net.ipv4.tcp_ecn") for name in ("client", "server"))]


def test_dctcp_and_its_neighbour_are_marked_not_dropped(net):
    before = settings(net)
    fields = {"aqm": f"red {10 * FRAME}B {11 * FRAME}B", "ecn": "on", "queue": "200 packets"}
    with net.link("client", "server").set(rtt=RTT, rate=f"{RATE:.0f}bit", **fields):
        record = competing(net["client"], net["server"], ("dctcp", "cubic"), seconds=4, settle=2)
        assert counted(net["client"], "marked") > 0
    assert record.congestion == ("dctcp", "cubic")
    assert 0.5 < record.first_share.mean < 1
    assert 0.75 * RATE / 1e6 <= record.mbit_per_s.mean <= RATE / 1e6
    assert settings(net) == before


def test_four_connections_share_a_plain_queue_without_marks(net):
    with net.link("client", "server").set(rtt=RTT, rate=f"{RATE:.0f}bit", queue="20 packets"):
        record = competing(net["client"], net["server"], ("cubic",), seconds=4, settle=2, connections=4)
        assert counted(net["client"], "dropped") > 0
    assert "first_share" not in record.metrics()
    assert len(record.carried[0]) == 4
    assert 1 / 4 < record.jain_index.mean <= 1
    assert 20 <= record.rtt_ms.mean <= 20 + 21 * 8e3 * FRAME / RATE


def test_a_congestion_control_that_the_kernel_lacks_is_one_line(net):
    with net.link("client", "server").set(rtt=RTT), pytest.raises(ToolError, match=r"iperf3: .*congestion") as caught:
        competing(net["client"], net["server"], ("unknown",), seconds=1, settle=0)
    assert len(str(caught.value).splitlines()) == 1
