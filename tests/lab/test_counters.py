"""Counters against tc and ip, and against the sender's and the receiver's counts of packets."""

import json
import time

import pytest
from traffic import Datagrams, lost

from slownet.lab.run.counters import Flow
from slownet.net.network import Network
from slownet.topologies import Star


@pytest.fixture
def link(net):
    for source in net.hosts:  # otherwise ARP requests would be counted
        for target in net.hosts:
            entry = f"{target.IP()} lladdr {target.MAC()} nud permanent dev {source.name}-eth0"
            source.cmd(f"ip neigh replace {entry}")
    return net.link("client", "switch")


def shown(node, interface):
    qdiscs = json.loads(node.pexec(f"tc -s -json qdisc show dev {interface}")[0])
    return qdiscs, json.loads(node.pexec(f"ip -s -json link show dev {interface}")[0])[0]["stats64"]


CHAINS = {
    "nothing": {},
    "delay and loss": {"rtt": "4ms", "loss": "5%", "seed": 3},
    "rate": {"rtt": "4ms", "rate": "5Mbit", "queue": "20 packets"},
    "a bucket": {"rtt": "4ms", "rate": "5Mbit", "burst": "3kB", "queue": "20 packets"},
    "fq_codel": {"rtt": "4ms", "rate": "2Mbit", "aqm": "fq_codel", "queue": "100 packets"},
    "pie": {"rtt": "4ms", "rate": "2Mbit", "aqm": "pie", "queue": "100 packets"},
    "cake": {"rtt": "4ms", "rate": "2Mbit", "aqm": "cake"},
}


@pytest.mark.parametrize("fields", CHAINS.values(), ids=CHAINS)
def test_tc_and_ip_say_the_same_and_what_is_lost_is_dropped(net, link, fields):
    with link.set(**fields):
        before = link.counters()
        missing = len(lost(net, 1500, size=500, burst=20, pause=0.010))
        after = link.counters()
        carried = after - before
        for node, interface, flow in ((net["client"], "client-eth0", after.up), (net["switch"], "switch-eth1", after.down)):
            qdiscs, interface = shown(node, interface)
            assert (flow.sent_packets, flow.sent_bytes) == (interface["tx"]["packets"], interface["tx"]["bytes"])
            assert set(flow.qdiscs) == {f"{each['kind']} {each['handle']}" for each in qdiscs}
            for each in qdiscs:
                own = flow.qdiscs[f"{each['kind']} {each['handle']}"]
                counted = (own.sent_packets, own.sent_bytes, own.dropped, own.overlimits, own.requeues)
                assert counted == tuple(each[name] for name in ("packets", "bytes", "drops", "overlimits", "requeues"))
                assert (own.backlog_packets, own.backlog_bytes) == (each["qlen"], each["backlog"]) == (0, 0)
    assert carried.up.dropped == missing
    assert carried.up.sent_packets == 1500 - missing
    assert carried.up.sent_bytes == (1500 - missing) * (500 + 14)
    assert carried.down == Flow(qdiscs=carried.down.qdiscs)
    if fields.get("seed"):
        assert missing > 0
    if fields.get("rate"):
        assert carried.up.dropped > 100


def test_what_waits_is_the_backlog(net, link):
    with link.set(rtt="2s", ping=False):
        sent = Datagrams(net["client"], net["web"], 30, burst=30, size=500, quiet=5)
        time.sleep(0.5)
        up = link.counters().up
        assert (up.backlog_packets, up.backlog_bytes) == (30, 30 * 514)
        sent.end()
        assert link.counters().up.backlog_packets == 0


def test_both_ends_see_the_same_link(net):
    one, other = net.link("client", "switch").counters(), net.link("switch", "client").counters()
    assert (one.up, one.down) == (other.down, other.up)
    assert net.counters()["client-switch"] == one
    assert set(net.counters()) == {"client-switch", "web-switch", "db-switch"}


def test_a_queue_that_is_replaced_keeps_its_overlimits(net, link):
    with link.set(rate="2Mbit", burst="3kB", queue="50 packets"):
        lost(net, 100, size=500, burst=50, pause=0.050)
        during = link.counters().up.overlimits
        assert during > 0
    assert link.counters().up.overlimits >= during


def test_a_large_networks_counters_are_read_quickly():
    with Network(Star(30)) as star:
        began = time.perf_counter()
        counted = star.counters()
        print(f"{(time.perf_counter() - began) / 31 * 1000:.3f} ms a link")
        assert len(counted) == 31
        assert all(each.up.sent_packets > 0 for each in counted.values())
