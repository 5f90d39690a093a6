"""The state of a network's interfaces, with a fake tc that keeps and shows the options it gets, or hangs."""

import ast
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.judge.records.samples import cell_key
from slownet.lab.run.counters import Flow
from slownet.links.conditions.link import Condition
from slownet.links.conditions.oneway import OneWay
from slownet.model.errors import ConditionError, NetworkError
from slownet.net import device, neighbours, tc, verify
from slownet.net.log import Setting, latest, longest
from slownet.net.network import Network
from slownet.net.seeds import APART, Seeds
from slownet.net.shaping import Shaping, merge_directions
from slownet.pytest_plugin import records
from slownet.tools.ping import Ping, Rtt
from slownet.topologies import TwoHosts

SHOWS = """
import json, sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "qdisc" and words[1] == "show":
        options = {"delay": {"delay": 0.005}}
        print(json.dumps([{"kind": "netem", "handle": "51:", "root": True, "options": options}]), flush=True)
    elif words[0] == "wrong":
        sys.exit("What is this?")
"""
HANGS = "import time; time.sleep(600)"
NEVER_ENDS = "import signal, time; signal.signal(signal.SIGPIPE, signal.SIG_IGN); time.sleep(600)"


PING = Ping(("ping",), "", 5, 5, 0, 0, Rtt(10.06, 10.1, 10.2, 0.05), ())


class Interface:
    """The part of a Mininet node that tc needs."""

    def __init__(self, name="eth0", node=None):
        self.name = name
        self.node = node or SimpleNamespace(name="client", inNamespace=False)


