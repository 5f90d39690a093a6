"""What a topology states twice is one line with both places; what Mininet takes as it is meant is left alone."""

import inspect
from pathlib import Path

import pytest
from mininet.topo import Topo

from slownet.model.errors import NetworkError
from slownet.net import check_topology, parameters
from slownet.net.places import Place

HERE = Path(__file__).name


class Plan(Topo):
    """what: a function that states it."""

    def build(self, what):
        what(self)


def ports(topology):
    switch = topology.addSwitch("s1")
    topology.addLink(switch, topology.addHost("h1"), port1=2)  # first
    topology.addLink(switch, topology.addHost("h2"))  # second: Mininet counts links


def one_port(topology):
    first, second = topology.addHost("h1"), topology.addHost("h2")
    topology.addLink(first, second, 1, 2)  # first
    topology.addLink(first, second, 1, 3)  # second


def one_switch_port(topology):
    switch = topology.addSwitch("s1")
    topology.addLink(topology.addHost("h1"), switch, port2=7, intfName2="up")  # first
    topology.addLink(topology.addHost("h2"), switch, port2=7, intfName2="down")  # second


def twice(topology):
    topology.addHost("h1", ip="10.0.0.1/24")  # first
    topology.addHost("h1", ip="10.0.0.2/24")  # second


def twice_alike(topology):
    topology.addHost("h1")  # first
    topology.addHost("h1")  # second


def host_and_switch(topology):
    topology.addHost("n1")  # first
    topology.addSwitch("n1")  # second


def named(topology):
    topology.addLink(topology.addHost("h1"), topology.addHost("h2"), intfName1="lan")  # first
    topology.addLink("h1", topology.addHost("h3"), intfName1="lan")  # second


def named_like_a_port(topology):
    topology.addLink(topology.addSwitch("s1"), topology.addSwitch("s2"), intfName1="s2-eth2")  # first
    topology.addLink("s2", topology.addHost("h1"))  # second


@pytest.mark.parametrize(
    ("what", "line"),
    [
        (
            ports,
            "s1 has two links on port 2: s1-h1 ({first}) and s1-h2 ({second}), Plan: give each link of s1 a port of its own",
        ),
        (one_port, "h1 has two links on port 1: h1-h2 ({first}) and h1-h2 ({second}), Plan: give each link of h1 a port"),
        (
            one_switch_port,
            "s1 has two links on port 7: h1-s1 ({first}) and h2-s1 ({second}), Plan: give each link of s1 a port",
        ),
        (twice, "'h1' is given twice, {first} and {second}, Plan: give one of them another name"),
        (twice_alike, "'h1' is given twice, {first} and {second}, Plan: give one of them another name"),
        (host_and_switch, "'n1' is given twice, {first} and {second}, Plan: give one of them another name"),
        (
            named,
            "two interfaces of h1 are called lan: h1-h2 ({first}) and h1-h3 ({second}), Plan: give one of them another name",
        ),
        (named_like_a_port, "two interfaces are called s2-eth2: s1-s2 ({first}) and s2-h1 ({second}), Plan: give one of them"),
    ],
)
def test_both_statements_are_named(what, line):
    text, begins = inspect.getsourcelines(what)
    lines = {word: next(n for n, line in enumerate(text, begins) if f"# {word}" in line) for word in ("first", "second")}
    places = {word: str(Place(__file__, line)) for word, line in lines.items()}
    with pytest.raises(NetworkError) as caught:
        check_topology.check(Plan(what))
    assert str(caught.value).startswith(line.format(**places)), caught.value


def test_a_switch_may_be_stated_again_as_it_was_and_a_host_by_the_same_line():
    def edges(topology):
        for first, second in (("s1", "s2"), ("s2", "s3")):
            topology.addSwitch(first)
            topology.addSwitch(second)
            topology.addLink(first, second)
        for switch in ("s1", "s3"):
            topology.addLink(topology.addHost("h1"), switch)

    check_topology.check_topology(Plan(edges), "Plan")


@pytest.mark.parametrize("ports", [{}, {"port1": 1, "port2": 1}])
def test_a_link_to_a_node_that_is_not_stated_names_the_nearest(ports):
    def unknown(topology):
        topology.addHost("web")
        topology.addHost("client")
        topology.addLink("client", "wep", **ports)

    with pytest.raises(NetworkError, match=rf"^there is no node 'wep', Plan, .*{HERE}:\d+: did you mean 'web'\?$"):
        check_topology.check(Plan(unknown))


def test_with_ports_a_node_may_be_stated_after_its_link():
    def later(topology):
        topology.addLink("h1", "h2", 0, 0)
        topology.addHost("h1")
        topology.addHost("h2")

    check_topology.check(Plan(later))


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ({"ip": "10.0.0.7/8"}, {"ip": "10.0.0.7/24"}, "10.0.0.7"),
        ({"mac": "00:00:00:00:0A:01"}, {"mac": "00:00:00:00:0a:01"}, "00:00:00:00:0a:01"),
    ],
)
def test_two_hosts_with_one_address_are_named_with_their_places(first, second, shared):
    def shares(topology):
        topology.addLink(topology.addHost("h1", **first), topology.addHost("h2", **second))

    with pytest.raises(NetworkError, match=rf"^'h1' and 'h2' share the address {shared}, Plan, .*{HERE}:\d+, .*{HERE}:\d+: "):
        check_topology.check(Plan(shares))


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"ip": "2001:db8::1/64"},
            "ip='2001:db8::1/64' is an IPv6 address, .*: leave it out, .*'ip -6 addr add 2001:db8::1/64 dev h1-eth0",
        ),
        ({"ip": "fe80::1"}, "ip='fe80::1' is an IPv6 address, .*'ip -6 addr add fe80::1/64 dev h1-eth0"),
        (
            {"defaultRoute": "via 2001:db8::9"},
            "defaultRoute='via 2001:db8::9' has an IPv6 address, .*ip -6 route add default via 2001:db8::9",
        ),
    ],
)
def test_an_address_of_ipv6_is_called_that_with_what_to_do_instead(given, line):
    from mininet.node import Host

    with pytest.raises(NetworkError, match=f"^{line}"):
        parameters.check_node("h1", Host, given, Place("lab.py", 3))


def test_a_links_end_is_not_given_ipv6_either():
    from mininet.link import TCLink
    from mininet.node import Host

    given = {"port1": 0, "port2": 3, "params2": {"ip": "2001:db8::2/64"}}
    line = "^ip='2001:db8::2/64' is an IPv6 address, .*, interface r1-eth3, lab.py:3: .* dev r1-eth3 "
    with pytest.raises(NetworkError, match=line):
        parameters.check_link(TCLink, given, (("h1", Host), ("r1", Host)), Place("lab.py", 3))
