"""Slots and overhead as packets experience them, and reports of changes that failed or could not be verified."""

import os
import signal
from itertools import pairwise

import pytest
from readings import OWN_MS, qdiscs
from traffic import Datagrams, goodput

from slownet.model.errors import NetworkError
from slownet.net import tc
from slownet.net.network import Network
from slownet.topologies import ClientWebDb


@pytest.fixture
def link(net):
    return net.link("client", "switch")


def cable(net):
    """Return the options of the client's netem."""
    return qdiscs(net["client"], "client-eth0")["51:"]


def test_packets_of_a_slot_come_together(net, link):
    with link.set(delay="1ms", slot="20ms"):
        assert cable(net)["slot"] == {"min-delay": 0.02, "max-delay": 0.02, "packets": 0, "bytes": 0}
        rows = Datagrams(net["client"], net["web"], 200, size=200, burst=1, pause=0.002).end()
    assert "slot" not in cable(net)
    came = sorted(at for *_, at in rows)
    assert len(came) == 200
    gaps = [after - before for before, after in pairwise(came)]
    # one is sent every 2 ms: about ten wait for each slot and leave together
    waits = [gap for gap in gaps if gap > 0.010]
    assert 15 <= len(waits) <= 22
    assert all(0.019 <= gap <= 0.022 + OWN_MS / 1000 for gap in waits)
    assert all(gap <= OWN_MS / 1000 for gap in gaps if gap not in waits)


def test_a_slot_lets_so_many_packets_go(net, link):
    with link.set(slot="10ms 4 packets"):
        assert cable(net)["slot"] == {"min-delay": 0.01, "max-delay": 0.01, "packets": 4, "bytes": 0}
        rows = Datagrams(net["client"], net["web"], 40, size=200, burst=40).end()
    came = sorted(at for *_, at in rows)
    assert len(came) == 40
    assert 0.080 <= came[-1] - came[0] <= 0.101 + OWN_MS / 1000


@pytest.mark.parametrize("how", [{}, {"burst": "10kB"}, {"aqm": "fq_codel"}], ids=str)
def test_an_overhead_takes_its_part_of_the_rate(net, link, how):
    with link.set(rate="2Mbit", overhead="150B", **how):
        shown = qdiscs(net["client"], "client-eth0")
        options = next(shown[handle] for handle in ("52:", "53:") if handle in shown)
        assert (options if how else options["rate"])["overhead" if how else "packetoverhead"] == 150
        measured = goodput(net["client"], net["web"], 500_000)
    assert measured == pytest.approx(2e6 * 1448 / (1514 + 150), rel=0.02)
    with link.set(rate="2Mbit", **how):
        assert goodput(net["client"], net["web"], 500_000) == pytest.approx(2e6 * 1448 / 1514, rel=0.02)


def test_a_tc_that_hangs_is_one_error_and_the_link_is_as_before(net, link, monkeypatch):
    with link.set(rtt="10ms"):
        link.set(rtt="20ms", ping=False)
        monkeypatch.setattr(tc, "DEADLINE_S", 1.0)
        own = net["client"].cmd("readlink /proc/self/ns/net").strip()
        for pid in net.programs:
            if os.readlink(f"/proc/{pid}/ns/net") == own:
                os.kill(pid, signal.SIGSTOP)
        with pytest.raises(NetworkError, match=r"tc, asked 'qdisc .*', has not answered for 1 s, interface client-eth0"):
            link.set(rtt="30ms")
        monkeypatch.undo()
        assert link.condition.rtt == pytest.approx(0.020)
        assert cable(net)["delay"]["delay"] == pytest.approx(0.010)
    assert link.condition.rtt == 0


def test_a_change_that_no_ping_can_verify_is_told_from_one_that_needs_none(net, link):
    net.settings.clear()
    link.set(rtt="2ms")
    link.set(rtt="4ms", ping=False)
    link.set(rate="2Mbit", queue="50ms")
    stream = Datagrams(net["client"], net["web"], 2000, size=1000, burst=10, pause=0.020, quiet=1)
    try:
        net["db"].cmd("sleep 0.2")
        link.set(rate="2Mbit", queue="60ms", rtt="4ms")
    finally:
        stream.end()
        link.set()
    pinged, waived, _, full, plain = net.settings
    assert 2 <= pinged.ping.rtt_ms.min <= 2 + OWN_MS
    assert (waived.ping, waived.verification.unverified) == (None, "")
    assert full.ping is None
    assert full.verification.unverified in ("the pings waited behind other packets", "other packets fill the path")
    assert plain.ping is not None


def test_a_network_ends_its_programs_and_starts_them_again(net):
    with Network(ClientWebDb) as other:
        other.link("client", "switch").set(rtt="10ms")
        running = other.programs - net.programs  # both share the switches' tc
        assert len(running) == 2  # those of the hosts between which the ping goes
        other.end_programs()
        assert other.programs == frozenset()
        assert not [pid for pid in running if os.path.exists(f"/proc/{pid}")]
        other.link("client", "switch").set(rtt="20ms")
        assert other.programs
    assert other.programs == frozenset()
    net.link("client", "switch").set()
