"""TCLinks on a real kernel: Mininet's own qdiscs, changed by hand, kept by `set`, and drained between layouts."""

import json
import subprocess
import sys
import textwrap

import pytest
from mininet.link import TCLink
from mininet.topo import Topo
from readings import qdiscs

from slownet.model.errors import ConditionError, NetworkError
from slownet.net.network import Network
from slownet.net.qdisc import class_rates


class Pair(Topo):
    def build(self, **params):
        self.addLink(self.addHost("h1"), self.addSwitch("s1"), cls=TCLink)
        self.addLink("s1", self.addHost("h2"), cls=TCLink, **params)


def rtt(net):
    """Return a ping's time in ms, without the first, which asks for addresses."""
    text = net["h1"].pexec("ping -n -q -c 3 -i 0.2 10.0.0.2")[0]
    return float(text.rpartition("= ")[2].split("/")[0])


def port(net):
    return net["s1"].connectionsTo(net["h2"])[0][0]


@pytest.fixture(params=[{}, {"use_hfsc": True}, {"use_tbf": True}, {"enable_red": True}], ids=str)
def limited(request):
    with Network(lambda: Pair(bw=10, delay="10ms", max_queue_size=100, **request.param)) as net:
        yield net


def test_the_handles_are_mininets_and_tc_by_hand_finds_them(limited):
    parent = "6:" if "6:" in qdiscs(limited["s1"], "s1-eth2") else "5:1"
    assert rtt(limited) == pytest.approx(20, abs=1)
    assert limited["s1"].cmd(f"tc qdisc change dev s1-eth2 parent {parent} handle 10: netem delay 50ms limit 100") == ""
    assert rtt(limited) == pytest.approx(60, abs=1)


def test_a_class_is_retuned_by_hand_and_the_condition_says_so():
    with Network(lambda: Pair(bw=10, delay="10ms")) as net:
        assert str(net.link("s1", "h2").condition).startswith("+20 ms RTT, 10 Mbit")
        assert net["s1"].cmd("tc class change dev s1-eth2 parent 5:0 classid 5:1 htb rate 2Mbit burst 15k") == ""
        assert class_rates(port(net)) == {"5:1": 2_000_000}
        assert net["s1"].cmd("tc qdisc change dev s1-eth2 parent 5:1 handle 10: netem delay 50ms limit 1000") == ""
        changed = net.link("s1", "h2").condition
        assert (changed.rate_up, changed.up, changed.down) == (2e6, 0.05, 0.01)
        assert net.conditions["s1-h2"] == changed
        with net.link("s1", "h2").set(rate="5Mbit"):
            assert net.conditions["s1-h2"].rate_up == 5e6
        assert net.conditions["s1-h2"].up == 0.05  # back to what it was before
    assert not subprocess.check_output(["tc", "qdisc", "show", "dev", "lo"], text=True).count("netem")


def test_a_qdisc_that_no_condition_states_is_said_and_the_link_can_be_set_again():
    with Network(lambda: Pair(delay="10ms")) as net:
        net["s1"].cmd("tc qdisc replace dev s1-eth2 root handle 1: prio")
        with pytest.raises(ConditionError, match="another program has changed what it does to packets: prio 1:, link s1-h2"):
            net.link("s1", "h2").condition  # noqa: B018  # a property that raises
        with pytest.raises(NetworkError, match="another program's prio 1: shapes what it sends"):
            net.link("s1", "h2").set(rtt="10ms")
        net["s1"].cmd("tc qdisc del dev s1-eth2 root")
        net.link("s1", "h2").set(rtt="10ms")
        assert rtt(net) == pytest.approx(10, abs=1)


def test_an_end_that_is_replaced_by_hand_names_its_link():
    with Network(lambda: Pair(bw=10, delay="10ms")) as net:
        assert net["s1"].cmd("tc qdisc replace dev s1-eth2 root netem delay 77ms") == ""
        with pytest.raises(ConditionError, match=r"its two directions differ in burst, queue, .*, link s1-h2: set the link"):
            net.conditions  # noqa: B018  # a property that raises


