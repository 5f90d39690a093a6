"""The files that repeat what is shown; tests/e2e/test_live.py runs them."""

import ast

import pytest

from slownet.hypotheses import specs
from slownet.live.scene import HOST, ROUTER, SWITCH, Node, Scene, Wire
from slownet.live.starting import source_of
from slownet.live.written import NAMES, Now, Selected, Source, file
from slownet.model.errors import ExperimentError

BUILT = Scene(
    (Node("switch", SWITCH), Node("client", HOST, address="10.0.0.1/24"), Node("web", HOST, address="10.0.0.2/24")),
    (Wire("client-switch", "client", "switch"), Wire("web-switch", "web", "switch")),
)
FAR = BUILT.with_wire(Wire("client-switch", "client", "switch", fields={"rtt": "40ms"}))
LOSSY = BUILT.with_wire(Wire("web-switch", "web", "switch", "LTE", {"loss": "2%"}))
BETWEEN = Selected("client-switch", "client", "web")
OF_CLASS = Source("TwoHosts", "")


NOW = Now(BUILT)


def text(kind, scene, source=Source(), between=BETWEEN, now=NOW):  # noqa: B008
    name, found = file(kind, scene, now, source, between)
    assert name == NAMES[kind]
    ast.parse(found)
    return found


@pytest.mark.parametrize("kind", NAMES)
def test_a_network_that_is_as_it_was_built_has_its_own_class(kind):
    found = text(kind, FAR, OF_CLASS)
    assert "class Drawn(TwoHosts):" in found
    assert "addHost" not in found


def topology(source_text):
    """Return the topology of a saved file."""
    space = {"__name__": "saved"}
    exec(source_text.replace("@pytest.mark", "pytest.mark"), space)
    return space["topos"]["drawn"]()


@pytest.mark.parametrize("kind", NAMES)
def test_a_network_of_no_class_is_written_out(kind):
    edited = FAR.with_node(HOST, "x1", 0, 0).connected("x1", "switch", loops=False)
    found = text(kind, edited)
    assert "class Drawn(Topo):" in found
    assert 'self.addHost("client", ip="10.0.0.1/24")' in found
    assert 'self.addLink("x1", "switch", cls=TCLink)' in found


