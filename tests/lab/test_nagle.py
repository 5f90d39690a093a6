"""Nagle's algorithm and delayed ACKs on the lab's kernel, with strace, tcpdump, nftables and a real database."""

import json

import pytest

from slownet.links.packets.capture import departures, read
from slownet.model.errors import ServiceError, ToolError
from slownet.net import strace
from slownet.net.network import Network
from slownet.net.tcpdump import Capture
from slownet.net.tool import run
from slownet.reproductions.delayed_ack import delayed_ack
from slownet.reproductions.exchange import exchange, witnessed
from slownet.reproductions.own_server import Peer, quick_route
from slownet.reproductions.proxied import ProxiedDatabase
from slownet.reproductions.queried_page import php_page
from slownet.topologies import ClientProxyServer, TwoHosts

TOPOLOGY = TwoHosts


@pytest.fixture
def peer(net, tmp_path):
    with Peer(net, tmp_path) as running:
        yield running


@pytest.mark.parametrize(
    ("pattern", "stalls"),
    [("write-write-read", True), ("write-read-write-read", False), ("nodelay", False), ("cork", False), ("one-write", False)],
)
def test_which_patterns_stall(net, peer, pattern, stalls):
    with peer.listening():
        record = exchange(net["client"], peer.address, pattern, count=10)
    assert len(record.stalls_ms) == (9 if stalls else 0)
    assert all(40 <= time <= 60 for time in record.stalls_ms)


def test_evidence_shows_writes_at_once_and_a_segment_after_the_ack(net, peer):
    with peer.listening():
        record = witnessed(exchange(net["client"], peer.address, "write-write-read", count=2), net["client"], peer.address)
    calls = [call for call in strace.parse(record.files["strace.txt"]) if call.name == "sendto"]
    found = departures([(call.ns, call.result) for call in calls], read(record.files["pcap"]))
    second = found[3]
    assert second.written - found[2].written < 10_000_000
    assert second.held_ms > 30
    assert second.acked > second.written


def test_crafted_segments_measure_the_delay_and_leave_no_rule(net, peer):
    with peer.listening():
        record = delayed_ack(net["client"], peer.address, count=5)
    assert len(record.delayed_ms) == 4
    assert record.resets > 0
    assert run(net["client"], ["nft", "list", "ruleset"]).stdout == ""


def test_crafted_segments_to_nobody_are_one_line_and_leave_no_rule(net):
    with pytest.raises(ToolError, match="does anything listen on port 5000"):
        delayed_ack(net["client"], net["server"].IP())
    assert run(net["client"], ["nft", "list", "ruleset"]).stdout == ""


def test_quickack_on_the_route_is_taken_back(net, peer):
    before = json.loads(run(net["server"], ["ip", "-json", "route"]).stdout)
    with quick_route(net["server"]):
        assert "quickack 1" in run(net["server"], ["ip", "route"]).stdout
    assert json.loads(run(net["server"], ["ip", "-json", "route"]).stdout) == before


def test_nobody_to_talk_to_is_one_line(net):
    with pytest.raises(ToolError, match="Connection refused"):
        exchange(net["client"], net["server"].IP(), "one-write")


def test_a_capture_of_no_interface_says_so(net, tmp_path):
    with (
        pytest.raises(ToolError, match=r"tcpdump: .*No such device"),
        Capture(net["client"], "nothing0", tmp_path / "x"),
    ):
        pass


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    with (
        Network(ClientProxyServer) as network,
        ProxiedDatabase(network, tmp_path_factory.mktemp("services")) as running,
    ):
        yield network, running


def test_a_query_stalls_in_the_proxy_only(database):
    net, running = database
    assert php_page(net["client"], running.address, queries=10).metrics()["stalls"]["mean"] == 0
    with running.through(size=128) as address:
        assert php_page(net["client"], address, queries=10).metrics()["stalls"]["mean"] == 10
        assert php_page(net["client"], address, queries=10, size=128).metrics()["stalls"]["mean"] == 0


def test_a_proxy_that_is_taken_away_is_one_line(database):
    net, running = database
    with running.through(size=128) as address:
        pass
    with pytest.raises(ToolError, match=r"page\.php: Connection refused"):
        php_page(net["client"], address, queries=1)


def test_a_proxy_whose_port_is_taken_shows_its_last_words(database):
    _, running = database
    with running.through(size=128), pytest.raises(ServiceError, match="Address already in use"), running.through(size=128):
        pass