def test_a_condition_that_was_set_and_changed_by_hand_is_not_stated_any_longer():
    with Network(Pair) as net:
        net.link("h2", "s1").set(delay="10ms")
        assert net["h2"].cmd("tc qdisc change dev h2-eth0 root handle 51: netem delay 30ms limit 1000") == ""
        assert net.link("h2", "s1").condition.up == 0.03
        assert net.conditions["s1-h2"].down == 0.03
        net["h2"].cmd("tc qdisc del dev h2-eth0 root")
        assert net.link("h2", "s1").condition.up == 0


def test_set_keeps_what_the_topology_states_and_the_caller_does_not_name():
    with Network(lambda: Pair(bw=10, delay="10ms", loss=1, max_queue_size=100)) as net:
        link = net.link("h2", "s1")
        with link.set(rtt="40ms"):
            assert str(link.condition) == "+40 ms RTT, loses 1 %, 10 Mbit, queue 100 packets"
            with link.set(rtt="60ms", loss=None):  # on top of the topology's, not of the one above
                assert str(link.condition) == "+60 ms RTT, 10 Mbit, queue 100 packets"
            with link.set(rate=None):
                assert link.condition.rates == []
        assert qdiscs(net["h2"], "h2-eth0")["10:"]["delay"]["delay"] == pytest.approx(0.01)
        assert class_rates(net["h2"].intf()) == {"5:1": 10_000_000}
        with link.set("LTE"):  # a name replaces everything
            assert link.condition.lossy is False
            assert link.condition.rate_up != 10e6


def test_packets_in_flight_survive_the_change_between_layouts():
    with Network(lambda: Pair(bw=10, delay="10ms")) as net:
        flood = net["h1"].popen("ping -n -q -i 0.01 -c 300 10.0.0.2")
        with net.link("s1", "h2").set(rtt="30ms", ping=False), net.link("s1", "h2").set(rate="20Mbit", ping=False):
            net["h1"].pexec("sleep 0.3")
        said = flood.communicate()[0].decode()
    assert "300 received, 0% packet loss" in said


def test_a_schedule_on_a_tclink_returns_to_it():
    with Network(lambda: Pair(bw=10, delay="10ms")) as net:
        with net.link("s1", "h2").play({"0s": {"rtt": "40ms"}}):
            assert rtt(net) == pytest.approx(40, abs=1)
        assert rtt(net) == pytest.approx(20, abs=1)
        assert list(qdiscs(net["s1"], "s1-eth2")) == ["5:", "10:"]


def standin(tmp_path, code, *words, before=()):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "slownet.net.standin", *before, str(program), *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)


def test_a_plain_link_with_a_rate_becomes_a_tclink_and_says_so(tmp_path):
    done = standin(
        tmp_path,
        """
        from mininet.net import Mininet
        net = Mininet()
        h1, h2, s1 = net.addHost("h1", cpu=0.5), net.addHost("h2"), net.addSwitch("s1")
        net.addLink(h1, s1, bw=10, delay="50ms"); net.addLink(h2, s1)
        net.start()
        print(h1.cmd("ping -q -c 2 10.0.0.2"), h1.cmd("tc qdisc show dev h1-eth0"), type(h1).__name__)
        net.stop()
        """,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "*** a plain Link with bw, delay: made a TCLink (stock Mininet ignores them)\n"
    assert "min/avg/max/mdev = 100." in done.stdout
    assert "htb 5:" in done.stdout
    assert "QuickLimitedHost" in done.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("link = net.addLink(h1, h2, bandwidth=3)", "a TCLink has no parameter 'bandwidth', interface h1-eth0, "),
        ("net.addLink(h1, h2); h1.intf().config(bandwidth=3)", "a TCLink has no parameter 'bandwidth', interface h1-eth0, "),
        ('net.addLink(h1, h2); h1.intf().config(bw="10Mbps")', "bw='10Mbps': tc reads Mbps as bytes"),
        ("net.addLink(h1, h2, cls=Link); h1.intf().config(bw=3)", "bw has no effect on an Intf, interface h1-eth0, "),
        ('net.addLink(h1, h2, intf=custom(TCIntf, latency="3ms"))', "a TCLink has no parameter 'latency', interface h1-eth0, "),
        ("net.addLink(h1, h2, cls=OVSLink, bw=3)", "bw has no effect on an OVSLink's end, interface h1-eth0, "),
        ('net.addHost("h3", ipp="10.0.0.9")', "a Host has no parameter 'ipp', node h3, "),
        ('net.addSwitch("s1", failmode="standalone")', "an OVSSwitch has no parameter 'failmode', node s1, "),
        (
            'net.addController("c0", controller=RemoteController, prot=6653)',
            "a RemoteController has no parameter 'prot', node c0, ",
        ),
        ('net.addSwitch("s1", stp=True)', "stp=True has no effect on s1, whose failMode is 'secure', switch s1"),
    ],
)
def test_by_hand_a_parameter_without_effect_is_one_line_too(tmp_path, line, said):
    code = f"""
        from mininet.link import Link, OVSLink, TCIntf, TCLink
        from mininet.net import Mininet
        from mininet.node import RemoteController
        from mininet.util import custom
        net = Mininet(link=TCLink, controller=None)
        h1, h2 = net.addHost("h1"), net.addHost("h2")
        {line}
        net.start()
    """
    done = standin(tmp_path, code)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith(f"slownet: {said}")
    assert len(done.stderr.splitlines()) == 1
    assert ("program.py:8" in done.stderr) == ("switch s1" not in done.stderr)


