"""Several networks at once, and interfaces of others: they share no name, address or number."""

import json
import subprocess
import sys

import pytest
from mininet.link import TCLink
from mininet.topo import Topo

from slownet.lab.host import owner
from slownet.model.errors import NetworkError
from slownet.net.network import Network
from slownet.topologies import ClientWebDb, TwoHosts

OTHER = """
import sys
from slownet.net.network import Network
from slownet.topologies import ClientWebDb
with Network(ClientWebDb) as net:
    print(net["switch"], flush=True)
    sys.stdin.read()
"""


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def bridges():
    rows = json.loads(said("ovs-vsctl", "--format=json", "--columns=name,other_config,external_ids", "list", "bridge"))["data"]
    return {name: (dict(config[1]), dict(ids[1])) for name, config, ids in rows}


def interfaces():
    return {each["ifname"]: each for each in json.loads(said("ip", "-json", "link"))}


def reaches(net):
    return net["client"].pexec(f"ping -c 1 -W 1 {net['web'].IP()}")[2] == 0


def test_the_same_network_twice_in_one_process(net):
    with Network(ClientWebDb) as second, Network(ClientWebDb) as third:
        assert [str(each["switch"]) for each in (net, second, third)] == ["switch", "switch~2", "switch~3"]
        assert [each["switch"].name for each in (net, second, third)] == ["switch"] * 3
        assert set(bridges()) == {"switch", "switch~2", "switch~3"}
        assert len({config["datapath-id"] for config, _ in bridges().values()}) == 3
        assert second["switch"].intf("switch-eth2") is second["switch"].intf("switch~2-eth2")
        assert second.link("client", "switch").set(rtt="8ms")
        assert all(map(reaches, (net, second, third)))
        second["switch"].intf("switch-eth1").ifconfig("down")
        assert [reaches(each) for each in (net, second, third)] == [True, False, True]
    assert set(bridges()) == {"switch"}
    assert reaches(net)


def test_the_same_network_in_two_processes(net):
    words = [sys.executable, "-c", OTHER]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as two,
    ):
        assert {each.stdout.readline().strip() for each in (one, two)} == {"switch~2", "switch~3"}
        assert len({ids["slownet"] for _, ids in bridges().values()}) == 3
        assert reaches(net)
    assert set(bridges()) == {"switch"}
    assert (one.returncode, two.returncode) == (0, 0)


def test_a_foreign_bridge_of_the_same_name_stays(net):
    class S1(Topo):
        def build(self):
            self.addLink(self.addHost("h1"), self.addSwitch("s1", failMode="standalone"), cls=TCLink)
            self.addLink(self.addHost("h2"), "s1", cls=TCLink)

    subprocess.run(["ovs-vsctl", "add-br", "s1", "--", "set", "bridge", "s1", "other-config:mine=1"], check=True)
    try:
        before = bridges()["s1"], interfaces()["s1"]
        with Network(S1) as other:
            assert str(other["s1"]) == "s1~2"
            assert "s1~2" in other["s1"].dpctl("show") + said("ovs-vsctl", "list-br")
        assert (bridges()["s1"], interfaces()["s1"]) == before
    finally:
        subprocess.run(["ovs-vsctl", "del-br", "s1"], check=True)


def test_a_bridge_that_has_no_interface_yet_is_not_replaced(net):
    said("ovs-vsctl", "--no-wait", "add-br", "late", "--", "set", "bridge", "late", "datapath_type=nothing")
    try:

        class Late(Topo):
            def build(self):
                self.addLink(self.addHost("h1"), self.addSwitch("late", dpid="1"))

        with pytest.raises(NetworkError, match="late"), Network(Late):
            pytest.fail("built over another's bridge")
        assert "late" in bridges()
    finally:
        said("ovs-vsctl", "del-br", "late")


def test_a_foreign_interface_named_as_a_port_stays(net):
    said("ip", "link", "add", "west-eth1", "type", "dummy")
    try:

        class West(Topo):
            def build(self):
                switch = self.addSwitch("west", dpid="1", failMode="standalone")
                self.addLink(self.addHost("h1"), switch, intfName2="switch-eth1")
                self.addLink(self.addHost("h2"), switch)

        with Network(West) as west:
            assert [str(each) for each in west["west"].intfList()] == ["lo", "switch-eth1~2", "west~2-eth2"]
        assert "west-eth1" in interfaces()
        assert "switch-eth1" in interfaces()
    finally:
        said("ip", "link", "del", "west-eth1")


def test_a_host_outside_any_namespace_does_not_hide_an_address_of_this_machine(net):
    class Outside(Topo):
        def build(self):
            self.addLink(self.addHost("h1", ip="10.99.0.1/24"), self.addHost("root", ip="10.99.0.2/24", inNamespace=False))

    with Network(Outside) as first:
        assert str(first["root"].intf()) == "root-eth0"
        with pytest.raises(NetworkError, match=r"overlaps 10.99.0.2/24 of root-eth0"), Network(Outside):
            pytest.fail("two hosts of one address")
        assert first["h1"].pexec("ping -c 1 10.99.0.2")[2] == 0


def test_everything_is_marked(net):
    mark = owner.this().mark
    shown = interfaces()
    for name in ("switch-eth1", "switch-eth2", "switch-eth3"):
        assert shown[name]["ifalias"] == f"slownet {mark}"
    assert bridges()["switch"][1] == {"slownet": mark}
    inside = json.loads(net["client"].pexec("ip -json link show dev lo")[0])
    assert inside[0]["ifalias"] == f"slownet {mark}"
    assert net["client"].pexec("printenv SLOWNET_OWNER")[0].strip() == mark
    assert net["switch"].cmd("printenv SLOWNET_OWNER").strip() == mark


def test_a_network_without_switches_takes_no_name(net):
    before = set(interfaces())
    with Network(TwoHosts), Network(TwoHosts) as second:
        assert set(interfaces()) == before
        assert second["client"].pexec(f"ping -c 1 {second['server'].IP()}")[2] == 0
