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
        Node("s1", SWITCH, 250, 120), Node("h1", HOST, 120, 230, "10.0.0.1/8"), Node("h2", HOST, 400, 230, "10.0.0.7/8"),
    )  # fmt: skip
    assert [each.key for each in scene.wires] == ["h1-s1", "s1-h2"]
    assert scene.wires[0].fields == {
        "delay": "10000us", "jitter": "1000us", "loss": "2%", "rate": "10000000bit", "queue": "20 packets",
    }  # fmt: skip
    assert notes == ["c0 is left out: switches learn by themselves"]


def test_a_router_of_miniedit_forwards():
    switches = [{"opts": {"hostname": "r1", "switchType": "legacyRouter"}, "x": "1", "y": "2"}]
    scene, notes = miniedit.read(saved(switches=switches, links=[], controllers=[]))
    assert (scene.node("r1").kind, scene.node("r1").address) == (ROUTER, "10.255.255.254/8")
    assert notes == ["r1 gets the address 10.255.255.254/8: MiniEdit saves none of a router"]


def test_a_file_of_version_1_has_numbers_for_names_and_one_controller():
    old = saved(
        version="1", controllers={"c0": {"controllerType": "remote", "remoteIP": "127.0.0.1", "remotePort": 6633}},
        hosts=[{"number": "3", "opts": {}, "x": "1", "y": "2"}], switches=[{"number": "1", "opts": {}, "x": "3", "y": "4"}],
        links=[{"src": "h3", "dest": "s1", "opts": {}}],
    )  # fmt: skip
    scene, notes = miniedit.read(old)
    assert scene.nodes == (Node("s1", SWITCH, 3, 4), Node("h3", HOST, 1, 2, "10.0.0.3/8"))
    assert notes == ["c0 (remote) is left out: switches learn by themselves"]


def test_a_host_without_an_address_has_that_of_its_number_in_the_files_network():
    hosts = [
        {"number": "1", "opts": {"hostname": "web", "nodeNum": 7}},
        {"number": "2", "opts": {"hostname": "db", "ip": "10.9.0.2/16"}},
        {"number": "500", "opts": {"hostname": "far", "nodeNum": 500}},
    ]  # fmt: skip
    scene, _ = miniedit.read(saved(hosts=hosts, links=[], application={"ipBase": "192.168.5.0/24"}))
    assert [each.address for each in scene.nodes[1:]] == ["192.168.5.7/24", "10.9.0.2/16", ""]


def test_what_has_no_effect_is_named_once_with_its_nodes():
    of_hosts = {
        "sched": "cfs", "cpu": 0.5, "cores": "0,1", "defaultRoute": "10.0.0.254",
        "privateDirectory": ["/var/log", ["/tmp", "/srv"]],
        "vlanInterfaces": [["10.1.0.1", "20"]], "externalInterfaces": ["eth1"],
        "startCommand": "iperf -s", "stopCommand": "true",
    }  # fmt: skip
    hosts = [{"number": str(n), "opts": {"hostname": f"h{n}", "nodeNum": n, **of_hosts}} for n in (1, 2)]
    of_switches = {"controllers": ["c0", "c1"], "dpctl": "6634", "netflow": "1", "sflow": "0", "switchIP": "10.0.0.99"}
    kinds = {"s1": "default", "s2": "userns", "s3": "ivs", "s4": "legacySwitch", "s5": "ovs"}
    switches = [
        {"number": name[1], "opts": {"hostname": name, "switchType": kind, **of_switches}} for name, kind in kinds.items()
    ]
    controllers = [
        {"opts": {"hostname": name, "controllerType": kind, "remoteIP": "127.0.0.1", "remotePort": 6633}, "x": "1", "y": "1"}
        for name, kind in {"c0": "ref", "c1": "remote", "c2": "inband", "c3": "ovsc"}.items()
    ]
    application = {
        "dpctl": "6000", "ipBase": "10.0.0.0/8", "startCLI": "1", "switchType": "user", "terminalType": "xterm",
        "netflow": {"nflowAddId": "0", "nflowTarget": "10.0.0.9:2055", "nflowTimeout": "600"},
        "sflow": {"sflowHeader": "128", "sflowPolling": "30", "sflowSampling": "400", "sflowTarget": ""},
        "openFlowVersions": {"ovsOf10": "1", "ovsOf11": "0", "ovsOf12": "0", "ovsOf13": "1"},
    }  # fmt: skip
    links = [{"src": "h1", "dest": "s1", "opts": {"bw": 100, "speedup": 2, "delay": ""}}]
    scene, notes = miniedit.read(
        saved(hosts=hosts, switches=switches, controllers=controllers, application=application, links=links)
    )
    assert {each.kind for each in scene.nodes} == {HOST, SWITCH}
    assert scene.wires[0].fields == {"rate": "100000000bit"}
    assert notes == [
        "c0, c1 (remote), c2 (inband), c3 (ovsc) are left out: switches learn by themselves",
        *(
            f"h1, h2 are opened without {words}"
            for words in (
                "a limit of the CPU", "a choice of processors", "a default route", "private directories", "VLAN interfaces",
                "interfaces of the machine", "a start command", "a stop command",
            )
        ),
        *(
            f"s1, s2, s3, s4, s5 are opened without {words}" for words in ("a port for dpctl", "a switch's address", "NetFlow")
        ),
        "s1, s2 are opened without a user-space switch",
        "s3 is opened without an IVS switch",
        "h1-s1 is opened without a speedup",
        "NetFlow to 10.0.0.9:2055 is not sent",
        "the network is opened without a version of OpenFlow: switches learn by themselves",
        "the network is opened without a port for dpctl",
    ]  # fmt: skip


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
        (saved(application={"ipBase": "everywhere"}), "the IP base 'everywhere' is not a network"),
    ],
)
def test_what_is_wrong_is_one_line(text, message):
    with pytest.raises(ExperimentError, match=message) as caught:
        miniedit.read(text)
    assert "\n" not in str(caught.value)
