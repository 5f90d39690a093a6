"""Links against independent witnesses: `tc -json`, `ip -json` and ping's own clock."""

import re
import subprocess
import time

import pytest
from mininet.node import CPULimitedHost, Node
from mininet.topo import Topo
from readings import OWN_MS, qdiscs

from slownet.links.conditions.link import Condition
from slownet.links.conditions.oneway import OneWay
from slownet.model.errors import ExperimentError, NetworkError, UnitError
from slownet.net import verify
from slownet.net.mininet_links import ACQUAINTED_S
from slownet.net.namespace import inside
from slownet.net.network import SYSCTLS, Network
from slownet.topologies.client_proxy_server import ClientProxyServer
from slownet.topologies.two_hosts import TwoHosts


def pinged_ms(net, source, target, count=5):
    text = net[source].cmd(f"ping -c {count} -i 0.05 {net[target].IP()}")
    return float(re.search(r"= ([\d.]+)/", text).group(1))


def delayed(net, host):
    return [each for each in qdiscs(net[host], f"{host}-eth0").values() if "delay" in each]


@pytest.mark.parametrize("rtt_ms", [0.1, 1, 10, 40, 120, 500])
def test_a_round_trip_gains_what_rtt_says(net, rtt_ms):
    before = pinged_ms(net, "client", "web")
    with net.link("client", "switch").set(rtt=f"{rtt_ms}ms"):
        after = pinged_ms(net, "client", "web")
    assert rtt_ms - 0.02 <= after - before + OWN_MS / 2 <= rtt_ms + OWN_MS * 1.5


def test_delay_is_one_way_in_each_direction(net):
    with net.link("client", "switch").set(delay="5ms"):
        assert 10 <= pinged_ms(net, "client", "web") <= 10 + OWN_MS


def test_tc_says_the_same(net):
    with net.link("client", "switch").set(rtt="40ms"):
        (qdisc,) = [each for each in qdiscs(net["client"], "client-eth0").values() if each["kind"] == "netem"]
        assert qdisc["delay"]["delay"] == pytest.approx(0.020)


def test_the_other_links_stay_as_they_are(net):
    with net.link("client", "switch").set(rtt="40ms"):
        assert pinged_ms(net, "web", "db") < OWN_MS
        assert not delayed(net, "db")


def test_conditions_nest_and_come_back(net):
    link = net.link("client", "switch")
    with link.set(rtt="10ms"):
        with link.set(rtt="40ms"):
            assert link.condition.rtt == pytest.approx(0.040)
        assert link.condition.rtt == pytest.approx(0.010)
        assert 10 <= pinged_ms(net, "client", "web") <= 10 + OWN_MS
    assert link.condition.rtt == 0
    assert not delayed(net, "client")


def test_a_condition_comes_back_after_an_error(net):
    link = net.link("client", "switch")
    with pytest.raises(RuntimeError), link.set(rtt="10ms"):
        raise RuntimeError
    assert link.condition.rtt == 0


def test_two_delayed_links_add_up_and_are_verified_together(net):
    with net.link("client", "switch").set(rtt="10ms"), net.link("web", "switch").set(rtt="20ms"):
        assert 30 <= net.verified[-1].rtt_ms.min <= 30 + OWN_MS


@pytest.fixture
def trusting(net, monkeypatch):
    """Takes no notice of what a program has made of a link by hand, as of a kernel that does something else than it says."""
    monkeypatch.setattr(net.shaping, "present", lambda interface: OneWay(Condition()))


@pytest.mark.usefixtures("trusting")
def test_a_link_that_lies_is_an_error_that_names_both_values(net):
    link = net.link("client", "switch")
    net.link("web", "switch").set()
    net["web"].cmd("tc qdisc replace dev web-eth0 root netem delay 7ms")
    try:
        # tc is right about this link, but another link on the path has 7 ms.
        with pytest.raises(NetworkError, match=r"takes 7[\d.]* ms instead of the 0"):
            verify.check(link._ends, net.shaping)
    finally:
        net["web"].cmd("tc qdisc change dev web-eth0 root netem delay 0ms")


def test_a_delay_that_a_program_adds_by_hand_is_known(net):
    net["web"].cmd("tc qdisc replace dev web-eth0 root netem delay 7ms")
    try:
        assert verify.check(net.link("client", "switch")._ends, net.shaping).ping.rtt_ms.min >= 7
    finally:
        net["web"].cmd("tc qdisc change dev web-eth0 root netem delay 0ms")


