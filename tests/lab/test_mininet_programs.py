"""Unchanged Mininet programs on slownet's classes. What their links do is tested in test_promises.py."""

import json
import re
import subprocess
import sys
import textwrap

import pytest


def standin(*words, code=None, folder=None):
    program = folder / "program.py" if code else words[0]
    if code:
        program.write_text(textwrap.dedent(code))
        words = (program, *words)
    command = [sys.executable, "-m", "slownet.net.standin", *map(str, words)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)


def test_mininets_command_runs():
    done = standin("mn", "--topo", "linear,3", "--link", "tc,bw=10,delay=5ms", "--test", "pingall")
    assert "Results: 0% dropped (6/6 received)" in done.stdout + done.stderr


STUDENT = """
    import json
    import re
    from mininet.link import TCIntf, TCLink
    from mininet.log import setLogLevel
    from mininet.net import Mininet
    from mininet.node import CPULimitedHost
    from mininet.topo import Topo
    from mininet.util import custom

    class MyTopo(Topo):
        def build(self):
            s = self.addSwitch("s1")
            for name in ("h1", "h2"):
                h = self.addHost(name, cpu=0.5)
                self.addLink(h, s, bw=10, delay="5ms", loss=0, max_queue_size=1000, use_htb=True)
            self.addLink(self.addHost("h3"), s, intf=custom(TCIntf, bw=7), cls=TCLink, params1={"delay": "3ms"})

    def shown(intf):
        found = json.loads(intf.node.cmd("tc -json qdisc show dev " + intf.name))
        netem = [each["options"] for each in found if each["handle"] == "10:"][0]
        rate = re.findall(r"class htb 5:1 root .* rate (\\S+) ", intf.node.cmd("tc class show dev " + intf.name))
        return [netem.get("delay", {}).get("delay", 0), netem.get("loss-random", {}).get("loss", 0), *rate, netem["limit"]]

    setLogLevel("critical")
    net = Mininet(topo=MyTopo(), link=TCLink, host=CPULimitedHost)
    net.start()
    link = net.linksBetween(net["h1"], net["s1"])[0]
    found = {"mininet": type(net).__module__, "dropped": net.pingAll(), "h1": shown(link.intf1), "s1": shown(link.intf2)}
    h3 = net["h3"].defaultIntf()
    found["h3"] = shown(h3)
    flood = net["h1"].popen("ping -n -f -c 500 10.0.0.2")
    link.intf1.config(bw=20, delay="10ms", loss=0)
    found["changed"] = shown(link.intf1)
    link.intf1.config(delay="0ms")
    found["back"] = shown(link.intf1)
    found["flood"] = flood.communicate()[0].decode()
    net.stop()
    print(json.dumps(found))
"""