def test_mininets_own_command_ends_with_the_line(tmp_path):
    words = [sys.executable, "-m", "slownet.net.standin", "mn", "--link", "tc,bandwidth=10", "--test", "pingall"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert "slownet: a TCLink has no parameter 'bandwidth', interface h1-eth0: did you mean 'bw'?\n" in done.stderr
    assert "Caught exception" not in done.stdout + done.stderr
    assert subprocess.check_output(["ovs-vsctl", "list-br"], text=True).split() == []


RING = """
    from mininet.net import Mininet
    from mininet.node import OVSBridge
    net = Mininet(switch=OVSBridge, controller=None)
    switches = [net.addSwitch(f"s{number}", stp=STP) for number in (1, 2, 3)]
    for number, switch in enumerate(switches):
        net.addLink(net.addHost(f"h{number + 1}"), switch)
        net.addLink(switch, switches[(number + 1) % 3])
    net.start()
    net.waitConnected()
    print(net.pingAll())
    net.stop()
"""


def test_a_loop_that_a_program_builds_is_refused_before_it_starts(tmp_path):
    done = standin(tmp_path, RING.replace("STP", "False"))
    assert done.returncode == 2
    assert done.stderr.startswith("slownet: the switches s1, s2, s3 form a loop, where broadcasts circle for ever, in this")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("stp", "before"), [("True", ()), ("False", ("--stp",))])
def test_a_ring_comes_up_with_a_spanning_tree(tmp_path, stp, before):
    done = standin(tmp_path, RING.replace("STP", stp), before=before)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["0.0"]), done.stderr


class Ring(Topo):
    def build(self, **options):
        switches = [self.addSwitch(f"s{number}", **options) for number in (1, 2, 3)]
        for number, switch in enumerate(switches):
            self.addLink(self.addHost(f"h{number + 1}"), switch)
            self.addLink(switch, switches[(number + 1) % 3])


@pytest.mark.parametrize("options", [{"stp": True}, {"rstp": True}], ids=str)
def test_a_network_waits_for_its_spanning_tree_and_knows_the_link_that_it_blocks(options):
    with Network(lambda: Ring(**options)) as net:
        assert net.mininet.pingAll() == 0
        unverified = []
        for first, second in (("s1", "s2"), ("s2", "s3"), ("s3", "s1")):
            with net.link(first, second).set(rtt="10ms"):
                unverified.append(net.settings[-1].verification.unverified)
        assert sorted(unverified) == ["", "", "the spanning tree blocks the link"]


def test_a_loop_is_refused_before_anything_is_built():
    before = json.loads(subprocess.check_output(["ip", "-json", "link"]))
    with pytest.raises(NetworkError, match="the switches s1, s2, s3 form a loop"), Network(Ring):
        pass
    assert json.loads(subprocess.check_output(["ip", "-json", "link"])) == before
