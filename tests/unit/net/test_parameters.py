"""Parameters of nodes and links without effect are refused before anything is built, in one line with their place."""

from functools import partial
from pathlib import Path

import pytest
from mininet.link import Intf, Link, OVSLink, TCIntf, TCLink
from mininet.node import CPULimitedHost, Host, Node, OVSSwitch
from mininet.topo import Topo

from slownet.model.errors import SlownetError
from slownet.net import check_topology, parameters, places

HERE = Path(__file__).name


class Pair(Topo):
    def build(self, link=None, host=None, switch=None):
        first, second = self.addHost("h1", **(host or {})), self.addHost("h2")
        self.addSwitch("s1", **(switch or {}))
        self.addLink(first, "s1", **(link or {}))
        self.addLink(second, "s1")


class Own(TCIntf):
    def config(self, colour=None, **params):
        params.pop("shade", None)
        return TCIntf.config(self, **params)


class Costly(Link):
    def __init__(self, node1, node2, cost=1, **params):
        super().__init__(node1, node2, **params)


class Router(Node):
    def config(self, routes=(), **params):
        super().config(**params)


LINE = next(number for number, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "self.addLink(first" in text)
WHERE = f"interface h1-eth0, {{here}}:{LINE}"


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"bandwidth": 10}, f"a TCLink has no parameter 'bandwidth', {WHERE}: did you mean 'bw'?"),
        ({"bw": 10, "latency": "20ms"}, f"a TCLink has no parameter 'latency', {WHERE}: did you mean 'delay'?"),
        ({"max_queue": 5}, f"a TCLink has no parameter 'max_queue', {WHERE}: did you mean 'max_queue_size'?"),
        ({"params1": {"bandwith": 1}}, f"a TCLink has no parameter 'bandwith', {WHERE}: did you mean 'bw'?"),
        ({"params2": {"los": 1}}, "a TCLink has no parameter 'los', interface s1-eth1, {here}"),
        ({"cls": partial(TCLink, speed=3)}, f"a TCLink has no parameter 'speed', {WHERE}: did you mean 'bw'?"),
        ({"cls": Link, "bandwidth": 3}, "an Intf has no parameter 'bandwidth', interface h1-eth0"),
        ({"cls": OVSLink, "bw": 3, "delay": "1ms"}, "bw, delay have no effect on an OVSLink's end, interface h1-eth0"),
        ({"cls": Costly, "weight": 3}, "an Intf has no parameter 'weight'"),
        ({"bw": "10Mbps"}, "bw='10Mbps': tc reads Mbps as bytes per second, most people as bits, interface h1-eth0, {here}"),
        ({"loss": "much"}, f"loss='much' is not a number, {WHERE}: give percent"),
        ({"bw": 0}, f"bw=0 lets no packet through, {WHERE}: give Mbit/s above 0"),
        ({"bw": -1}, f"bw=-1 lets no packet through, {WHERE}"),
        ({"delay": "10"}, f"duration '10' has no unit, {WHERE}: write it like 10ms"),
        ({"delay": "-1ms"}, "duration '-1ms' is negative"),
        ({"jitter": "1ms"}, "jitter without delay"),
        ({"enable_ecn": True}, "enable_ecn without bw"),
        ({"use_hfsc": True}, "use_hfsc without bw"),
        ({"speedup": 10}, "speedup without bw"),
        ({"gro": "perhaps"}, "gro='perhaps' is neither on nor off"),
        ({"max_queue_size": 0}, "is empty"),
        ({"params2": {"bw": "fast"}}, "bw='fast' is not a number, interface s1-eth1"),
    ],
    ids=str,
)
def test_a_parameter_of_a_link_without_effect_is_one_line(link, line):
    with pytest.raises(SlownetError) as caught:
        check_topology.check(Pair(link))
    found = str(caught.value)
    assert line.replace("{here}", HERE) in found.replace(f"{Path(__file__).parent}/", "").replace("tests/unit/net/", "")
    assert len(found.splitlines()) == 1


@pytest.mark.parametrize(
    "link",
    [
        {"bw": 2000, "delay": "5ms", "jitter": "1ms", "loss": "1%", "max_queue_size": "100", "use_htb": True},
        {"bw": "10Mbit", "use_tbf": "on", "latency_ms": 20},
        {"cls": Link, "bw": 10},
        {"cls1": Intf, "bw": 3},
        {"cls": Costly, "cost": 3, "delay": "1ms"},
        {"cls1": Own, "cls2": Own, "colour": "red", "shade": "dark"},
        {"params1": {"ip": "10.0.1.1/24"}, "addr1": "00:00:00:00:00:01", "intfName1": "mine", "fast": False},
        pytest.param({"cls": lambda *ends, **params: TCLink(*ends, **params), "anything": 1}, id="a function"),  # unknowable
        {"gro": True, "txo": False, "rxo": "off", "disable_gro": False},
    ],
    ids=str,
)
def test_what_a_class_takes_passes(link):
    check_topology.check(Pair(link))