def test_a_students_program_runs_unchanged_and_changes_links_in_place(tmp_path):
    done = standin(code=STUDENT, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["mininet"] == "slownet.net.fast_mininet"
    assert found["dropped"] == 0
    assert found["h1"] == found["s1"] == [pytest.approx(0.005), 0, "10Mbit", 1000]
    assert found["changed"] == [pytest.approx(0.010), 0, "20Mbit", 1000]
    assert found["back"][:2] == [0, 0]
    assert found["h3"][::2] == [pytest.approx(0.003), "7Mbit"]  # stock Mininet ignores the intf of a TCLink
    assert "500 received, 0% packet loss" in found["flood"]


def test_a_class_that_adds_to_the_parameters_keeps_its_way(tmp_path):
    done = standin(
        code="""
        from mininet.link import TCIntf, TCLink
        from mininet.net import Mininet
        from mininet.topo import Topo

        class Slow(TCIntf):
            def config(self, **params):
                params.setdefault("delay", "20ms")
                return TCIntf.config(self, **params)

        class Pair(Topo):
            def build(self):
                self.addLink(self.addHost("h1"), self.addHost("h2"), cls1=Slow, cls2=Slow)

        net = Mininet(topo=Pair(), link=TCLink)
        net.start()
        print(net["h1"].cmd("ping -c 2 10.0.0.2"), net["h1"].cmd("tc qdisc show dev h1-eth0"))
        net.stop()
        """,
        folder=tmp_path,
    )
    assert "min/avg/max/mdev = 40.0" in done.stdout, done.stderr
    assert "netem 10:" in done.stdout


@pytest.mark.parametrize(
    ("params", "line"),
    [
        (
            "jitter='1ms'",
            "slownet: jitter without delay: packets cannot come before they were sent, interface h1-eth0, {program}:6: give",
        ),
        ("delay='10'", "slownet: duration '10' has no unit, interface h1-eth0, {program}:6: write it like"),
        ("loss=101", "slownet: loss=101 is not a percentage, interface h1-eth0, {program}:6: give 0 to 100"),
        ("bw=-5", "slownet: bw=-5 lets no packet through, interface h1-eth0, {program}:6: give Mbit/s above 0"),
    ],
)
def test_what_mininet_passes_over_ends_in_one_line(tmp_path, params, line):
    code = f"""
        from mininet.link import TCLink
        from mininet.net import Mininet

        net = Mininet()
        net.addLink(net.addHost("h1"), net.addHost("h2"), cls=TCLink, {params})
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(line.format(program=tmp_path / "program.py"))
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("net.addHost('h3', ip='10.0.0.300/24')", "'10.0.0.300' is not an IPv4 address, interface h3-eth0, {program}:6: give"),
        ("net.addHost('h3', mac='00:zz')", "'00:zz' is not an Ethernet address, interface h3-eth0, {program}:6: give"),
        ("net.addHost('h3', defaultRoute='via 9.9.9.9')", "cannot add the default route via 9.9.9.9: Nexthop has invalid"
         " gateway, node h3, {program}:6: give it a gateway in the subnet of one of its own addresses"),
        ("net.addLink('h1', 'h9'); net.addHost('h3')", "there is no node 'h9', {program}:6: choose from h1"),
        ("net.addHost('h3'); net.addHost('h1')", "'h1' is given twice, {program}:5 and {program}:6: give one of them"
         " another name"),
        ("net.addHost('h3'); net.addLink('h1', 'h3'); net.addLink('h1', 'h3', port1=0)",
         "h1 has two links on port 0, h1-eth0 ({program}:6) and {program}:6: give each link of h1 a port of its own"),
        ("net.addHost('h3'); net.addLink('h1', 'h3', intfName1='a-very-long-name')",
         "the interface's name 'a-very-long-name' is too long, node h1, {program}:6: shorten it: Linux takes 15 characters"),
        ("net.addHost('h3'); s1 = net.addSwitch('s1'); net.addLink('h1', s1, port2=3); net.addLink('h3', s1, port2=3)",
         "s1 has two links on port 3, s1-eth3 ({program}:6) and {program}:6: give each link of s1 a port of its own"),
        ("net.addHost('h3', ip='2001:db8::1/64')",
         "ip='2001:db8::1/64' is an IPv6 address, and Mininet's takes IPv4 alone, node h3, {program}:6: leave"
         " it out, and after start() call h3.cmd('ip -6 addr add 2001:db8::1/64 dev h3-eth0 nodad')"),
        ("net.addHost('h3'); net.addLink('h1', 'h3'); h1.setIP('2001:db8::1')",
         "'2001:db8::1' is an IPv6 address, and Mininet's takes IPv4 alone, interface h1-eth0, {program}:6:"
         " leave it out, and after start() call h1.cmd('ip -6 addr add 2001:db8"),
        ("net.addHost('h3'); h1.setDefaultRoute('via 2001:db8::1')",
         "defaultRoute='via 2001:db8::1' has an IPv6 address, and"
         " Mininet's takes IPv4 alone, node h1, {program}:6: leave it out"),
    ],
)  # fmt: skip
def test_what_a_node_cannot_be_given_is_one_line_with_its_place(tmp_path, statement, line):
    code = f"""
        from mininet.net import Mininet

        net = Mininet(controller=None)
        h1 = net.addHost("h1")
        {statement}
        net.addLink(h1, "h3")
        net.start()
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("slownet: " + line.format(program=tmp_path / "program.py")), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_statements_by_position_and_routes_before_addresses_hold(tmp_path):
    code = """
        from mininet.link import TCLink
        from mininet.net import Mininet

        net = Mininet()
        h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
        net.addLink(h1, s1, 0, 5, TCLink, delay="10ms")
        net.addLink(h2, s1, None, 7)
        net.addNAT().configDefault()
        net.start()
        print(s1.ports, h1.cmd("ip route show default"), h1.cmd("ping -c 1 -q 10.0.0.2"))
        net.stop()
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "s1-eth5>: 5" in done.stdout
    assert "s1-eth7>: 7" in done.stdout
    assert "default via 10.0.0.3" in done.stdout
    assert "min/avg/max/mdev = 40.0" in done.stdout  # of the first ping, which waits for ARP, too


def test_a_link_that_is_made_again_takes_its_ports_again(tmp_path):
    code = """
        from mininet.link import TCLink
        from mininet.net import Mininet
        from mininet.topo import LinearTopo

        net = Mininet(topo=LinearTopo(2), link=TCLink)
        net.start()
        h1, s1, s2 = net.get("h1", "s1", "s2")
        net.delLinkBetween(s1, s2)
        print("dropped", net.pingAll(timeout="1"))
        net.addLink(s1, s2, delay="15ms")
        for switch in (s1, s2):
            switch.attach(switch.intfList()[-1])
        print(h1.cmd("ping -c 3 -q 10.0.0.2"))
        net.stop()
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "dropped 100.0" in done.stdout
    assert "rtt min/avg/max/mdev = 30.0" in done.stdout


def test_a_program_that_starts_the_spanning_tree_itself_may_have_loops(tmp_path):
    code = """
        import time
        from mininet.net import Mininet

        net = Mininet()
        hosts = [net.addHost(f"h{number}") for number in (1, 2, 3)]
        switches = [net.addSwitch(f"s{number}") for number in (1, 2, 3)]
        for number in range(3):
            net.addLink(hosts[number], switches[number])
            net.addLink(switches[number], switches[(number + 1) % 3])
        net.start()
        for switch in switches:
            switch.cmd(f"ovs-vsctl set bridge {switch} stp_enable=true")
        time.sleep(40)
        print("dropped", net.pingAll(timeout="1"))
        net.stop()
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "dropped 0.0" in done.stdout


def test_modprobe_succeeds_for_what_the_kernel_has_built_in(tmp_path):
    code = """
        import subprocess
        for words in ("ifb numifbs=1", "sch_netem", "tcp_bbr", "no_such_module"):
            print(subprocess.call(["modprobe", *words.split()], stderr=subprocess.DEVNULL), end=" ")
        subprocess.check_call(["ip", "link", "set", "dev", "ifb0", "up"])
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 0 0 1 "


def test_more_hosts_than_addresses_is_one_line(tmp_path):
    code = """
        from mininet.net import Mininet
        from mininet.topo import SingleSwitchTopo

        Mininet(topo=SingleSwitchTopo(3), ipBase="10.0.0.0/30")
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("slownet: no address is left for 'h3': 10.0.0.0/30 has 2: give")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nosuch.py"], "there is no program 'nosuch.py'"),
        (["true"], "not a Python program"),
        (["mn", "--cluster=a,b"], "places nodes on other machines by ssh"),
        (["mn", "--pre", "nosuch.mn", "--test", "none"], "there is no file 'nosuch.mn', --pre: give one of commands"),
        (["mn", "--post=nosuch.mn"], "there is no file 'nosuch.mn', --post: give one of commands"),
    ],
)
def test_a_program_that_is_none_is_one_line(words, line):
    done = standin(*words)
    assert done.returncode == 2
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_host_that_moves_is_found_where_it_is_once_flows_are_deleted(tmp_path):
    code = """
        from mininet.net import Mininet
        from mininet.topo import LinearTopo

        net = Mininet(topo=LinearTopo(3))
        net.start()
        h1, s1, s2, s3 = net.get("h1", "s1", "s2", "s3")
        print("dropped", net.pingAll(timeout="1"))
        for old, new, port in ((s1, s3, 11), (s3, s2, 12)):
            end = next(intf for intf in old.intfList() if intf.link and intf.link.intf1.node is h1)
            old.detach(end)
            old.delIntf(end)
            end.node = new
            new.addIntf(end, port=port, moveIntfFn=lambda intf, node: None)
            new.attach(end)
            for switch in net.switches:
                switch.dpctl("del-flows")
            print("dropped", net.pingAll(timeout="1"))
        net.stop()
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("dropped")] == ["dropped 0.0"] * 3


