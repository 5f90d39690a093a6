"""Mininet's own classes and calls on top of netlink: Mininet programs still work."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import Node, OVSBridge
from mininet.topo import LinearTopo, SingleSwitchTopo, Topo
from readings import qdiscs

from slownet.model.errors import UnitError
from slownet.net.fast_mininet import QuickNet
from slownet.net.network import Network
from slownet.topologies import Dumbbell, TwoHosts


@pytest.fixture(scope="module")
def two():
    with Network(TwoHosts) as network:
        yield network


@pytest.fixture
def mininet(net):  # net: so that Open vSwitch runs, as a Mininet program expects
    running = []

    def build(*args, **params):
        network = QuickNet(*args, controller=None, **params)
        running.append(network)
        network.start()
        return network

    yield build
    for network in running:
        network.stop()


def children():
    return subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False).stdout.split()


def roots_interfaces():
    return {each["ifname"] for each in json.loads(subprocess.check_output(["ip", "-json", "link"]))}


def test_a_host_is_no_process_until_somebody_wants_a_shell(net):  # its daemons run
    before = children()
    with Network(Dumbbell(5)) as five:
        assert set(children()) <= set(before)
        assert five["client1"].cmd("echo here").strip() == "here"
        assert len(set(children()) - set(before)) == 1
    assert set(children()) <= set(before)


def test_cmd_keeps_its_shell(two):
    two["client"].cmd("cd /usr; A=1")
    assert two["client"].cmd("echo $A $PWD").split() == ["1", "/usr"]


def test_pid_is_a_process_in_the_host(two):
    host = two["server"]
    assert os.stat(f"/proc/{host.pid}/ns/net").st_ino != os.stat("/proc/self/ns/net").st_ino
    inside = subprocess.check_output(["mnexec", "-a", str(host.pid), "readlink", "/proc/self/ns/net"], text=True)
    assert inside == host.pexec("readlink /proc/self/ns/net")[0] == host.cmd("readlink /proc/self/ns/net").replace("\r", "")


def test_each_host_sees_itself_in_sys(two):
    for name in ("client", "server"):
        assert f"{name}-eth0" in two[name].pexec("ls /sys/class/net")[0].split()
        assert f"{name}-eth0" in two[name].cmd("ls /sys/class/net").split()
    assert not [name for name in os.listdir("/sys/class/net") if name.startswith("client")]


@pytest.mark.parametrize("words", [(["echo", "a b"],), ("echo a b",), ("echo", "a", "b")])
def test_popen_takes_what_mininets_takes(two, words):
    assert two["client"].popen(*words).communicate()[0] == b"a b\n"


def test_popen_with_options(two, tmp_path):
    process = two["client"].popen('echo "$B $PWD"', shell=True, env={**os.environ, "B": "2"}, cwd=tmp_path, text=True)
    assert process.communicate()[0].strip() == f"2 {tmp_path}"
    assert two["client"].popen(["pwd"], text=True).communicate()[0].strip() == os.getcwd()
    session = two["client"].popen(["sleep", "9"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert os.getsid(session.pid) == session.pid
    session.kill()
    session.wait()


def test_a_program_that_is_missing_has_status_1(two):
    out, err, status = two["client"].pexec("no-such-program now")
    assert (out, status) == ("", 1)
    assert err.strip() == "no-such-program: No such file or directory"


def test_send_wait_and_monitor(two):
    two["client"].sendCmd("sleep 0.01; echo done")
    two["server"].sendCmd("echo other")
    assert "done" in two["client"].waitOutput()
    assert "other" in two["server"].waitOutput()
    two["client"].sendCmd("sleep 0.01; echo again")
    said = ""
    while two["client"].waiting:
        said += two["client"].monitor()
    assert "again" in said


def test_mininets_cli(net, tmp_path):
    (tmp_path / "script").write_text(
        "nodes\ndump\np1 ping -c 1 p2\npy p1.IP()\npingall\nlink p1 p2 down\npy 'up' if p2.intf().isUp() else 'now down'\n"
    )
    code = """
        import sys
        from mininet.cli import CLI
        from mininet.log import setLogLevel
        from mininet.topo import Topo
        from slownet.net.fast_mininet import QuickNet

        class Pair(Topo):
            def build(self):
                self.addLink(self.addHost("p1"), self.addHost("p2"))

        setLogLevel("output")
        network = QuickNet(topo=Pair(), controller=None)
        network.start()
        CLI(network, script=sys.argv[1])
        network.stop()
    """
    words = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "script")]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    for expected in ("p1 p2", "<Host p1: p1-eth0:10.0.0.1 pid=", "1 received", "10.0.0.1", "0% dropped (2/2", "now down"):
        assert expected in done.stdout + done.stderr


def test_a_link_goes_down_and_up(two):
    two.mininet.configLinkStatus("client", "server", "down")
    assert not two["client"].intf().isUp()
    two.mininet.configLinkStatus("client", "server", "up")
    assert two["client"].intf().isUp()
    assert two.mininet.pingAll() == 0


def test_stock_topologies_and_switches(mininet):
    network = mininet(topo=LinearTopo(3), switch=OVSBridge, link=TCLink)
    assert isinstance(network["s1"], OVSBridge)
    assert isinstance(network.links[0], TCLink)
    assert isinstance(network, Mininet)
    assert network.pingAll() == 0


def test_tclinks_parameters(mininet):
    class Slow(Topo):
        def build(self):
            self.addLink(self.addHost("h1"), self.addSwitch("s1"), cls=TCLink, bw=10, delay="5ms")
            self.addLink(self.addHost("h2"), "s1", cls=TCLink)

    network = mininet(topo=Slow(), switch=OVSBridge)
    assert network.pingAll() == 0
    assert " 0% packet loss" in network["h1"].cmd("ping -c 2 -i 0.1", network["h2"].IP())
    for node, name in (("h1", "h1-eth0"), ("s1", "s1-eth1")):  # Open vSwitch removes the second one; it must return
        assert qdiscs(network[node], name)["10:"]["delay"]["delay"] == pytest.approx(0.005)
        assert "class htb 5:1 root leaf 10: prio 0 rate 10Mbit" in network[node].cmd("tc class show dev", name)


def test_a_parameter_that_tc_would_refuse_is_an_error(mininet):
    class Wrong(Topo):
        def build(self):
            self.addLink(self.addHost("h1"), self.addHost("h2"), cls=TCLink, delay="soon")

    with pytest.raises(UnitError, match="'soon' is not a duration, interface h1-eth0"):
        mininet(topo=Wrong())


def test_a_node_class_of_ones_own_keeps_its_ways(mininet):
    class Marked(Node):
        def config(self, mark="", **params):
            super().config(**params)
            self.marked = self.cmd(f"sysctl -n -w net.ipv4.ip_forward={mark}").strip()

    class Own(Topo):
        def build(self):
            self.addLink(self.addHost("h1", cls=Marked, mark=1, privateDirs=["/mnt"]), self.addHost("h2"))

    network = mininet(topo=Own())
    assert isinstance(network["h1"], Marked)
    assert network["h1"].marked == "1"
    assert network["h1"].cmd("touch /mnt/mine; ls /mnt").strip() == "mine"
    assert not os.path.exists("/mnt/mine")
    assert network.pingAll() == 0


def test_a_network_grows_and_shrinks_while_it_runs(mininet):
    network = mininet(topo=SingleSwitchTopo(2), switch=OVSBridge)
    late = network.addHost("late")
    link = network.addLink(late, network["s1"])
    late.configDefault()
    network["s1"].attach(link.intf2)
    assert network.ping([network["h1"], late]) == 0
    network.delLink(link)
    assert "s1-eth3" not in roots_interfaces()
    network.delHost(late)
    assert network.pingAll() == 0


def test_an_address_replaces_the_one_before(two):
    host = two["client"]
    before = host.IP()
    host.setIP("10.0.0.77", 24)
    found = json.loads(host.pexec("ip -json -4 address show dev client-eth0")[0])
    assert [each["local"] for one in found for each in one["addr_info"]] == ["10.0.0.77"]
    host.setIP(before + "/24")
    host.setMAC("00:00:00:00:00:7f")
    assert json.loads(host.pexec("ip -json link show dev client-eth0")[0])[0]["address"] == "00:00:00:00:00:7f"


def test_a_second_network_leaves_the_first_one_alone(net):
    with Network(TwoHosts) as other, Network(Dumbbell(1)) as third:
        assert other["client"].IP() == third["client1"].IP() == net["client"].IP()  # each has its own namespaces
    assert subprocess.check_output(["ovs-vsctl", "list-br"], text=True).split() == ["switch"]
    assert net.mininet.pingAll() == 0


def test_namespaces_end_with_their_process(net):
    before = roots_interfaces()
    code = """
        import os, signal
        from slownet.net.network import Network
        from slownet.topologies import Dumbbell
        Network(Dumbbell(2)).__enter__()["client1"].cmd("true")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    try:
        assert done.returncode == -signal.SIGKILL
        subprocess.run(["ovs-vsctl", "del-br", "west", "--", "del-br", "east"], check=True)
        deadline = 200
        while (left := {name for name in roots_interfaces() - before if name not in ("west-eth1", "east-eth1")}) and deadline:
            deadline -= 1
            subprocess.run(["sleep", "0.01"], check=True)
        assert not left
    finally:
        subprocess.run(["ip", "link", "del", "west-eth1"], check=True)
        subprocess.run(
            [sys.executable, "-m", "slownet.cli", "doctor", "clean"], capture_output=True, check=True
        )  # its directory
