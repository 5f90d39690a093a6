"""What a capture tells of a link, against the link's condition and the drops that the kernel counted."""

import json

import pytest

from slownet import StaticPage, wget
from slownet.links.traces import traffic
from slownet.net.network import Network
from slownet.topologies import TwoHosts

BYTES = 2_000_000


def dropped(host):
    shown, _, _ = host.pexec("tc -s -json qdisc show dev server-eth0")
    return sum(each["drops"] for each in json.loads(shown) if each["kind"] == "netem")


def test_round_trip_and_losses_from_either_end(tmp_path):
    with (
        Network(TwoHosts) as net,
        StaticPage(net, tmp_path, length=BYTES) as page,
        net.link("client", "server").set(rtt="40ms", loss_down="2%", seed=7),
    ):
        before = dropped(net["server"])
        with (
            net.capture("client", path=tmp_path / "client.pcap", filter="tcp") as near,
            net.capture("server", path=tmp_path / "server.pcap", filter="tcp") as far,
        ):
            wget(net["client"], page.url)
        lost = dropped(net["server"]) - before
    assert lost > 10
    for end in (near, far):
        found = traffic.load(end.path)
        assert found.rtts == pytest.approx([0.04], abs=0.001)
        assert found.up.lost == 0
        # A retransmission that was not needed counts, too; one that was lost fills no hole: two at most of either.
        assert abs(found.down.lost - lost) <= 2
        assert found.condition().loss_down.mean == pytest.approx(0.02, abs=0.01)  # 3 standard deviations of 1385 segments
