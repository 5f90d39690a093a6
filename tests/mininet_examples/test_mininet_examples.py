"""Mininet's examples and its walk-through run unchanged with `slownet shell mininet`, or say in one line why not."""

import itertools
import re
from pathlib import Path

import pytest
from examples_table import ALL, EXAMPLES, ONE, OUT_OF_REACH, REAL, STUCK

PAGE = Path(__file__).parents[2] / "docs/howto/mininet-programs.md"


def check(printed, wanted, never):
    position = 0
    for pattern in wanted:
        found = re.compile(pattern).search(printed, position)
        assert found, f"{pattern} is not in\n{printed[position:]}"
        position = found.end()
    unwanted = re.search(never, printed, re.MULTILINE)
    assert not unwanted, f"{unwanted[0]} is in\n{printed}"


def test_each_example_of_the_package_is_in_the_table(examples):
    there = {path.stem for path in examples.glob("*.py")} - {"__init__"}
    assert there == {*EXAMPLES, *OUT_OF_REACH, *STUCK}


def test_the_page_names_them():
    rows = PAGE.read_text().partition("| example | |")[2].splitlines()[2:]
    found = [set(row.split("|")[1].strip().split(", ")) for row in itertools.takewhile(lambda row: row.startswith("|"), rows)]
    assert found[0] == {*EXAMPLES}
    assert set().union(*found[1:]) == {*OUT_OF_REACH, *STUCK}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_unchanged(mininet, examples, name):
    example = EXAMPLES[name]
    program = f"{name}.py"
    if example.program:
        program = f"starts_{name}.py"
        (examples / program).write_text(example.program)
    status, printed = mininet(program, *example.words, told=f"{example.told}exit\n", options=example.options)
    check(printed, example.wanted, example.never)
    assert status == 0, printed


@pytest.mark.parametrize("name", OUT_OF_REACH)
def test_an_example_that_is_out_of_reach_says_why(mininet, name):
    status, printed = mininet(f"{name}.py", told="exit\n")
    lines = [line for line in printed.splitlines() if line.startswith("slownet: ")]
    assert (status, len(lines)) == (OUT_OF_REACH[name][0], 1), printed
    assert OUT_OF_REACH[name][1] in lines[0]
    assert "Traceback" not in printed


TOPOLOGY = """
from mininet.topo import Topo

class MyTopo(Topo):
    def build(self):
        left, right = self.addSwitch("s3"), self.addSwitch("s4")
        self.addLink(self.addHost("h1"), left)
        self.addLink(left, right)
        self.addLink(right, self.addHost("h2"))

topos = {"mytopo": MyTopo}
"""
PROMPT = """nodes
net
dump
h1 ifconfig -a
s1 ip link
h1 ps -a
h1 ping -c 1 h2
pingall
h1 python3 -m http.server 80 &
h2 wget -q -T 5 -O - h1
h1 kill %python3
py 'hello ' + 'world'
py h1.IP()
link s1 h1 down
h1 ping -c 1 -W 1 10.0.0.2
link s1 h1 up
h1 ping -c 1 h2
dpctl dump-flows
pingpair
iperfudp
sh echo outside
xterm h1
exit
"""
WALK_THROUGH = {
    "the prompt": (
        ("mn",), PROMPT,
        ("available nodes are", "h1 h1-eth0:s1-eth1", "Host h1: h1-eth0:10.0.0.1", "h1-eth0: flags", "s1-eth1", ONE, ALL,
         "Directory listing for /", "hello world", r"10\.0\.0\.1", "unreachable", ONE, "actions=NORMAL", ALL,
         r"\['10M', '10\.\d Mbits/sec'", "outside", "Cannot connect to display"),
    ),
    "pingpair": (("mn", "--test", "pingpair"), "", (ALL,)),
    "single,3": (("mn", "--test", "pingall", "--topo", "single,3"), "", (r"0% dropped \(6/6 received\)",)),
    "linear,4": (("mn", "--test", "pingall", "--topo", "linear,4"), "", (r"0% dropped \(12/12 received\)",)),
    "tree": (("mn", "--topo", "tree,depth=2,fanout=3", "--test", "pingall"), "", (r"0% dropped \(72/72 received\)",)),
    "a link of 10 Mbit/s and 10 ms": (
        ("mn", "--link", "tc,bw=10,delay=10ms"), "iperf\nh1 ping -c 3 h2\nexit\n",
        (r"\['9\.\d+ Mbits/sec', '\d+\.?\d* Mbits/sec'\]", r"min/avg/max/mdev = 40\.\d+/40"),
    ),
    "verbosity": (("mn", "-v", "output"), "exit\n", ()),
    "a topology of one's own": (("mn", "--custom", "mytopo.py", "--topo", "mytopo", "--test", "pingall"), "", (ALL,)),
    "simple addresses": (("mn", "--mac"), "h1 ip link show h1-eth0\nexit\n", ("00:00:00:00:00:01",)),
    "a switch in user space": (("mn", "--switch", "user", "--test", "pingall"), "", ("UserSwitch needs ofdatapath", ALL)),
    "a kernel's bridge": (("mn", "--switch", "lxbr", "--test", "pingall"), "", (ALL,)),
    "a controller": (("mn", "--controller", "ovsc", "--test", "pingall"), "", (ALL,)),
    "NAT": (("mn", "--nat", "--test", "pingall"), "", (ALL,)),
    "iperf": (("mn", "--test", "iperf"), "", (r"Results: \['[\d.]+ .bits/sec'",)),
    "nothing": (("mn", "--test", "none"), "", ("Done",)),
    "a clean-up": (("mn", "-c"), "", ("Cleanup complete",)),
    "a torus": (("mn", "--topo", "torus,3,3", "--switch", "lxbr,stp=1", "--test", "pingall"), "", (ALL,)),
    "a ring": (("--stp", "mn", "--topo", "torus,3,3", "--test", "pingall"), "", (ALL,)),
}  # fmt: skip


@pytest.mark.parametrize("name", WALK_THROUGH)
def test_the_walk_through(mininet, examples, name):
    (examples / "mytopo.py").write_text(TOPOLOGY)
    words, told, wanted = WALK_THROUGH[name]
    status, printed = mininet(*words, told=told, options=REAL if name == "iperf" else ("--tdf", "inf"))
    check(printed, wanted, r"Traceback|^slownet: ")
    assert status == 0, printed