class Switch:
    """A Mininet switch with no other cable."""

    dpid = 1

    def __init__(self, name):
        self.name = name

    def intfList(self):  # noqa: N802  # Mininet's name
        return []


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Return a function that replaces tc by a Python program for this test."""
    monkeypatch.setattr(tc, "_tables", lambda: tmp_path)

    def be(text):
        monkeypatch.setattr(tc, "COMMANDS", {"tc": [sys.executable, "-u", "-c", text]})

    return be


@pytest.fixture
def programs():
    running = tc.Programs()
    yield running
    running.close()


def test_a_tc_is_started_once_and_ended(program, programs):
    program(SHOWS)
    assert programs.pids == set()
    (shown,) = programs.run(Interface(), ["qdisc replace dev eth0 root handle 51: netem delay 5ms"])
    assert shown["options"] == {"delay": {"delay": 0.005}}
    (pid,) = programs.pids
    programs.run(Interface("eth1", SimpleNamespace(name="switch", inNamespace=False)), [])
    assert programs.pids == {pid}  # nodes without a namespace share one
    other = tc.Programs()
    assert other.pids == set()
    other.run(Interface(), [])
    assert other.pids == {pid}  # also between networks
    programs.close()
    assert programs.pids == set()
    other.run(Interface(), [])
    assert other.pids == {pid}
    other.close()
    other.run(Interface(), [])
    assert other.pids != {pid}
    other.close()


def test_tcs_own_words_are_the_error_and_the_next_question_works(program, programs):
    program(SHOWS)
    with pytest.raises(NetworkError) as caught:
        programs.run(Interface(), ["wrong option"])
    assert str(caught.value) == "tc: What is this? in 'wrong option', interface eth0 of client"
    assert programs.run(Interface(), [])


def test_a_tc_that_hangs_ends_with_one_clear_error(program, programs, monkeypatch):
    monkeypatch.setattr(tc, "DEADLINE_S", 3)  # the first answer has to be there in time on a busy machine, too
    program(HANGS)
    with pytest.raises(NetworkError) as caught:
        programs.run(Interface(), ["qdisc replace dev eth0 root netem"])
    assert str(caught.value) == (
        "tc, asked 'qdisc replace dev eth0 root netem', has not answered for 3 s, interface eth0 of client: "
        "look at the kernel's messages: dmesg"
    )
    assert programs.pids == set()
    program(SHOWS)
    assert programs.run(Interface(), [])


def test_a_tc_that_does_not_end_is_ended(program, programs, monkeypatch):
    program(SHOWS + NEVER_ENDS)
    monkeypatch.setattr(tc, "ENDING_S", 0.2)
    programs.run(Interface(), [])
    began = time.monotonic()
    programs.close()
    assert time.monotonic() - began < 60


def test_an_ethtool_that_hangs_ends_with_one_clear_error(monkeypatch, programs):
    monkeypatch.setattr(tc, "DEADLINE_S", 0.2)
    pipe = subprocess.PIPE
    node = SimpleNamespace(
        name="client", popen=lambda words: subprocess.Popen([sys.executable, "-c", HANGS], stdout=pipe, stderr=pipe)
    )
    with pytest.raises(NetworkError, match=r"ethtool -K eth0 .* has not answered for 0\.2 s, interface eth0 of client"):
        device.set_offloads(Interface(node=node), True, device.State(), programs)


def test_what_an_interface_was_told_is_no_attribute_of_it():
    shaping = Shaping()
    interface, other = Interface(), Interface()
    attributes = set(vars(interface))
    told = OneWay(Condition.parse(rtt="10ms"), "down")
    shaping.end(interface).stated = told
    assert shaping.last(interface) == told
    assert set(vars(interface)) == attributes
    cable = SimpleNamespace(intf1=other, intf2=interface)
    assert shaping.is_set(cable)
    assert not shaping.is_set(SimpleNamespace(intf1=other, intf2=other))
    assert Shaping().end(interface).stated is None  # another network's
    assert shaping.gone(interface) == Flow()


def test_of_an_interface_that_was_told_nothing_the_delay_is_known(program):
    program(SHOWS)
    shaping = Shaping()
    try:
        assert shaping.last(Interface()) == OneWay(Condition(up=0.005))
    finally:
        shaping.programs.close()


def test_two_ends_make_one_condition():
    up = OneWay(Condition.parse(delay_up="3ms", rate_up="1Mbit", loss_up="1%", mtu=1400))
    down = OneWay(Condition.parse(delay="5ms", rate="8Mbit", jitter="1ms", mtu=1400), "down")
    assert merge_directions(up, down) == Condition.parse(
        delay_up="3ms", delay_down="5ms", rate_up="1Mbit", rate_down="8Mbit", jitter_down="1ms", loss_up="1%", mtu=1400
    )
    with pytest.raises(ConditionError, match="its two directions differ in slot, mtu, which one condition cannot express"):
        merge_directions(up, OneWay(Condition.parse(slot="5ms"), "down"))


def test_whether_a_change_was_verified_could_not_be_or_needed_none():
    ends = tuple(Interface(f"{name}-eth1", Switch(name)) for name in ("s1", "s2"))
    unverified = verify.check(ends, Shaping())
    assert (unverified.ping, unverified.unverified) == (None, "no hosts on both sides")
    said = [
        str(Setting(("client", "switch"), Condition.parse(rtt="10ms"), each))
        for each in (verify.Verification(PING), unverified, verify.Verification())
    ]
    assert said == [
        "client-switch: +10 ms RTT (ping 10.06 ms)",
        "client-switch: +10 ms RTT (not verified: no hosts on both sides)",
        "client-switch: +10 ms RTT (no ping)",
    ]


@pytest.fixture
def network(monkeypatch):
    """A network of one cable that records conditions without tc; `network.outcome` is the result of a ping across it."""
    network = Network(TwoHosts)
    network.outcome = verify.Verification(PING)
    monkeypatch.setattr(Shaping, "set", lambda shaping, end, stated, **_: setattr(shaping.end(end), "stated", stated))
    monkeypatch.setattr(verify, "check", lambda ends, shaping, ip: network.outcome)
    monkeypatch.setattr(neighbours, "introduce", lambda ends, introduced: None)
    cable = Cable(*(Interface(f"{name}-eth0", SimpleNamespace(name=name)) for name in ("client", "server")))
    for end in (cable.intf1, cable.intf2):
        network.shaping.end(end).stated = OneWay(Condition())
    network.mininet = SimpleNamespace(links=[cable])
    return network


class Cable:
    def __init__(self, first, second):
        self.intf1, self.intf2 = first, second
        first.link = second.link = self


def test_a_network_says_how_each_change_of_a_link_was_verified(network):
    (link,) = network.links
    with link.set(rtt="10ms"):
        assert link.condition == Condition.parse(rtt="10ms")
    assert link.condition == Condition()
    network.outcome = verify.Verification(unverified="other packets fill the path")
    link.set(rtt="20ms")
    link.set(rtt="30ms", ping=False)
    assert network.verified == [PING]
    assert [(str(each.condition), each.ping, each.verification.unverified) for each in network.settings] == [
        ("+10 ms RTT", PING, ""),
        ("+20 ms RTT", None, "other packets fill the path"),
        ("+30 ms RTT", None, ""),
    ]


def test_of_several_links_the_longest_round_trip_counts():
    """The one that was set last may have no delay: then it said 0.00 in every cell."""

    def setting(ends, rtt_ms):
        ping = Ping(("ping",), "", 5, 5, 0, 0, Rtt(rtt_ms, rtt_ms, rtt_ms, 0.0), ()) if rtt_ms is not None else None
        return Setting(ends, Condition(), verify.Verification(ping))

    client, database = ("client", "switch"), ("db", "switch")
    assert longest([setting(client, 40.0), setting(database, 0.01)]) == 40.0
    assert longest([setting(client, 40.0), setting(client[::-1], 10.0), setting(database, 0.01)]) == 10.0
    assert longest([setting(client, 40.0), setting(client, None)]) is None, "its last change was not verified"
    assert longest([]) is None


def test_how_late_links_are_is_known_if_each_with_a_delay_was_pinged():
    """What a run's samples note, and what a claim allows for on the real clock."""

    def setting(ends, rtt, measured_ms):
        ping = None if measured_ms is None else Ping(("ping",), "", 5, 5, 0, 0, Rtt(*[measured_ms] * 3, 0.0), ())
        return Setting(ends, Condition.parse(rtt=rtt) if rtt else Condition(), verify.Verification(ping))

    client, database = ("client", "switch"), ("db", "switch")
    assert latest([setting(client, "8ms", 10.0), setting(database, "", 0.01)]) == pytest.approx(0.2)
    assert latest([setting(client, "8ms", 10.0), setting(database, "9ms", 10.0)]) == pytest.approx(0.2)
    assert latest([setting(client, "8ms", 10.0), setting(client[::-1], "9ms", 10.0)]) == pytest.approx(0.1)
    assert latest([setting(client, "8ms", 10.0), setting(database, "9ms", None)]) is None
    assert latest([setting(client, "", 0.3)]) is None
    assert latest([]) is None


