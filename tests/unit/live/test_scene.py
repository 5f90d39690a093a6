"""A drawn network as a value: what changes between two, what is refused, and the link that shares it."""

import base64
import json
import zlib

import pytest

from slownet.links.conditions.link import Condition
from slownet.live import scene as scenes
from slownet.live.scene import HOST, SHARED, SWITCH, Node, Scene, Wire, buildable, read, shown, steps, unpacked
from slownet.model.errors import ConditionError, ExperimentError, SlownetError

SMALL = Scene(
    (Node("s1", SWITCH, 1, 2), Node("h1", HOST, 3.5, 4, "10.0.0.1/8"), Node("h2", HOST)),
    (Wire("h1-s1", "h1", "s1", "LTE", {"loss": "2%"}), Wire("h2-s1", "h2", "s1", cut=True)),
)


def names(found):
    return [(each["do"], each.get("name") or each.get("key")) for each in found]


def test_it_is_shared_as_text():
    assert unpacked(f"http://127.0.0.1:1/token/{SHARED}{SMALL.packed()}") == SMALL
    assert read(json.loads(json.dumps(SMALL.to_json()))) == SMALL


@pytest.mark.parametrize(
    "text",
    [
        "", "nothing", "%%%", base64.urlsafe_b64encode(b"no zlib").decode(),
        base64.urlsafe_b64encode(zlib.compress(b"[")).decode(),
        base64.urlsafe_b64encode(zlib.compress(b'{"nodes": [], "wires": 5}')).decode(), SMALL.packed()[:-9],
    ],
)  # fmt: skip
def test_what_is_no_shared_network_is_one_line(text):
    with pytest.raises(ExperimentError, match="this is not a"):
        unpacked(text)


def test_a_shared_network_is_not_unpacked_beyond_its_limit():
    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000)).decode()
    with pytest.raises(ExperimentError, match="too large"):
        unpacked(bomb)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda value: value["nodes"].append(value["nodes"][0]), "the node 's1' appears twice"),
        (lambda value: value["wires"].append(value["wires"][0]), "the link 'h1-s1' appears twice"),
        (lambda value: value["wires"][0].update(first="h9"), "leads to 'h9'"),
        (lambda value: value["nodes"][0].update(kind="bridge"), "this is not a network"),
        (lambda value: value["nodes"][0].update(more=1), "does not have the fields"),
        (lambda value: value["nodes"][0].update(x=float("nan")), "this is not a network"),
        (lambda value: value["wires"][0]["fields"].update(burst="1kB"), "this is not a network"),
        (lambda value: value["wires"][0]["fields"].update(loss="2 apples"), "percentage"),
        (lambda value: value["wires"][0].update(named="LTTE"), "no condition 'LTTE'"),
    ],
)
def test_what_is_wrong_in_a_network_is_named(change, message):
    value = SMALL.to_json()
    change(value)
    with pytest.raises(SlownetError, match=message):
        read(value)


def test_only_what_differs_becomes_a_step():
    assert steps(SMALL, SMALL) == []
    assert steps(SMALL, SMALL.moved("h1", 70, 80)) == []
    slower = SMALL.with_wire(Wire("h1-s1", "h1", "s1", fields={"rtt": "40ms"}))
    assert steps(SMALL, slower) == [{"do": "set", "key": "h1-s1", "named": "", "fields": {"rtt": "40ms"}, "cut": False}]


def test_a_node_comes_before_its_links_and_goes_after_them():
    more = SMALL.with_node(HOST, "", 0, 0).connected("h3", "s1", loops=False)
    assert names(steps(SMALL, more)) == [("add", "h3"), ("connect", "h3-s1")]
    assert names(steps(more, SMALL)) == [("disconnect", "h3-s1"), ("remove", "h3")]
    assert names(steps(more, more.without_node("s1")))[-1] == ("remove", "s1")


def test_a_removed_link_comes_back_with_its_condition():
    assert names(steps(SMALL.without_wire("h1-s1"), SMALL)) == [("connect", "h1-s1"), ("set", "h1-s1")]


