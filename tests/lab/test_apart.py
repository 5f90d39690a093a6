"""Hosts that are meant to be apart, and hosts of classes of a user's own: what they reach, and by which names."""

import pytest
from mininet.node import CPULimitedHost, Host, Node
from mininet.topo import Topo

from slownet.model.errors import NetworkError
from slownet.net.network import Network


class Tagged(Host):
    """In a VLAN, on a device of its own."""

    def config(self, tag=7, ip="", **params):
        found = super().config(ip=ip, **params)
        parent, own = self.defaultIntf(), f"{self.defaultIntf()}.{tag}"
        self.cmd(f"ip addr flush dev {parent}; ip link add link {parent} name {own} type vlan id {tag}")
        self.cmd(f"ip addr add {ip} dev {own}; ip link set {own} up")
        parent.name = own
        self.nameToIntf[own] = parent
        return found


class Vlans(Topo):
    """Two VLANs with the same addresses on one switch, and a host that is alone in its own."""

    def build(self):
        switch = self.addSwitch("s1")
        for name, tag, ip in [("a1", 7, "10.0.0.1/24"), ("a2", 7, "10.0.0.2/24"), ("b1", 8, "10.0.0.1/24"),
                              ("b2", 8, "10.0.0.2/24"), ("c", 9, "10.0.0.3/24")]:  # fmt: skip
            self.addLink(self.addHost(name, cls=Tagged, tag=tag, ip=ip), switch, delay="5ms" if tag == 8 else None)


class Islands(Topo):
    """Two networks, with the same addresses."""

    def build(self):
        for name in "ab":
            switch = self.addSwitch(f"s{'ab'.index(name) + 1}")
            for number in (1, 2):
                self.addLink(self.addHost(f"{name}{number}", ip=f"10.0.0.{number}/24"), switch)


class Subnets(Topo):
    """Two subnets on one switch, without a router."""

    def build(self):
        switch = self.addSwitch("s1")
        for net in (1, 2):
            for number in (1, 2):
                self.addLink(self.addHost(f"h{net}{number}", ip=f"10.0.{net}.{number}/24"), switch)


def named(parts):
    return [[host.name for host in part] for part in parts]


def rtt(host, target):
    return host.cmd(f"ping -c 2 -W 1 {target} | grep -oE 'min/avg/max/mdev = [0-9]+|100% packet loss|unreachable'").split()[-1]


def test_vlans_may_use_the_same_addresses():
    with Network(Vlans) as net:
        assert named(net.parts) == [["a1", "a2"], ["b1", "b2"], ["c"]]
        assert rtt(net["a1"], "10.0.0.2") == "0"
        assert rtt(net["b1"], "10.0.0.2") == "20"
        assert rtt(net["a1"], "10.0.0.3") in ("loss", "unreachable")


def test_islands_and_a_links_ping_stays_on_its_own():
    with Network(Islands) as net:
        assert named(net.parts) == [["a1", "a2"], ["b1", "b2"]]
        net.link("b1", "s2").set(rtt="40ms")
        assert 40 <= net.verified[-1].rtt_ms.min < 41
        assert rtt(net["a1"], "10.0.0.2") == "0"
        assert rtt(net["b1"], "10.0.0.2") == "40"
        net.add_ipv6()


def test_subnets_without_a_router(monkeypatch):
    with Network(Subnets) as net:
        assert named(net.parts) == [["h11", "h12"], ["h21", "h22"]]


class Lonely(Topo):
    def build(self):
        switch = self.addSwitch("s1")
        for name, ip in [("a", "10.0.0.1/24"), ("b", "10.0.0.2/24"), ("c", "10.9.0.3/24")]:
            self.addLink(self.addHost(name, ip=ip), switch)


def test_a_host_that_reaches_nobody_is_a_mistake(monkeypatch):
    monkeypatch.setattr("slownet.net.network.DEADLINE_S", 0.5)
    with pytest.raises(NetworkError, match=r"a does not answer c after 0\.5 s, Lonely"), Network(Lonely):
        pytest.fail("built")


class Busy(Node):
    """Runs a command while it is configured, as routers do."""

    def config(self, **params):
        found = super().config(**params)
        self.cmd("sysctl -w net.ipv4.ip_forward=1")
        return found


class OwnShell(Host):
    """Starts its shell in its own way."""

    def startShell(self, mnopts=None):  # noqa: N802
        super().startShell(mnopts)


class OwnPopen(Host):
    def popen(self, *args, **kwargs):
        return super().popen(*args, **kwargs)


KINDS = {"plain": Host, "busy": Busy, "shelled": OwnShell, "popened": OwnPopen, "limited": CPULimitedHost}


class Kinds(Topo):
    def build(self):
        switch = self.addSwitch("s1")
        for number, (name, cls) in enumerate(KINDS.items(), start=1):
            self.addLink(self.addHost(name, cls=cls, ip=f"10.0.0.{number}/24"), switch)


def test_hosts_find_each_other_by_name_whatever_their_class():
    with Network(Kinds) as net:
        for name in KINDS:
            for number, other in enumerate(KINDS, start=1):
                assert net[name].cmd(f"getent hosts {other}").split()[:1] == [f"10.0.0.{number}"], f"{other} from {name}"
            found = net[name].popen("getent hosts busy").communicate()[0]
            assert found.split()[:1] == [b"10.0.0.2"], f"a program of {name}"
