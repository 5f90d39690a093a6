"""Pages over a path whose MTU is smaller than the ends believe."""

import pytest
from distances import distances

from slownet.reproductions.narrow_path import MTU, NarrowPath
from slownet.theory.path_mtu import BASE_MSS, probing_begins_ms
from slownet.topologies import Chain

TOPOLOGY = Chain
RTT_MS = 20
TIMESTAMPS, HEADERS = 12, 40


@pytest.fixture(scope="module")
def path(net, tmp_path_factory):
    with NarrowPath(net, tmp_path_factory.mktemp("path")) as found, net.link("r1", "client").set(delay_up=f"{RTT_MS}ms"):
        yield found


def test_a_page_hangs_after_the_handshake_in_a_black_hole(path):
    found = path.page("none")
    assert (found.received, found.first_byte_ms, found.segment) == (0, None, 0)
    assert set(found.metrics()) == {"received_bytes"}


@pytest.mark.parametrize("cure", ["ICMP", "clamping"])
def test_a_router_that_says_so_or_lowers_the_mss_costs_nothing(path, cure):
    found = path.page(cure)
    assert found.received > 100_000
    assert found.first_byte_ms == pytest.approx(2 * RTT_MS, rel=0.01)
    assert found.segment == MTU - HEADERS - TIMESTAMPS


@distances()
def test_probing_finds_a_way_after_the_timeouts(net, path, rtt_ms):
    """Within the slots of the kernel's timers, and a millisecond for what the programs and clocks need."""
    with net.link("r1", "client").set(delay_up=f"{rtt_ms}ms"):
        found = path.page("probing")
    begins, latest = probing_begins_ms(rtt_ms)
    assert found.received > 100_000
    assert 2 * rtt_ms + begins <= found.first_byte_ms <= 2 * rtt_ms + latest + 1
    assert BASE_MSS <= found.segment <= MTU - HEADERS - TIMESTAMPS


def test_the_next_page_is_not_served_by_what_an_earlier_one_learnt(path):
    assert path.page("ICMP").received > 100_000
    assert path.page("none").received == 0