def test_programs_of_openflows_reference_implementation_have_stand_ins(tmp_path):
    code = """
        import time
        from mininet.net import Mininet
        from mininet.node import Node, UserSwitch
        from mininet.topo import SingleSwitchTopo
        from mininet.util import quietRun

        net = Mininet(topo=SingleSwitchTopo(2), switch=UserSwitch)
        net.start()
        print("dropped", net.pingAll(timeout="1"))
        net.stop()
        controller = Node("c0", inNamespace=False)
        controller.cmd("controller -v ptcp: &")
        controller.cmd("ovs-vsctl add-br dp0 -- set-controller dp0 tcp:127.0.0.1:6633")
        deadline = time.time() + 20
        while "is_connected" not in quietRun("ovs-vsctl show") and time.time() < deadline:
            time.sleep(0.2)
        print("connected", "is_connected: true" in quietRun("ovs-vsctl show"))
        controller.cmd("kill %controller; ovs-vsctl del-br dp0")
    """
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "dropped 0.0\n" in done.stdout
    assert "connected True\n" in done.stdout
    assert done.stderr.count("UserSwitch needs ofdatapath, which Debian does not have: made an OVSSwitch\n") == 1


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import no_such_module", ["slownet: the lab has no module 'no_such_module', {file}:1: if it is a package, write ..."]),
        ("import tkinter", ["slownet: the lab has no module 'tkinter': it has no screen for windows, {file}:1: run ..."]),
        (
            "# of a cluster\nfrom mininet.examples.cluster import MininetCluster\nMininetCluster()",
            ["slownet: Mininet's cluster edition places nodes on other machines by ssh, ..., {file}:2: use Mininet ..."],
        ),
        (
            "def fails():\n    raise ValueError(3)\nfails()",
            ["Traceback (most recent call last):", '  File "{file}", line 3, in <module>', "...", "ValueError: 3"],
        ),
        ("def x(:", ['  File "{file}", line 1', "...", "SyntaxError: invalid syntax"]),
    ],
    ids=["module", "windows", "cluster", "exception", "syntax"],
)
def test_what_ends_a_program_has_none_of_slownets_own_lines(tmp_path, code, lines):
    done = standin(code=code, folder=tmp_path)
    assert done.returncode == (2 if lines[0].startswith("slownet") else 1)
    wanted = "\n".join(lines).format(file=tmp_path / "program.py")
    assert re.fullmatch(re.escape(wanted).replace(re.escape("..."), ".*"), done.stderr.rstrip(), re.DOTALL), done.stderr
    assert "standin.py" not in done.stderr


