"""Tests of what a run records of its network, on a real one."""

from slownet import ClientEdgeWebDb
from slownet.net.layout import given, layout
from slownet.net.network import Network


def test_a_network_says_what_it_looks_like_and_which_conditions_its_links_had():
    with Network(ClientEdgeWebDb) as net:
        found = layout(net.hosts, net.switches, net.mininet.links)
        assert sorted(found["hosts"]) == ["client", "db", "edge", "web"]
        assert sorted(found["switches"]) == ["far", "near"]
        assert found["links"]["near-far"] == ["near", "far"]
        assert len(found["links"]) == 5
        net.condition_log.begin()
        with net.link("far", "near").set(rtt="40ms", loss="1%"):
            pass
        assert given(net.mininet.links, net.condition_log.given, {}) == {"near-far": "+40 ms RTT, loses 1 %"}
        net.condition_log.begin()
        assert given(net.mininet.links, net.condition_log.given, {}) == {}
