"""Judges fat_tree.py by the network that it describes, never by its word. A mark for each test."""

import json
import subprocess
import time
from collections import Counter
from itertools import pairwise

import pytest
from mininet.topo import Topo

from slownet import ping

HOSTS = 16  # of k = 4
DESCRIBE = """
import json, sys
sys.path.insert(0, "submission")
from fat_tree import FatTree
topo = FatTree(k=int(sys.argv[1]))
print(json.dumps({"hosts": topo.hosts(), "switches": topo.switches(), "links": topo.links()}))
"""


def described(k):
    """Return what the handed-in class makes for k: names of hosts and switches, and pairs of names."""
    done = subprocess.run(["timeout", "20", "python3", "-c", DESCRIBE, str(k)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stderr.splitlines() or ["it does not end"])[-1]
    found = json.loads(done.stdout)
    assert max(map(len, (*found["hosts"], *found["switches"]))) <= 8, "a name has more than 8 characters"
    return found["hosts"], found["switches"], [tuple(each[:2]) for each in found["links"]]


class Described(Topo):
    """The network as it is described, with a spanning tree."""

    def build(self, k):
        try:
            hosts, switches, links = described(k)
        except Exception:  # each test says so
            hosts, switches, links = ["h1", "h2"], [], [("h1", "h2")]
        for each in hosts:
            self.addHost(each)
        for number, each in enumerate(switches, 1):
            self.addSwitch(each, dpid=f"{number:x}", failMode="standalone", stp=True)
        for each in links:
            self.addLink(*each)


pytestmark = [pytest.mark.topology(Described, k=4), pytest.mark.tdf("inf")]


@pytest.mark.parametrize("k", [4, 6])
def test_it_has_as_many_of_each_as_a_fat_tree(k):
    hosts, switches, links = described(k)
    assert len(hosts) == k**3 // 4, f"{len(hosts)} hosts for k = {k}"
    assert len(switches) == 5 * k * k // 4, f"{len(switches)} switches for k = {k}"
    assert len(links) == 3 * k**3 // 4, f"{len(links)} links for k = {k}"


@pytest.mark.parametrize("k", [4, 6])
def test_every_switch_has_k_ports_and_every_host_one(k):
    hosts, switches, links = described(k)
    ports = Counter(end for link in links for end in link)
    assert {ports[each] for each in switches} == {k}, "a switch has another number of ports"
    assert {ports[each] for each in hosts} == {1}, "a host has another number of ports"
    assert len({frozenset(each) for each in links}) == len(links), "two links are between the same ends"


def test_the_hosts_reach_each_other_over_a_spanning_tree(net):
    hosts, _, _ = described(4)
    assert len(hosts) == HOSTS, f"{len(hosts)} hosts, not {HOSTS}"
    for one, other in pairwise(hosts):
        assert ping(net[one], net[other].IP(), count=3, interval=0.2).loss < 1, f"{one} does not reach {other}"


def test_whichever_link_of_an_edge_switch_fails_the_tree_mends_itself(net):
    hosts, switches, links = described(4)
    assert len(hosts) == HOSTS, f"{len(hosts)} hosts, not {HOSTS}"
    near, far = hosts[0], hosts[-1]
    (edge,) = (end for link in links if near in link for end in link if end != near)
    uplinks = [link for link in links if edge in link and set(link) <= set(switches)]
    assert len(uplinks) == 2, f"{edge} has {len(uplinks)} uplinks"
    for link in uplinks:
        with net.link(*link).set(loss="100%"):
            time.sleep(60)  # old messages count for 20 s, then a port listens and learns for 15 s each
            assert ping(net[near], net[far].IP(), count=5, interval=0.2).loss < 1, f"without {'-'.join(link)} nothing arrives"
        time.sleep(60)
