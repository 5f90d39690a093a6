"""Loops of switches are seen in a topology; hosts, trees and spanning trees are none."""

from functools import partial
from pathlib import Path

import pytest
from mininet.node import Host, OVSBridge, OVSSwitch
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo
from mininet.topolib import TorusTopo, TreeTopo
from mininet.util import customClass

from slownet.model.errors import NetworkError
from slownet.net import check_topology, loops

RING = [("s1", "s2"), ("s2", "s3"), ("s3", "s1")]


class Plan(Topo):
    """cables: of switches s... and hosts h...; switch: options of each switch; own: those of some."""

    def build(self, cables=(), switch=None, own=None):
        for name in sorted({end for cable in cables for end in cable}):
            if name.startswith("s"):
                self.addSwitch(name, **{**(switch or {}), **(own or {}).get(name, {})})
            else:
                self.addHost(name, **(own or {}).get(name, {}))
        for first, second in cables:
            self.addLink(first, second)


@pytest.mark.parametrize(
    ("cables", "stp", "loop"),
    [
        ([("s1", "s2"), ("s2", "s3")], (), []),
        (RING, (), ["s1", "s2", "s3"]),
        ([*RING, ("s3", "s4"), ("s4", "s5"), ("s5", "s3")], ("s1", "s2", "s3"), ["s4", "s3", "s5"]),
        ([("s1", "s2"), ("s1", "s2")], (), ["s1", "s2"]),  # two parallel links
        ([("s1", "s1")], (), ["s1"]),
        (RING, ("s1", "s2", "s3"), []),
        (RING, ("s1", "s2"), ["s3", "s1", "s2"]),  # one that does not take part keeps the loop
        ([("s1", "h1"), ("h1", "s2"), ("s1", "s2")], (), []),  # a host between them
        ([*RING, ("s1", "s2")], (), ["s1", "s2"]),  # the shortest
    ],
)
def test_a_loop_is_named_in_order(cables, stp, loop):
    names = {end for cable in cables for end in cable if end.startswith("s")}
    found = loops.shortest(cables, {name: name in stp for name in sorted(names)})
    assert found in (loop, [*loop[:1], *reversed(loop[1:])])


HOSTS = [("h1", "s1"), ("h2", "s2")]


@pytest.mark.parametrize(
    "plan",
    [
        Plan([*RING, *HOSTS], switch={"stp": True}),
        Plan([*RING, *HOSTS], switch={"rstp": True}),
        Plan([("s1", "s2"), *HOSTS, ("h1", "s2")]),  # through a host
        Plan([("s1", "r1"), ("r1", "s2"), ("s2", "r2"), ("r2", "s1"), *HOSTS]),  # two routers
        Plan([*RING, *HOSTS], switch={"failMode": "secure"}),  # nothing forwards without a controller
        TreeTopo(depth=3, fanout=2),
    ],
)
def test_what_is_no_loop_passes(plan):
    check_topology.check(plan)


@pytest.mark.parametrize(
    "kind", [{}, {"cls": OVSBridge}, {"cls": LinuxBridge}, {"cls": partial(OVSSwitch, failMode="standalone")}]
)
def test_a_loop_of_any_switches_that_learn_is_refused_with_the_line_that_closes_it(kind):
    with pytest.raises(NetworkError) as caught:
        check_topology.check(Plan([*HOSTS, *RING], switch=kind))
    line = str(caught.value)
    assert line.startswith("the switches s1, s2, s3 form a loop, where broadcasts circle for ever, Plan, ")
    number = next(at for at, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "self.addLink(first" in text)
    assert f"{Path(__file__).name}:{number}: give the switches stp=True" in line


def test_a_loop_that_one_switch_without_stp_closes_is_refused():
    with pytest.raises(NetworkError, match="the switches s2, s1, s3 form a loop"):
        check_topology.check(Plan([*RING, *HOSTS], switch={"stp": True}, own={"s2": {"stp": False}}))


def test_a_torus_and_a_fat_tree_are_loops_and_come_up_with_stp():
    with pytest.raises(NetworkError, match="form a loop"):
        check_topology.check(TorusTopo(3, 3))
    check_topology.check(TorusTopo(3, 3), stp=True)
    pods = [(f"s{4 + pod * 4 + edge}", f"s{6 + pod * 4 + above}") for pod in range(4) for edge in (1, 2) for above in (1, 2)]
    cores = [(f"s{6 + pod * 4 + above}", f"s{above * 2 - core}") for pod in range(4) for above in (1, 2) for core in (0, 1)]
    hosts = [(f"h{number}", f"s{4 + number // 2 * 4 + number % 2 + 1}") for number in range(8)]
    with pytest.raises(NetworkError, match="form a loop"):
        check_topology.check(Plan([*pods, *cores, *hosts]))
    check_topology.check(Plan([*pods, *cores, *hosts], switch={"stp": True}))


def test_a_host_that_is_linked_to_itself_is_refused():
    with pytest.raises(NetworkError, match=r"'h1' is linked to itself, Plan, .*test_loops.py:\d+: name another node"):
        check_topology.check(Plan([("h1", "h1"), *HOSTS], own={"h1": {"cls": Host}}))


def test_a_switch_that_is_linked_to_itself_is_refused():
    with pytest.raises(NetworkError, match="the switch s1 is linked to itself"):
        check_topology.check(Plan([("s1", "s1"), ("s1", "h1")]))


class Fake:
    def __init__(self, name, kind, **attributes):
        self.name = name
        self.__class__ = type("Fake", (Fake, kind), {}) if kind else Fake
        self.__dict__.update(attributes)


class End:
    def __init__(self, node):
        self.node = node


class Cable:
    def __init__(self, first, second):
        self.intf1, self.intf2 = End(first), End(second)


def built(fail_mode="secure", stp=False):
    switches = [Fake(f"s{number}", OVSSwitch, failMode=fail_mode, stp=stp) for number in (1, 2, 3)]
    return switches, [Cable(switches[first], switches[second]) for first, second in ((0, 1), (1, 2), (2, 0))]


def test_a_program_whose_switches_nothing_steers_has_no_loop():
    loops.check_network(*built(), [], "in this network")
    loops.check_network(*built("standalone", stp=True), [], "in this network")
    with pytest.raises(NetworkError, match="s1, s2, s3 form a loop, where broadcasts circle for ever, in this network"):
        loops.check_network(*built("standalone"), [], "in this network")


def test_a_remote_controller_that_does_not_answer_does_not_open_a_loop():
    from mininet.node import RemoteController

    deaf = object.__new__(RemoteController)
    deaf.__dict__.update(intfs={}, ip="127.0.0.1", port=1, name="c0")
    loops.check_network(*built("secure"), [deaf], "in this network")
    with pytest.raises(NetworkError, match="form a loop"):
        loops.check_network(*built("standalone"), [deaf], "in this network")


@pytest.mark.parametrize(
    "words", ["lxbr,stp=1", "ovsbr,stp=1", "ovsk,stp=1,failMode=standalone", "lxbr", "ovsbr,stp=0"], ids=str
)
def test_what_mininets_command_line_states_of_its_switches_counts(words):
    maker = customClass({"lxbr": LinuxBridge, "ovsbr": OVSBridge, "ovsk": OVSSwitch}, words)
    if "stp=1" in words:
        loops.check_topology(TorusTopo(3, 3), maker, "torus", standalone=True)
        return
    with pytest.raises(NetworkError, match="form a loop"):
        loops.check_topology(TorusTopo(3, 3), maker, "torus", standalone=True)