def test_a_network_goes_back_to_what_its_links_were_told(network):
    (link,) = network.links
    before = network.remember()
    link.set(rtt="10ms", mtu=1400)
    assert network.conditions == {"client-server": Condition.parse(rtt="10ms", mtu=1400)}
    assert network.shaped == {("client", "client-eth0"), ("server", "server-eth0")}
    network.restore(before)
    assert link.condition == Condition()
    other = Cable(*(Interface(f"{name}-eth1", SimpleNamespace(name=name)) for name in ("client", "server")))
    network.mininet.links.append(other)
    for end in (other.intf1, other.intf2):
        network.shaping.end(end).stated = OneWay(Condition())
    with pytest.raises(NetworkError, match="the link client-server did not exist"):
        network.restore(before)


def test_a_seed_that_nobody_asked_for_is_told_and_is_no_part_of_what_was_asked(network):
    network.seeds = Seeds(own=7)
    (link,) = network.links
    for stated, told, asked in (({}, 7, None), ({"seed": 3}, 3, 3)):
        link.set(loss="30%", **stated)
        assert link.condition.seed == told
        assert network.conditions["client-server"].seed == asked
    assert Seeds(own=7).asked(Condition.parse(loss="1%", seed=7 + APART), link=1).seed is None
    assert Seeds(own=7).asked(Condition.parse(loss="1%", seed=7 + APART), link=0).seed == 7 + APART
    assert Seeds().asked(Condition.parse(loss="1%", seed=7)).seed == 7


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"rate": "2Mbit", "burst": "3kB"}, {"rate": "2Mbit", "burst": "9kB"}),
        ({"delay": "9ms", "reorder": "5%", "gap": 3}, {"delay": "9ms", "reorder": "5%", "gap": 4}),
        ({"loss": "5%", "seed": 1}, {"loss": "5%", "seed": 2}),
    ],
    ids=["burst", "gap", "seed"],
)
def test_conditions_that_differ_are_cells_of_their_own_in_a_tests_record(network, one, other):
    (link,) = network.links
    keys = []
    for fields in (one, other, one):
        link.set(**fields)
        keys.append(cell_key(records._sample("test_it", 0, network)["cell"]))
    assert keys[0] == keys[2] != keys[1]


def test_a_tests_record_says_which_link_no_ping_could_verify(network):
    (link,) = network.links
    assert records._sample("test_it", 0, network)["unverified"] == []
    network.outcome = verify.Verification(unverified="other packets fill the path")
    link.set(rtt="20ms")
    assert records._sample("test_it", 0, network)["unverified"] == ["client-server: other packets fill the path"]
    link.set(rtt="20ms", ping=False)
    assert records._sample("test_it", 0, network)["unverified"] == []


def test_the_plugin_takes_of_a_network_what_is_public():
    folder = Path(records.__file__).parent
    private = [
        f"{path.name}:{node.lineno} {ast.unparse(node)}"
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and re.search(r"\b(net|network|link|plain|node|kept)\b.*\._[a-z]", ast.unparse(node))
    ]
    assert private == []
