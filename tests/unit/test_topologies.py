import ast
from itertools import pairwise
from pathlib import Path

import pytest
from mininet.topo import Topo

from slownet import topologies
from slownet.model.errors import ExperimentError, NetworkError
from slownet.net import check_topology
from slownet.topologies import Chain, Dumbbell, PrimaryReplicas, Star, ThreeRegions, TwoHosts

FOLDER = Path(topologies.__file__).parent
KNOWN = topologies.known()
MOST = {
    "dumbbell": 254,
    "star": 1021,
    "chain": 62,
    "primary_replicas": 252,
    "broker_worker_database": 251,
    "three_regions": 253,
}


def edges(topology):
    return {frozenset(pair) for pair in topology.links()}


def addresses(topology):
    return {name: topology.nodeInfo(name)["ip"] for name in topology.hosts()}


def test_each_file_is_one_topology_of_its_name():
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert files == set(KNOWN)
    assert all(topologies.find(name) is KNOWN[name] for name in files)


def test_an_unknown_name_is_told_the_nearest():
    with pytest.raises(ExperimentError, match="did you mean 'dumbbell'"):
        topologies.find("dumbell")


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_needs_nothing_but_mininet(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    imported = {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"mininet", "collections", "itertools", "typing"}
    assert "──" in ast.get_docstring(tree)


@pytest.mark.parametrize("name", KNOWN)
def test_each_is_connected_and_fits(name):
    check_topology.check(KNOWN[name]())


@pytest.mark.parametrize(("name", "most"), MOST.items())
def test_sizes_from_one_to_the_most(name, most):
    check_topology.check(KNOWN[name](1))
    check_topology.check(KNOWN[name](most))
    for wrong in (0, -1, most + 1):
        with pytest.raises(ValueError, match=f"1 to {most} .*not {wrong}$") as caught:
            KNOWN[name](wrong)
        assert len(str(caught.value).splitlines()) == 1


def test_two_hosts_share_a_cable():
    assert edges(TwoHosts()) == {frozenset({"client", "server"})}


def test_a_dumbbell_has_one_bottleneck():
    dumbbell = Dumbbell(3, bw=10)
    assert len(edges(dumbbell)) == 7
    info = dumbbell.linkInfo("west", "east")
    assert info["bw"] == 10
    assert "bw" not in dumbbell.linkInfo("client1", "west")
    assert addresses(dumbbell)["client3"] == "10.0.0.3/16"
    assert addresses(dumbbell)["server3"] == "10.0.1.3/16"


def test_a_star_numbers_its_clients_over_several_bytes():
    star = Star(300)
    assert addresses(star)["client1"] == "10.0.0.2/22"
    assert addresses(star)["client254"] == "10.0.0.255/22"
    assert addresses(star)["client255"] == "10.0.1.0/22"


def test_a_chain_is_a_row():
    row = ["client", "r1", "r2", "r3", "server"]
    chain = Chain(3)
    assert edges(chain) == {frozenset(pair) for pair in pairwise(row)}
    assert chain.nodeInfo("r2")["routes"] == ("10.0.0.0/24 via 10.0.1.1", "10.0.3.0/24 via 10.0.2.2")


def test_replicas_hang_on_the_switch():
    assert addresses(PrimaryReplicas(2)) == {
        "client": "10.0.0.1/24", "primary": "10.0.0.2/24", "replica1": "10.0.0.3/24", "replica2": "10.0.0.4/24",
    }  # fmt: skip


def test_every_two_regions_have_a_cable():
    regions = ThreeRegions(1)
    assert {frozenset({"eu-gw", "us-gw"}), frozenset({"eu-gw", "ap-gw"}), frozenset({"us-gw", "ap-gw"})} < edges(regions)
    assert len(edges(regions)) == 9


class Islands(Topo):
    def build(self):
        self.addLink(self.addHost("a"), self.addHost("b"))
        self.addHost("c")


class Twins(Topo):
    def build(self):
        self.addLink(self.addHost("a", ip="10.0.0.1/24"), self.addHost("b", ip="10.0.0.1/24"))


class LongName(Topo):
    def build(self):
        self.addLink(self.addHost("a"), self.addHost("averylonghost"))


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        (Islands, "'c' is not connected to 'a', Islands: addLink"),
        (Twins, "'a' and 'b' share the address 10.0.0.1, Twins"),
        (LongName, "the interface's name 'averylonghost-eth0' is too long, LongName, "),
        (Topo, "there is no host, Topo"),
    ],
)
def test_a_topology_that_cannot_work_is_one_line(topology, message):
    with pytest.raises(NetworkError) as caught:
        check_topology.check(topology())
    assert str(caught.value).startswith(message)
    assert len(str(caught.value).splitlines()) == 1
