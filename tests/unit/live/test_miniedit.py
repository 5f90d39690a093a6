"""Files of MiniEdit: what is read, left out and refused. Their fields are those that MiniEdit.saveTopology writes."""

import json

import pytest

from slownet.live import miniedit
from slownet.live.scene import HOST, ROUTER, SWITCH, Node
from slownet.model.errors import ExperimentError


def saved(**changes):
    found = {
        "application": {"dpctl": "", "ipBase": "10.0.0.0/8", "switchType": "ovs"},
        "controllers": [{"opts": {"controllerType": "ref", "hostname": "c0", "remotePort": 6633}, "x": "60.0", "y": "20.0"}],
        "hosts": [
            {"number": "1", "opts": {"hostname": "h1", "nodeNum": 1, "sched": "host"}, "x": "120.0", "y": "230.0"},
            {"number": "2", "opts": {"hostname": "h2", "ip": "10.0.0.7", "nodeNum": 2}, "x": "400.0", "y": "230.0"},
        ],
        "links": [
            {"src": "h1", "dest": "s1", "opts": {"bw": 10, "delay": "10ms", "loss": 2, "jitter": "1ms", "max_queue_size": 20}},
            {"src": "s1", "dest": "h2", "opts": {}}, {"src": "c0", "dest": "s1", "opts": {}},
        ],
        "switches": [
            {"number": "1", "opts": {"hostname": "s1", "switchType": "default"}, "x": "250.0", "y": "120.0"},
        ],
        "version": "2",
    }  # fmt: skip
    return json.dumps(found | changes)


def test_hosts_switches_and_links_are_read_with_their_places_and_conditions():
    scene, notes = miniedit.read(saved())
    assert scene.nodes == (
        Node("s1", SWITCH, 250, 120), Node("h1", HOST, 120, 230), Node("h2", HOST, 400, 230, "10.0.0.7/8"),
    )  # fmt: skip
    assert [each.key for each in scene.wires] == ["h1-s1", "s1-h2"]
    assert scene.wires[0].fields == {
        "delay": "10000us", "jitter": "1000us", "loss": "2%", "rate": "10000000bit", "queue": "20 packets",
    }  # fmt: skip
    assert notes == ["c0 is left out: switches learn by themselves"]


def test_a_router_of_miniedit_forwards():
    switches = [{"opts": {"hostname": "r1", "switchType": "legacyRouter"}, "x": "1", "y": "2"}]
    scene, _ = miniedit.read(saved(switches=switches, links=[], controllers=[]))
    assert scene.node("r1").kind == ROUTER


def test_a_place_that_is_no_number_is_chosen_by_the_page():
    hosts = [{"opts": {"hostname": "h1"}, "x": "left", "y": None}]
    scene, _ = miniedit.read(saved(hosts=hosts, links=[]))
    assert (scene.node("h1").x, scene.node("h1").y) == (None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[1]", "it has no hosts and switches"),
        (saved(hosts=[{"opts": {"hostname": "<img src=x>"}}]), "cannot be a node's name"),
        (saved(hosts=[{"opts": {}}]), "cannot be a node's name"),
        (saved(hosts=[{"opts": {"hostname": "s1"}}], links=[]), "'s1' appears twice"),
        (saved(links=[{"src": "h1", "dest": "h9", "opts": {}}]), "leads to 'h9'"),
        (saved(links=[{"src": "h1", "dest": "s1", "opts": {"loss": 200}}]), "link h1-s1"),
        (saved(links=[{"src": "h1", "dest": "s1", "opts": {"delay": "soon"}}]), "link h1-s1"),
        (saved(links=[{"src": "h1", "dest": "s1", "opts": {"bw": "fast"}}]), "link h1-s1"),
        (saved(links=[{"src": "h1", "dest": "s1", "opts": {"bw": [1]}}]), "link h1-s1"),
        (saved(hosts=[{"opts": {"hostname": "h1", "ip": "here"}}], links=[]), "'here/8' is not an address"),
    ],
)
def test_what_is_wrong_is_one_line(text, message):
    with pytest.raises(ExperimentError, match=message) as caught:
        miniedit.read(text)
    assert "\n" not in str(caught.value)