def test_what_a_line_says_to_do_for_ipv6_does_it(tmp_path):
    code = """
        from mininet.net import Mininet

        net = Mininet(controller=None)
        h1, h2 = net.addHost("h1"), net.addHost("h2")
        net.addLink(h1, h2)
        net.start()
        h1.cmd('ip -6 addr add 2001:db8::1/64 dev h1-eth0 nodad')
        h2.cmd('ip -6 addr add 2001:db8::2/64 dev h2-eth0 nodad')
        print(h1.cmd("ping -6 -c 1 2001:db8::2"))
        net.stop()
    """
    done = standin(code=code, folder=tmp_path)
    assert "1 received, 0% packet loss" in done.stdout, done.stderr


def test_two_hosts_with_one_address_run_as_under_mininet_and_a_line_says_so(tmp_path):
    code = """
        from mininet.net import Mininet

        net = Mininet(controller=None)
        s1 = net.addSwitch("s1", failMode="standalone")
        for name in ("h1", "h2"):
            net.addLink(net.addHost(name, ip="10.0.0.9/8", mac="00:00:00:00:00:09"), s1)
        apart = net.addHost("h3", ip="10.0.0.9/8")
        net.addLink(apart, net.addHost("h4", ip="10.0.0.10/8"))
        net.start()
        print(apart.cmd("ping -c 1 -q 10.0.0.10"))
        net.stop()
    """
    done = standin(code=code, folder=tmp_path)
    assert (done.returncode, "1 received" in done.stdout) == (0, True), done.stderr
    where = f"h1 ({tmp_path}/program.py:7) and h2 ({tmp_path}/program.py:7)"
    assert done.stderr.splitlines() == [
        f"slownet: {where} share the IP address 10.0.0.9: Mininet goes on, and one of them answers",
        f"slownet: {where} share the MAC address 00:00:00:00:00:09: Mininet goes on, and one of them answers",
    ]


