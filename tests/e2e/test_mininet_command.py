"""`slownet shell mininet` and `slownet shell` run Mininet programs as they are: results, folders, names, tools, arguments."""

import os
import re
import textwrap

import pytest
from command_line import SLOWNET, ran
from conftest import PATIENCE_S

PAIR = """
from mininet.net import Mininet
net = Mininet(controller=None)
a, b = net.addHost("a"), net.addHost("b")
net.addLink(a, b)
net.start()
"""


def run(*words, code=None, cwd, told="", name="program.py", start=PAIR):
    if code is not None:
        (cwd / name).write_text(start + textwrap.dedent(code) + "net.stop()\n" * bool(start))
        words = (*words, name)
    return ran([*SLOWNET, *words], cwd=cwd, input=told, text=True, timeout=PATIENCE_S)


def test_results_are_where_the_program_wrote_them(built, tmp_path):
    (tmp_path / "ping.txt").write_text("last week's\n")
    (tmp_path / "plan").mkdir()
    code = """
        a.cmd("ping -c 2 10.0.0.2 > ping.txt")
        open("plan/rtt.csv", "w").write("rtt\\n1\\n")
        a.popen(["sh", "-c", "echo of-a-program > from_popen"]).wait()
        print(open("ping.txt").read().count("bytes from"))
        a.cmd("echo x > /tmp/elsewhere.log; ln -s ping.txt latest; mkdir -p made/deep; echo y > made/deep/z; echo > .hidden")
    """
    done = run("shell", "mininet", "--tdf", "inf", code=code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2\n"
    assert (tmp_path / "ping.txt").read_text().count("bytes from") == 2
    assert (tmp_path / "plan/rtt.csv").read_text() == "rtt\n1\n"
    assert (tmp_path / "made/deep/z").read_text() == "y\n"
    first, *others = done.stderr.splitlines()
    assert first == "written: from_popen, made/deep/z, ping.txt, plan/rtt.csv"
    assert others[0] == "slownet: left in the lab: latest (a symbolic link)"
    assert "not kept: /tmp/elsewhere.log" in others[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["from_popen", "made", "ping.txt", "plan", "program.py"]


def test_results_in_a_folder_that_a_lab_has_of_its_own_are_named(built, tmp_path):
    (tmp_path / "program.py").write_text(
        'import os\nopen("a.txt", "w").write("1")\nos.makedirs("b/c")\nopen("b/c/d", "w").write("2")\n'
    )
    done = run("shell", "mininet", "--tdf", "inf", str(tmp_path / "program.py"), cwd="/var/tmp")
    told = "slownet: written in the lab's own folders and not kept: /a.txt, /b/c/d: run it in a folder of yours: "
    assert (done.returncode, done.stderr) == (0, f"{told}a lab has its own of this one\n")


def test_a_file_that_is_not_kept_is_named_once(built, tmp_path):
    done = run("shell", "mininet", "--tdf", "inf", code='open("../beside.txt", "w").write("1")\n', cwd=tmp_path)
    assert done.stderr.count("beside.txt") == 1, done.stderr


def test_what_a_program_wrote_before_it_failed_is_here_and_what_cannot_be_here_fails(built, tmp_path):
    done = run(
        "shell", "mininet", "--tdf", "inf", code='open("early.txt", "w").write("1"); raise SystemExit(7)\n', cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (7, "written: early.txt\n")
    done = run("shell", "mininet", "--tdf", "inf", code='open("bell\\7.txt", "w").write("1")\n', cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "slownet: left in the lab: bell\\x07.txt is not a name for a file\n")


def test_what_this_machine_would_run_stays_in_the_lab_and_the_programs_status_is_kept(built, tmp_path):
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "script").chmod(0o755)
    code = """
        open("script", "a").write("rm -rf /")
        open("helper.py", "w").write("print('helped')")
        a.cmd("python3 helper.py > helped.txt")
        raise SystemExit(status)
    """
    for status in (0, 3):
        done = run("shell", "mininet", "--tdf", "inf", code=code.replace("status", str(status)), cwd=tmp_path)
        left = "left in the lab: helper.py is what other programs here would run; script is a program here"
        assert (done.returncode, done.stderr) == (status, f"written: helped.txt\nslownet: {left}\n")
        assert (tmp_path / "helped.txt").read_text() == "helped\n"
    assert (tmp_path / "script").read_text() == "#!/bin/sh\n"


def test_the_prompt_writes_here_too(built, tmp_path):
    done = run("shell", "two_hosts", "--tdf", "inf", told="client ping -c 1 server > one.txt\n", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "written: one.txt\n")
    assert "1 received" in (tmp_path / "one.txt").read_text()


def test_a_program_of_another_folder_with_its_modules_and_its_data(built, tmp_path):
    there, here, data = (tmp_path / name for name in ("there", "here", "data"))
    for each in (there, here, data):
        each.mkdir()
    (there / "helping.py").write_text("ANSWER = 42\n")
    (data / "input.txt").write_text("words\n")
    (there / "mine.py").write_text(
        "import os, sys, helping\nprint(helping.ANSWER, open(sys.argv[1]).read(), end='')\nopen('here.txt', 'w').write('1')\n"
        "open(os.path.join(os.path.dirname(os.path.realpath(__file__)), 'there.txt'), 'w').write('1')\n"
    )
    (here / "linked.py").symlink_to(there / "mine.py")
    for program in (there / "mine.py", "../there/mine.py", "linked.py"):
        done = run("shell", "mininet", "--tdf", "inf", str(program), "../data/input.txt", cwd=here)
        assert (done.returncode, done.stdout) == (0, "42 words\n"), done.stderr
        assert (here / "here.txt").read_text() == "1"
        (here / "here.txt").unlink()
    assert (there / "there.txt").read_text() == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root's home")
def test_a_program_in_roots_home(built, tmp_path):
    (tmp_path / "x").write_text("")
    from pathlib import Path

    program = Path("/root/slownet-test-of-home.py")
    program.write_text("open('slownet-test-of-home.txt', 'w').write(__file__)\n")
    result = program.with_suffix(".txt")
    try:
        done = run("shell", "mininet", "--tdf", "inf", program.name, cwd=program.parent)
        assert (done.returncode, done.stderr) == (0, f"written: {result.name}\n")
        assert result.read_text() == program.name
    finally:
        program.unlink()
        result.unlink(missing_ok=True)


TOOLS = """
import re, time
print("address", re.search(r"inet (10[\\d.]+)/", a.cmd("ip addr show a-eth0"))[1])
print("by-sudo", re.search(r"inet (10[\\d.]+)/", a.cmd("sudo ip addr show a-eth0"))[1])
a.cmd("sudo tc qdisc add dev a-eth0 root netem delay 30ms")
print("rtt", re.search(r"= ([\\d.]+)", a.cmd("ping -q -c 3 -i 0.2 10.0.0.2"))[1])
for each in ("brctl", "vconfig", "traceroute", "nc", "iptables", "ovs-testcontroller", "killall", "sudo"):
    print(each, a.cmd("command -v " + each).strip() != "")
began = time.time()
a.cmd("python3 -m http.server 80 &")
time.sleep(0.5)
print("page", b.cmd("curl -s -o /dev/null -m 5 -w %{http_code} http://10.0.0.1/"), time.time() - began < 5)
print("unknown", b.cmd("getent hosts no-such-host; echo $?").strip(), time.time() - began < 5)
print("own", a.cmd("getent hosts $(hostname) | wc -l").split()[-1])
a.cmd("tshark -i a-eth0")
"""


def test_tools_names_and_colours(built, tmp_path):
    done = run("shell", "mininet", "--tdf", "inf", code=TOOLS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    assert (found.pop("address"), found.pop("by-sudo")) == ("10.0.0.1", "10.0.0.1")
    assert float(found.pop("rtt")) >= 30
    assert (found.pop("page"), found.pop("unknown"), found.pop("own")) == ("200 True", "2 True", "1")
    assert set(found.values()) == {"True"}, found
    assert re.fullmatch(r'slownet: hosts ran .* the lab: tshark: .*packages = \["tshark"\].* slownet lab build\n', done.stderr)


NAT = """
from mininet.net import Mininet
from mininet.nodelib import NAT
net = Mininet(controller=None)
inner = net.addHost("inner", ip="192.168.7.2/24", defaultRoute="via 192.168.7.1")
outer = net.addHost("outer", ip="10.0.0.9/8")
nat = net.addHost("gate", cls=NAT, subnet="192.168.7.0/24", inetIntf="gate-eth0", localIntf="gate-eth1", ip="10.0.0.2/8")
net.addLink(nat, outer, intfName1="gate-eth0")
net.addLink(nat, inner, intfName1="gate-eth1", params1={"ip": "192.168.7.1/24"})
net.start()
print(inner.cmd("ping -c 2 -W 1 10.0.0.9 | grep -o ' [0-9]*%'"), outer.cmd("ping -c 1 -W 1 192.168.7.2"))
print(nat.cmd("iptables -t nat -S POSTROUTING"))
net.stop()
"""


def test_mininets_nat_lets_out_and_not_in(built, tmp_path):
    done = run("shell", "mininet", "--tdf", "inf", code=NAT, cwd=tmp_path, start="")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == "0%"
    assert "unreachable" in done.stdout
    assert "-j MASQUERADE" in done.stdout


FLOWS = """
import time
from mininet.net import Mininet
from mininet.node import OVSController
from mininet.topo import LinearTopo
for controller in ({}, {"controller": OVSController}):
    net = Mininet(topo=LinearTopo(2), **controller)
    net.start()
    for change in ("", "del-flows"):
        for switch in net.switches if change else ():
            switch.dpctl(change)
        if change:
            net.pingAll(timeout="1")  # a packet that comes while the flows go may be lost; what counts is that it learns
        print("dropped", net.pingAll(timeout="1"))
    net["s1"].dpctl("add-flow", "priority=9,actions=drop")
    time.sleep(1)  # until the kernel's flows follow
    print("cut", net.pingAll(timeout="1"))
    net.stop()
"""


def test_a_learning_switch_learns_again_once_its_flows_are_deleted(built, tmp_path):
    done = run("shell", "mininet", "--tdf", "inf", code=FLOWS, cwd=tmp_path, start="")
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith(("dropped", "cut"))]
    assert said == ["dropped 0.0", "dropped 0.0", "cut 100.0"] * 2


def test_commands_from_a_pipe_go_on_with_free_cpu(built, tmp_path):
    code = "from mininet.cli import CLI\nCLI(net)\n"
    done = run("shell", "mininet", "--tdf", "inf", code=code, cwd=tmp_path, told="a sleep 2\na echo $((1 + 1)) done\n")
    assert (done.returncode, done.stderr.split()) == (0, ["2", "done"])


MISSING = """
import os, subprocess
open("s.sh", "w").write("#!/bin/sh\\nno-such-script\\n")
os.chmod("s.sh", 0o755)
for line in (
    "/usr/lib/quagga/zebra -d >/dev/null 2>&1", "sudo no-such-sudo", "sudo wg show", "nohup no-such-nohup",
    "sudo -u nobody sh -c no-such-user",
    "sudo env -i no-such-env", "timeout 5 no-such-timeout", "sh -c 'no-such-sh; true'", "./s.sh", "no-such-background &",
    "strace no-such-strace", "python3 -c 'import os; os.system(\\"no-such-system\\")'",
    "if ! command -v no-such-question; then true; fi",
):
    a.cmd(line)
a.popen(["/opt/no-such-popen", "x"]).wait()
os.system("no-such-own 2>/dev/null")
try:
    subprocess.run(["no-such-subprocess"])
except FileNotFoundError:
    pass
"""


def test_programs_that_are_not_there_are_named_whoever_starts_them(built, tmp_path):
    done = run("shell", "mininet", "--tdf", "inf", code=MISSING, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = next(each for each in done.stderr.splitlines() if each.startswith("slownet: hosts ran what is not in the lab: "))
    named = set(line.partition(" in the lab: ")[2].partition(": write packages")[0].split(", "))
    starts = ["sudo", "nohup", "user", "env", "timeout", "sh", "script", "background", "strace", "system", "own", "subprocess"]
    assert named == {
        *(f"no-such-{each}" for each in starts),
        "/opt/no-such-popen",
        "/usr/lib/quagga/zebra (frr)",
        "wg (wireguard-tools)",
    }
    assert 'packages = ["frr", "wireguard-tools"]' in line


def test_what_the_kernel_lacks_is_named_at_the_end(built, tmp_path):
    code = """
        for command in (
            "ip link add red type vrf table 10", "tc qdisc add dev lo root cbq",
            "modprobe no_such_module", "modprobe tcp_bbr", "ip link add t type dummy", "ifconfig eth7",
        ):
            a.cmd(command)
    """
    done = run("shell", "mininet", "--kernel", "base", "--tdf", "inf", code=code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == (
        "slownet: the lab's kernel lacks vrf: the wide one has it (slownet lab build --kernel wide, then --kernel wide); "
        "no kernel of the lab has no_such_module; Linux itself has no more cbq (gone since 6.3)"
    )