OWN = """
from mininet.node import Node
from mininet.topo import Topo


class Router(Node):
    pass


class Lan(Topo):
    def {method}:
        {first}
        for number in range(1, count + 1):
            host = self.addHost(f"h{{number}}", cls=Router if number == 1 else None)
            self.addLink(host, self.addSwitch(f"s{{number}}"), bw=10)
            if number > 1:
                self.addLink(f"s{{number - 1}}", f"s{{number}}")


topos = {{"lan": {made}}}
"""
STYLES = [("build(self, count=2)", "pass"), ("__init__(self, count=2)", "super().__init__()")]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(("method", "first"), STYLES, ids=["build", "__init__"])
def test_an_edited_network_of_a_file_keeps_its_class_and_what_is_special(kind, method, first, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / f"lan_{kind}_{method[:2]}.py"
    path.write_text(OWN.format(method=method, first=first, made="Lan"))
    source = source_of(specs.topology(f"{path},3"), path, "3")
    hosts = (Node(f"h{n}", HOST, address=f"10.0.0.{n}/8") for n in (1, 2, 3))
    nodes = (*hosts, *(Node(f"s{n}", SWITCH) for n in (1, 2, 3)))
    ends = [("h1", "s1"), ("h2", "s2"), ("s1", "s2"), ("h3", "s3"), ("s2", "s3")]
    built = Scene(nodes, tuple(Wire("-".join(each), *each) for each in ends))
    edited = built.without_node("h2").with_node(HOST, "new", 0, 0).connected("new", "s3", loops=False)
    edited = edited.with_wire(Wire("h1-s1", "h1", "s1", fields={"rtt": "40ms"}))
    found = text(kind, edited, source, Selected("h1-s1", "h1", "h3"), Now(built))
    assert f"It has to lie beside {path.name}." in found
    drawn = topology(found)
    assert sorted(drawn.nodes()) == ["h1", "h3", "new", "s1", "s2", "s3"]
    assert sorted(drawn.links()) == [("h1", "s1"), ("h3", "s3"), ("new", "s3"), ("s1", "s2"), ("s2", "s3")]
    assert drawn.nodeInfo("h1")["cls"].__name__ == "Router"
    assert drawn.nodeInfo("h3")["ip"] == "10.0.0.3/8", "of the third host, although there are two now"
    assert drawn.linkInfo("h1", "s1")["bw"] == 10
    assert drawn.linkInfo("h1", "s1").get("delay") == ("20000us" if kind == "mininet" else None)


def test_a_special_node_of_a_class_that_cannot_be_named_is_refused(tmp_path):
    path = tmp_path / "lambda_lan.py"
    path.write_text(OWN.format(method=STYLES[0][0], first="pass", made="lambda: Lan(2)"))
    source = source_of(specs.topology(str(path)), path)
    with pytest.raises(
        ExperimentError, match="h1 is a Router, whose class the saved file would not have: let topos name a class"
    ):
        text("test", BUILT, source)


def test_one_of_two_links_between_the_same_nodes_is_the_one_that_was_drawn():
    double = Scene(BUILT.nodes, (*BUILT.wires, Wire("switch-client", "switch", "client", fields={"rtt": "9ms"})))
    found = text("test", double)
    assert 'net.link_of(net["switch"].connectionsTo(net["client"])[1][0].link).set(rtt="9ms")' in found
    drawn = topology(
        text("mininet", double, OF_CLASS, now=Now(Scene(BUILT.nodes, BUILT.wires))).replace("TwoHosts", "ClientWebDb")
    )
    assert len(drawn.g["client"]["switch"]) == 2
    cut = double.with_wire(Wire("switch-client", "switch", "client", cut=True))
    assert 'self.addLink("switch", "client", cls=TCLink, loss=100)' in text("mininet", cut)
    assert "configLinkStatus" not in text("mininet", cut)


def test_what_the_topology_states_of_a_link_is_in_what_a_test_expects():
    """The lab says what a link does: the topology's rate, beside the round trip that the page has set."""
    now = Now(BUILT, {"client-switch": "+40 ms RTT, 10 Mbit"})
    found = text("test", FAR, OF_CLASS, now=now)
    assert 'assert str(net.link("client", "switch").condition) == "+40 ms RTT, 10 Mbit"' in found
    assert "slowed" not in found
    assert "law(" not in text("experiment", FAR, OF_CLASS, now=now)


COMPOSE = Source(compose="compose.yaml")


def test_a_compose_project_is_saved_as_one():
    now = Now(BUILT, pages=["http://10.0.0.2:8000/"])
    found = text("test", FAR, COMPOSE, now=now)
    assert '@pytest.mark.compose("compose.yaml")\ndef test_a_ping_takes_one_round_trip(net, compose):' in found
    found = text("experiment", FAR, COMPOSE, now=now)
    assert '@experiment(topology=Compose("compose.yaml"), vary={"rtt": ["0ms", "40ms"]}' in found
    assert 'return fetch(net["client"], "http://web:8000/", requests=3)' in found
    assert 'return ping(net["client"], net["web"].IP())' in text("experiment", FAR, COMPOSE)


@pytest.mark.parametrize(
    ("kind", "scene", "message"),
    [
        ("mininet", FAR, "a Mininet program has no containers: save a test or an experiment"),
        ("test", BUILT.without_node("client"), "the network is not the compose project's any more: undo"),
    ],
)
def test_a_compose_project_that_cannot_be_saved_is_one_line(kind, scene, message):
    with pytest.raises(ExperimentError, match=message):
        text(kind, scene, COMPOSE)


def test_a_test_states_the_law_where_only_delays_are_on_the_way():
    found = text("test", FAR)
    assert 'net.link("client", "switch").set(rtt="40ms")' in found
    assert 'slowed(near.rtt_ms.avg, round_trips=1, rtt="40ms", within=0.05)' in found


def test_a_test_reads_back_what_chance_decides():
    found = text("test", LOSSY)
    assert 'net.link("web", "switch").set("LTE", loss="2%")' in found
    assert 'condition) == "+70 ms RTT, loses 2 %, 12 Mbit"' in found
    assert "sent.received > 0" in found
    assert "sent.received == 0" in text("test", BUILT.with_wire(Wire("web-switch", "web", "switch", cut=True)))


def test_an_experiment_varies_the_chosen_link_and_claims_a_law_that_theory_has():
    found = text("experiment", FAR)
    assert 'vary={"rtt": ["0ms", "40ms"]}' in found
    assert 'law("time_per_request_ms", round_trips=4, within=0.05)' in found
    assert 'vary={"rtt": ["0ms", "10ms", "40ms"]}' in text("experiment", BUILT)


def test_an_experiment_keeps_what_else_its_links_do_and_claims_nothing_of_chance():
    found = text("experiment", LOSSY, between=Selected("web-switch", "client", "web"))
    assert 'net.link("web", "switch").set("LTE", loss="2%", rtt=rtt)' in found
    assert "law" not in found


def test_a_mininet_program_has_the_parameters_of_tclink():
    assert 'cls=TCLink, delay="20000us"' in text("mininet", FAR)
    assert 'cls=TCLink, bw=12.0, delay="35000us", loss=2.0' in text("mininet", LOSSY)
    both = BUILT.with_wire(Wire("web-switch", "web", "switch", fields={"rate_up": "1Mbit", "rate_down": "2Mbit"}))
    assert "cls=TCLink, params1=dict(bw=1.0), params2=dict(bw=2.0)" in text("mininet", both)
    assert 'self.linkInfo("client", "switch").update(delay="20000us")' in text("mininet", FAR, OF_CLASS)
    assert 'net.configLinkStatus("web", "switch", "down")' in text(
        "mininet", BUILT.with_wire(Wire("web-switch", "web", "switch", cut=True))
    )


@pytest.mark.parametrize("kind", NAMES)
def test_a_router_forwards_there_too(kind):
    nodes = (*BUILT.nodes, Node("r1", ROUTER, address="10.0.0.9/24"))
    found = text(kind, Scene(nodes, (*BUILT.wires, Wire("r1-switch", "r1", "switch"))))
    assert 'self.addHost("r1", cls=Router, ip="10.0.0.9/24")' in found
    assert "class Router(Node):" in found


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_is_text_in_a_file_whatever_it_holds(kind):
    odd = 'q"""; import os #'
    nodes = (Node(odd, HOST), Node("web", HOST))
    found = text(kind, Scene(nodes, (Wire(f"{odd}-web", odd, "web"),)), between=Selected(f"{odd}-web", odd, "web"))
    assert not any(isinstance(each, ast.Import) and each.names[0].name == "os" for each in ast.walk(ast.parse(found)))


def test_what_a_file_cannot_repeat_is_one_line():
    bursts = BUILT.with_wire(Wire("web-switch", "web", "switch", "Wi-Fi"))
    for kind, scene, between, message in (
        ("mininet", bursts, BETWEEN, "no packets in bursts"),
        ("test", BUILT.with_node(HOST, "h3", 0, 0), BETWEEN, "'h3' has no link"),
        ("test", BUILT, Selected("client-switch", "web", "web"), "between two hosts"),
        ("experiment", BUILT, Selected("", "client", "web"), "varies one link"),
    ):
        with pytest.raises(ExperimentError, match=message):
            file(kind, scene, NOW, Source(), between)