@pytest.mark.parametrize(
    ("host", "switch", "line"),
    [
        ({"ipp": "10.0.0.1"}, {}, "a Host has no parameter 'ipp', node h1, {here}:{host}: did you mean 'ip'?"),
        ({"bw": 3}, {}, "a Host has no parameter 'bw', node h1"),
        ({"cls": Router, "cpu": 0.1}, {}, "a Router has no parameter 'cpu'"),
        ({"cores": 1}, {}, "a Host has no parameter 'cores', node h1, {here}:{host}: use cls=CPULimitedHost"),
        (
            {},
            {"failmode": "standalone"},
            "an OVSSwitch has no parameter 'failmode', node s1, {here}:{switch}: did you mean 'failMode'?",
        ),
        ({}, {"stpp": True}, "did you mean 'stp'?"),
    ],
    ids=str,
)
def test_a_parameter_of_a_node_without_effect_is_one_line(host, switch, line):
    with pytest.raises(SlownetError) as caught:
        check_topology.check(Pair(host=host, switch=switch))
    lines = Path(__file__).read_text().splitlines()
    starts = (("host", "first, second ="), ("switch", "self.addSwitch"))
    at = {word: next(number for number, text in enumerate(lines, 1) if start in text) for word, start in starts}
    found = str(caught.value).replace(f"{Path(__file__).parent}/", "").replace("tests/unit/net/", "")
    assert line.format(here=HERE, **at) in found


@pytest.mark.parametrize(
    ("host", "switch"),
    [
        ({"cpu": 0.5}, {}),  # becomes a CPULimitedHost
        ({"cls": CPULimitedHost, "cpu": 0.5, "sched": "cfs", "period_us": 1000}, {}),
        (
            {"cls": Router, "routes": ["a"], "defaultRoute": "via 10.0.0.1", "privateDirs": ["/mnt"]},
            {"protocols": "OpenFlow13"},
        ),
        ({"mac": "00:00:00:00:00:01", "inNamespace": True}, {"stp": True, "dpid": "1", "rstp": False, "datapath": "kernel"}),
    ],
    ids=str,
)
def test_what_a_node_takes_passes(host, switch):
    check_topology.check(Pair(host=host, switch=switch))


PROGRAM = """
from mininet.topo import Topo
class Costs(Topo):
    def build(self, **others):
        self.addLink(self.addHost("h1", role="client"), self.addHost("h2"), weight=3, **others)
    def weight(self):
        return self.linkInfo("h1", "h2")["weight"], self.nodeInfo("h1").get("role")
    def words(self, conf):
        return conf["bandwidth"]
"""


def test_what_the_program_reads_itself_passes_unless_it_means_a_condition(tmp_path, monkeypatch):
    file = tmp_path / "costs.py"
    file.write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "costs"}
    exec(compile(PROGRAM, str(file), "exec"), names)
    check_topology.check(names["Costs"]())
    with pytest.raises(
        SlownetError, match=r"a TCLink has no parameter 'bandwidth', interface h1-eth0, costs\.py:5: did you mean"
    ):
        check_topology.check(names["Costs"](bandwidth=3))
    assert places.reads(str(file)) == {"weight", "role", "bandwidth"}


def test_the_ends_of_a_plain_link_with_a_rate_are_those_of_a_tclink():
    switches = OVSSwitch, OVSSwitch
    assert parameters.ends(Link, {"bw": 1}, (Host, OVSSwitch)) == (TCIntf, TCIntf)
    assert parameters.ends(Link, {"params1": {"delay": "1ms"}}, (Host, Host)) == (TCIntf, Intf)
    assert parameters.ends(Link, {}, (Host, Host)) == (Intf, Intf)
    assert parameters.ends(Link, {"intf": Own, "bw": 1}, (Host, Host)) == (Own, Own)
    assert parameters.ends(TCLink, {}, switches) == (TCIntf, TCIntf)
    assert [end.__name__ for end in parameters.ends(OVSLink, {}, switches)] == ["OVSIntf", "OVSIntf"]


@pytest.mark.parametrize("base", ["10.0.0.0/8", "192.168.1.0/24", "10.0.0.0", "10.1/16"])
def test_networks_that_mininet_reads(base):
    parameters.check_base(base)


@pytest.mark.parametrize("base", ["300.1.0.0/16", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0.0/8", "ten/8", "", "10.0.-1.0/8"])
def test_a_network_that_is_none_is_one_line(base):
    with pytest.raises(SlownetError, match=r"^no IPv4 network '.*', ipBase: write one such as 10\.0\.0\.0/8$"):
        parameters.check_base(base)


def test_a_base_of_ipv6_is_called_that():
    with pytest.raises(SlownetError, match=r"^ipBase='fd00::/64' is an IPv6 network, and Mininet gives addresses of IPv4, "):
        parameters.check_base("fd00::/64")