@pytest.mark.charged
@pytest.mark.usefixtures("trusting")
def test_pings_that_are_late_only_for_a_moment_are_repeated(net):
    net.link("web", "switch").set()
    net["web"].cmd("tc qdisc replace dev web-eth0 root netem delay 7ms")
    ends = net["web"].popen(["sh", "-c", "sleep 0.6; tc qdisc change dev web-eth0 root netem delay 0ms"])
    try:
        assert verify.check(net.link("client", "switch")._ends, net.shaping).ping.rtt_ms.min < 7
    finally:
        ends.communicate()


@pytest.mark.parametrize("text", ["10", "ten ms", "-1ms", ""])
def test_an_unclear_delay_is_one_line(net, text):
    with pytest.raises(UnitError) as caught:
        net.link("client", "switch").set(rtt=text)
    assert len(str(caught.value).splitlines()) == 1


def test_unknown_hosts_and_links_name_the_nearest(net):
    with pytest.raises(ExperimentError, match="'client'"):
        net["cleint"]
    with pytest.raises(ExperimentError, match="switch"):
        net.link("client", "web")


def test_tcp_is_pinned(net):
    for name, value in SYSCTLS.items():
        assert net["web"].cmd(f"sysctl -n {name}").split() == value.split()
    features = net["web"].cmd("ethtool -k web-eth0")
    for feature in ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload"):
        assert re.search(rf"^{feature}: off", features, re.MULTILINE), feature


def test_who_was_reached_is_not_asked_for_again(net):
    shown = net["web"].cmd("ip ntable show dev web-eth0 name arp_cache")
    assert int(re.search(r"base_reachable (\d+)", shown)[1]) == 1000 * ACQUAINTED_S


def test_who_asked_is_not_asked_back(net):
    net["client"].cmd("ip neigh flush all")
    net["web"].cmd("ip neigh flush all")
    pinged_ms(net, "client", "web", count=1)  # web learns client's address from its question
    before = net.counters()["client-switch"]
    time.sleep(8)  # by default it would be verified five seconds after its first use
    assert net.counters()["client-switch"] == before


def test_the_switch_is_open_vswitch_in_the_kernel(net):
    assert net["switch"].cmd("ovs-vsctl list-br").split() == ["switch"]
    assert "system@ovs-system" in net["switch"].cmd("ovs-appctl dpif/show")


@pytest.mark.parametrize("name", ["web", "db", "client"])
def test_hosts_find_each_other_by_name(net, name):
    for host in net.hosts:
        assert host.cmd(f"getent hosts {name}").split() == [net[name].IP(), name]
        found = host.popen(["ping", "-c", "1", name]).communicate()[0].decode()
        assert f"PING {name} ({net[name].IP()})" in found


def test_names_are_of_this_network_alone(net):
    assert subprocess.run(["getent", "hosts", "web"], check=False, capture_output=True).returncode == 2
    assert "localhost" in net["web"].cmd("getent hosts localhost").split()


class OnItsOwn(Node):
    """A host of a class that starts programs in its own way, as a user's may."""

    def popen(self, *args, **params):
        return super().popen(*args, **params)


class Configured(Node):
    """A host whose configuration runs a command, before the network has all its hosts."""

    def config(self, **params):
        result = super().config(**params)
        self.cmd("true")
        return result


class Pair(Topo):
    def build(self, cls):
        self.addLink(self.addHost("one", cls=cls), self.addHost("two"))


@pytest.mark.parametrize("cls", [OnItsOwn, Configured, CPULimitedHost, Node])
def test_hosts_of_every_class_find_the_others_by_name(cls):
    with Network(Pair(cls)) as pair:
        assert pair["one"].cmd("getent hosts two").split() == [pair["two"].IP(), "two"]
        found = pair["one"].popen(["getent", "hosts", "two"]).communicate()[0]
        assert found.decode().split() == [pair["two"].IP(), "two"]
        assert subprocess.run(["getent", "hosts", "two"], check=False, capture_output=True).returncode == 2


@pytest.mark.parametrize("name", ["client", "proxy"])
def test_a_router_finds_the_others_by_name(name):
    with Network(ClientProxyServer()) as routed:
        assert routed[name].cmd("getent hosts server").split() == ["10.0.1.2", "server"]


def test_a_host_in_place_of_its_name_is_one_line(net):
    with pytest.raises(ExperimentError, match=r"^net\[...\] takes the name of a host, and got a Host: use the host as it is$"):
        net[net["web"]]
    with pytest.raises(ExperimentError, match=r'^net\[...\] takes the name of a host, and got a int: write net\["web"\]$'):
        net[0]


def test_a_network_that_has_ended_is_one_line():
    with Network(TwoHosts) as network:
        host = network["server"]
    with pytest.raises(NetworkError, match=r"^the network is not up: take its hosts within its with block$"):
        network["server"]
    with pytest.raises(NetworkError, match=r"^this host's network is down: start programs while"), inside(host):
        pass
