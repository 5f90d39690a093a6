"""The files that repeat what is shown; tests/e2e/test_live.py runs them."""

import ast

import pytest

from slownet.live.scene import HOST, ROUTER, SWITCH, Node, Scene, Wire
from slownet.live.written import NAMES, Selected, Source, file
from slownet.model.errors import ExperimentError

BUILT = Scene(
    (Node("switch", SWITCH), Node("client", HOST, address="10.0.0.1/24"), Node("web", HOST, address="10.0.0.2/24")),
    (Wire("client-switch", "client", "switch"), Wire("web-switch", "web", "switch")),
)
FAR = BUILT.with_wire(Wire("client-switch", "client", "switch", fields={"rtt": "40ms"}))
LOSSY = BUILT.with_wire(Wire("web-switch", "web", "switch", "LTE", {"loss": "2%"}))
BETWEEN = Selected("client-switch", "client", "web")
OF_CLASS = Source("TwoHosts", "")


def text(kind, scene, source=Source(), between=BETWEEN):  # noqa: B008
    name, found = file(kind, scene, BUILT, source, between)
    assert name == NAMES[kind]
    ast.parse(found)
    return found


@pytest.mark.parametrize("kind", NAMES)
def test_a_network_that_is_as_it_was_built_has_its_own_class(kind):
    found = text(kind, FAR, OF_CLASS)
    assert "class Drawn(TwoHosts):" in found
    assert "addHost" not in found


@pytest.mark.parametrize("kind", NAMES)
def test_an_edited_network_is_written_out(kind):
    edited = FAR.with_node(HOST, "x1", 0, 0).connected("x1", "switch", loops=False)
    found = text(kind, edited, OF_CLASS)
    assert "class Drawn(Topo):" in found
    assert 'self.addHost("client", ip="10.0.0.1/24")' in found
    assert 'self.addLink("x1", "switch", cls=TCLink)' in found


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
            file(kind, scene, BUILT, Source(), between)
