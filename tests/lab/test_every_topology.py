"""Every topology of the project is built, and checked with `ip -json` and ping."""

import inspect
import json
import subprocess
from pathlib import Path

import pytest
from mininet.topo import Topo
from readings import qdiscs

from slownet import topologies
from slownet.model.errors import NetworkError
from slownet.net.network import Network
from slownet.tools.ping import ping
from slownet.topologies import Chain, Star, ThreeRegions

FOLDER = Path(topologies.__file__).parent
KNOWN = topologies.known()
SIZED = [name for name, each in KNOWN.items() if "n" in inspect.signature(each.build).parameters]


def pings(host, addresses):
    """Return the addresses that do not answer; one shell pings all of them at the same time."""
    each = "; ".join(f"ping -n -q -c 1 -W 5 {address} >/dev/null || echo {address} &" for address in addresses)
    return host.pexec(["sh", "-c", each.replace("&;", "&") + " wait"])[0].split()


@pytest.mark.parametrize("name", KNOWN)
def test_every_host_reaches_every_other(name):
    with Network(KNOWN[name]) as net:
        for host in net.hosts:
            assert pings(host, [other.IP() for other in net.hosts if other is not host]) == []
            found = json.loads(host.pexec("ip -json -4 address")[0])
            assert host.IP() in {each["local"] for one in found for each in one["addr_info"]}
            assert {each["ifname"] for each in found if "UP" in each["flags"]} == {"lo", *host.intfNames()}


@pytest.mark.parametrize("name", KNOWN)
def test_mininets_own_command_builds_it(name):
    """Use the smallest size, because Mininet takes a second per link; the tests above cover the usual sizes."""
    topo = f"{name},1" if name in SIZED else name
    words = ["mn", "--custom", FOLDER / f"{name}.py", "--topo", topo, "--controller", "none", "--test", "pingall"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "Results: 0% dropped" in done.stdout + done.stderr


def test_a_chain_of_routers_is_as_long_as_it_says():
    with Network(Chain(5)) as net:
        hops = net["client"].pexec(f"ping -n -c 1 {net['server'].IP()}")[0]
        assert "ttl=59" in hops
        assert pings(net["client"], [interface.IP() for host in net.hosts for interface in host.intfList()]) == []


def test_a_star_of_many():
    with Network(Star(40)) as net:
        assert pings(net["client40"], ["10.0.0.1", "10.0.0.2", "10.0.0.40"]) == []


def test_regions_are_as_far_apart_as_their_gateways():
    with Network(ThreeRegions(1)) as net, net.link("eu-gw", "us-gw").set(rtt="90ms"):
        assert 90 <= net.verified[-1].rtt_ms.min <= 91
        assert ping(net["eu1"], net["us1"].IP(), count=2).rtt_ms.min >= 90
        assert ping(net["eu1"], net["ap1"].IP(), count=2).rtt_ms.min < 5


def test_a_bottleneck_may_be_set_from_the_start():
    with Network(topologies.Dumbbell(1, bw=8, delay="3ms")) as net:
        bottleneck = net.link("west", "east")
        assert str(bottleneck.condition) == "+6 ms RTT, 8 Mbit, burst 15360 B, queue 1000 packets"  # as Mininet makes it
        with bottleneck.set(rate="4Mbit"):
            assert delay_and_rate(net["west"], "west-eth1") == (0.003, 500_000), "what is not named stays"
        assert qdiscs(net["west"], "west-eth1")["10:"]["delay"]["delay"] == 0.003
        (shaper,) = json.loads(net["west"].cmd("tc -json class show dev west-eth1"))
        assert (shaper["class"], shaper["rate"]) == ("htb", 1_000_000), "as Mininet makes it again"


def delay_and_rate(node, name):
    """Return the delay and the rate of an interface."""
    cable, bottleneck = qdiscs(node, name).values()
    return cable["delay"]["delay"], bottleneck["rate"]["rate"]


def test_a_size_that_is_none_is_one_line():
    with pytest.raises(ValueError, match="1 to 1021 clients"):
        Network(Star(0))


def test_a_topology_that_is_not_connected_is_said_before_it_is_built():
    star = Star(1)
    star.addHost("lonely", ip="10.0.0.9/22")
    with pytest.raises(NetworkError, match="'lonely' is not connected"), Network(star):
        pytest.fail("built")


class Strangers(Topo):
    def build(self):
        self.addLink(self.addHost("a", ip="10.0.0.1/24"), self.addHost("b", ip="10.0.1.1/24"))


def test_hosts_that_know_no_way_to_each_other_are_named(monkeypatch):
    monkeypatch.setattr("slownet.net.network.DEADLINE_S", 0.5)
    with pytest.raises(NetworkError, match=r"b does not answer a after 0\.5 s, Strangers"), Network(Strangers):
        pytest.fail("reached")


class BadAddress(Topo):
    def build(self):
        self.addLink(self.addHost("a", ip="10.0.0.300/24"), self.addHost("b"))


def test_an_address_that_is_none_is_one_line():
    with (
        pytest.raises(NetworkError, match=r"'10\.0\.0\.300' is not an IPv4 address, interface a-eth0") as caught,
        Network(BadAddress),
    ):
        pytest.fail("built")
    assert len(str(caught.value).splitlines()) == 1