@pytest.mark.parametrize("given", ["pipe", "file", "nothing"])
def test_commands_that_do_not_come_from_a_terminal_wait_for_no_time_of_their_own(tmp_path, given):
    """A line takes as long as its command; what a file holds is the next command, not input for the node."""
    (tmp_path / "commands").write_text("h1 sleep 2; echo slept\nh1 echo done\npy print('at', round(time.time() - began))\n")
    (tmp_path / "script").write_text("h1 sleep 2\nh1 echo of-a-script\n")
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import time
            from mininet.cli import CLI
            from mininet.net import Mininet
            from mininet.topo import SingleSwitchTopo

            net = Mininet(topo=SingleSwitchTopo(2))
            net.start()
            began = time.time()
            CLI(net, script="script")
            print("script", round(time.time() - began))
            began = time.time()
            class WithTime(CLI):
                def getLocals(self):
                    return {**super().getLocals(), "time": time, "began": began}
            WithTime(net)
            net.stop()
            """
        )
    )
    command = [sys.executable, "-m", "slownet.net.standin", str(program)]
    with (tmp_path / "commands").open() as file:
        source = {"pipe": {"input": file.read()}, "file": {"stdin": file}, "nothing": {"stdin": subprocess.DEVNULL}}[given]
        file.seek(0)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120, **source)
    assert done.returncode == 0, done.stderr
    printed = done.stdout + done.stderr
    assert "of-a-script" in printed
    assert "script 2\n" in printed
    assert ("slept" in printed, "at 2" in printed, "done" in printed) == (given != "nothing",) * 3


QUEUES = """
    from mininet.link import TCLink
    from mininet.net import Mininet
    from mininet.node import OVSBridge

    net = Mininet(link=TCLink, switch=OVSBridge, controller=None)
    h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
    net.addLink(h1, s1, delay="10ms")
    net.addLink(s1, h2, bw=10, delay="20ms", loss=1)
    net.start()
    {change}
    net.stop()
"""
OF_OVS = "s1.cmd('ovs-vsctl set port s1-eth2 qos=@q -- --id=@q create qos type=linux-htb other-config:max-rate=5000000')"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (OF_OVS,
         "s1-eth2 has lost its delay of 20 ms and loss to Open vSwitch's qos (htb 1:), link s1-h2, {program}:9: add netem"),
        ("h1.cmd('tc qdisc del dev h1-eth0 root')",
         "h1-eth0 has lost its delay of 10 ms to a tc command of the program (no queueing discipline is left), link h1-s1,"
         " {program}:8: add netem below it with tc, or state the rate of the link itself (bw=)"),
        ("import os; os.system('tc qdisc replace dev s1-eth2 root handle 1: tbf rate 1mbit burst 10k latency 1s')",
         "s1-eth2 has lost its delay of 20 ms and loss to a tc command of the program (tbf 1:), link s1-h2, {program}:9: add"),
        ("h2.cmd('tc qdisc replace dev h2-eth0 root netem delay 5ms')",
         "h2-eth0 has lost its loss and rate of 10 Mbit/s to a tc command of the program (netem "),
        ("h1.cmd('tc qdisc change dev h1-eth0 root handle 10: netem delay 50ms'); net.links[1].intf1.config(delay='1ms')", ""),
    ],
)  # fmt: skip
def test_what_queues_take_from_a_link_is_one_line(tmp_path, change, line):
    done = standin(code=QUEUES.format(change=change), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = [each for each in done.stderr.splitlines() if each.startswith("slownet: ")]
    assert len(said) == bool(line), said
    assert not line or said[0].startswith("slownet: " + line.format(program=tmp_path / "program.py")), said


FULL = """
    import time
    from pathlib import Path
    from mininet.net import Mininet

    net = Mininet(controller=None)
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2)
    net.start()
    h1.cmd("(sleep 0.1; seq 20000; touch done) &")  # its first lines come after the shell's prompt, and not in this answer
    h2.cmd("seq 20000 > kept.txt &")
    {waits}
    {stops}
"""


@pytest.mark.parametrize("stops", ["net.stop()", ""])
def test_a_program_whose_terminal_is_full_is_named_at_the_end(tmp_path, stops):
    done = standin(code=FULL.format(waits="time.sleep(3)", stops=stops), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    line = "slownet: seq on h1 stands still, because no program reads its terminal: redirect it, as in h1.cmd('seq "
    assert [each for each in done.stderr.splitlines() if each.startswith(line)] == done.stderr.splitlines() != []


def test_a_program_that_waits_for_one_whose_terminal_is_full_is_told_while_it_waits(tmp_path):
    wait = "\n    ".join(
        ["began = time.time()", "while time.time() < began + 200:", "    time.sleep(1)", "print('waited', flush=True)"]
    )
    done = standin(code=FULL.format(waits=wait, stops="net.stop()"), folder=tmp_path)
    assert done.stdout == "waited\n"
    assert [each.partition(" stands still")[0] for each in done.stderr.splitlines()] == ["slownet: seq on h1"] * 2


def test_a_program_whose_output_is_read_is_not_named(tmp_path):
    done = standin(code=FULL.format(waits="print(len(h1.cmd('wait')))", stops="net.stop()"), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 100_000  # more than a terminal holds, 64 kB at most