def test_a_node_that_is_another_one_is_made_anew_with_its_links():
    other = Scene((Node("s1", SWITCH), Node("h1", HOST, address="10.0.0.9/8"), Node("h2", HOST)), SMALL.wires)
    assert names(steps(SMALL, other)) == [
        ("disconnect", "h1-s1"), ("remove", "h1"), ("add", "h1"), ("connect", "h1-s1"), ("set", "h1-s1"),
    ]  # fmt: skip


def test_parallel_links_have_names_of_their_own():
    two = SMALL.connected("h1", "s1", loops=False)
    assert [each.key for each in two.wires][-1] == "h1-s1~1"
    assert [each.key for each in two.connected("h1", "s1", loops=False).wires][-1] == "h1-s1~2"


def test_a_loop_of_switches_is_refused_unless_there_is_a_spanning_tree():
    line = SMALL.with_node(SWITCH, "s2", 0, 0).connected("s1", "s2", loops=False).with_node(SWITCH, "s3", 0, 0)
    line = line.connected("s2", "s3", loops=False)
    with pytest.raises(ExperimentError, match="would make a loop of switches"):
        line.connected("s3", "s1", loops=False)
    ring = line.connected("s3", "s1", loops=True)
    ring.need_no_loop(loops=True)
    with pytest.raises(ExperimentError, match="--stp"):
        ring.need_no_loop(loops=False)


@pytest.mark.parametrize("name", ["<b>x</b>", "1h", "a b", "x" * 11, "h1;ls", "ü"])
def test_a_name_that_no_interface_can_have_is_refused(name):
    with pytest.raises(ExperimentError, match="cannot be a node's name"):
        SMALL.with_node(HOST, name, 0, 0)


def test_other_mistakes_are_one_line():
    for change, message in (
        (lambda: SMALL.with_node(HOST, "h1", 0, 0), "there is a 'h1' already"),
        (lambda: SMALL.connected("h1", "h1", loops=False), "linked to itself"),
        (lambda: SMALL.connected("h1", "h9", loops=False), "no node 'h9'"),
        (lambda: SMALL.without_wire("h1-s2"), "no link 'h1-s2'"),
        (lambda: SMALL.without_node("h1").without_node("h2"), "'h2' is the last host"),
    ):
        with pytest.raises(ExperimentError, match=message):
            change()


def test_a_condition_is_over_what_the_topology_states():
    stated = Condition.parse(rate="10Mbit")
    assert str(Wire("k", "a", "b", fields={"rtt": "40ms"}).over(stated)) == "+40 ms RTT, 10 Mbit"
    assert str(Wire("k", "a", "b", "LTE", {"rtt": "40ms"}).over(stated)) == "+40 ms RTT, 12 Mbit"
    assert Wire("k", "a", "b", "Wi-Fi", cut=True).over(stated).cut
    assert Wire("k", "a", "b", fields={"loss_up": "1%"}, cut=True).over(None).cut
    with pytest.raises(ConditionError):
        Wire("k", "a", "b", fields={"jitter": "5ms"}).over(None)


def test_a_page_shows_a_condition_in_the_units_of_its_sliders():
    assert shown(Condition.parse(rtt="40ms", loss="2%", rate_up="2Mbit", rate_down="8Mbit")) == {
        "text": "+40 ms RTT, loses 2 %, 2 Mbit up, 8 Mbit down", "rtt_ms": 40.0, "loss": 2.0, "rate": 2.0,
    }  # fmt: skip
    assert shown(Condition.parse(loss="100%"))["text"] == "cut"


def test_what_can_be_built_at_once_leaves_out_nodes_alone():
    scattered = SMALL.with_node(HOST, "h3", 0, 0).with_node(SWITCH, "s9", 0, 0)
    made = buildable(scattered)
    assert [each.name for each in made.nodes] == ["s1", "h1", "h2"]
    assert [(each.named, each.fields, each.cut) for each in made.wires] == [("", {}, False)] * 2
    assert names(steps(made, scattered)) == [("add", "h3"), ("add", "s9"), ("set", "h1-s1"), ("set", "h2-s1")]
    with pytest.raises(ExperimentError, match="no host"):
        buildable(Scene((Node("s1", SWITCH),)))


def test_the_number_of_nodes_is_limited(monkeypatch):
    monkeypatch.setattr(scenes, "MOST_NODES", 3)
    with pytest.raises(ExperimentError, match="there are 3 nodes"):
        SMALL.with_node(HOST, "", 0, 0)
