"""What Mininet's examples must print, and which of them are out of reach, with the reason."""

from dataclasses import dataclass

FREE, REAL = ("--tdf", "inf"), ("--clock", "real")
ALL = r"Results: 0% dropped"
ONE = r"1 packets transmitted, 1 received, 0% packet loss"


@dataclass(frozen=True)
class Example:
    """How to run one: its arguments, the lines for its prompt, options of slownet, and what runs in its place and starts it.

    wanted: patterns, each of which must be found after the one before; never: one that must not be found.
    """

    wanted: tuple[str, ...]
    told: str = ""
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = FREE
    program: str = ""
    never: str = r"Traceback|slownet: (?!written in the lab)"


OF_CONTROLLERS = "pingall\nsh ovs-vsctl get-controller s1\nsh ovs-vsctl get-controller s2\n"
KEY = """
import runpy, subprocess, sys
subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/tmp/key"], check=True)
sys.argv = [{name!r}, *{words!r}, "-o", "AuthorizedKeysFile=/tmp/key.pub", "-o", "StrictModes=no"]
kept = runpy.run_path({name!r}, run_name="__main__")
"""
SSH = "ssh -q -o StrictHostKeyChecking=no -i /tmp/key"
LOGIN = f"""
print(subprocess.run("{SSH} 10.0.0.1 ip -4 -o addr", shell=True, capture_output=True, text=True).stdout)
"""
OUTSIDE = """
import runpy, sys
from mininet.link import Link
from mininet.node import Node
outside, end = Node("t0"), Node("t1", inNamespace=False)
link = Link(outside, end)
outside.setIP("10.0.0.3/8")
sys.argv = ["hwintf.py", "t1-eth0"]
runpy.run_path("hwintf.py", run_name="__main__")
"""

EXAMPLES = {
    "baresshd": Example(
        (r"You may now ssh into h1 at 10\.0\.0\.1", r"h1-eth0 +inet 10\.0\.0\.1/8"),
        program=KEY.format(name="baresshd.py", words=[]) + LOGIN,
    ),
    "bind": Example(
        (r"Private Directories: \['/var/log', '/var/run', '/var/mn'\]", "a.txt", "cat: /var/log/a.txt: No such file", "Done"),
        told="h1 touch /var/log/a.txt; ls /var/log\nh2 cat /var/log/a.txt\n",
    ),
    "clustercli": Example(()),  # a module of others
    "controllers": Example(
        (ALL, "127.0.0.1:6633", "127.0.0.1:6634", "127.0.0.1:6633"), told=f"{OF_CONTROLLERS}sh ovs-vsctl get-controller s3\n"
    ),
    "controllers2": Example((ALL, ALL), told=OF_CONTROLLERS),
    "controlnet": Example(
        ("UserSwitch needs ofdatapath", ALL, ALL), told="pingall\nc0 ip link set c0-eth0 down\nsh sleep 12\npingall\n"
    ),
    "emptynet": Example((ALL, r"Results: \['[\d.]+ .bits/sec', '[\d.]+ .bits/sec'\]"), told="pingall\niperf\n", options=REAL),
    "hwintf": Example((ALL, ONE), told="pingall\nh1 ping -c 1 10.0.0.3\n", program=OUTSIDE),
    "intfoptions": Example((ALL, r"\['9\.\d+ Mbits", r"\['10M', '[3-7]\.\d+ Mbits", r"h1->h2: 1/1, rtt min/avg/max/mdev 15\.")),
    "limit": Example(("RT Scheduler is not enabled", r"\['[\d.]+ .bits", r"Results: \[(\d+\.\d+,? ?){10}\]"), options=REAL),
    "linearbandwidth": Example((r"1 \t\t\d\d\.\d Mbits", r"2 \t\t\d\d", r"3 \t\t\d\d", r"4 \t\t\d\d")),
    "linuxrouter": Example((r"192\.168\.1\.0 .*r0-eth1", "ttl=63", ALL), told="h1 ping -c 1 h2\npingall\n"),
    "mobility": Example((ALL, r"Moving h1 from s1 to s2", ALL, "to s3", ALL, "to s1", ALL), never=r"Results: [1-9]|Traceback"),
    "multilink": Example((ALL, "h1: h1-eth0,h1-eth1", "h1-eth1: flags"), told="pingall\nintfs\nh1 ifconfig\n"),
    "multiping": Example(
        (r"h1: 10\.0\.0\.1 -> 10\.0\.0\.2 1 packets transmitted, 1 received", r"-> 10\.0\.0\.200 1 packets transmitted, 0 rec"),
    ),
    "multipoll": Example(("Monitoring output for 3 seconds", r"h3: 64 bytes from 10\.0\.0\.1: icmp_seq=3")),
    "multitest": Example((ALL, "h1-eth0", "h2-eth0", "h3-eth0", "h4-eth0", "Starting CLI")),
    "nat": Example((ALL, "8.8.8.8", "Unreachable"), told="pingall\nh1 ping -c 1 8.8.8.8\n"),
    "natnet": Example(
        (ONE, ONE, "unreachable", "[Uu]nreachable"),
        told="h1 ping -c 1 h0\nh2 ping -c 1 h0\nh0 ping -c 1 -t 1 h1\nh1 ping -c 1 -t 1 h2\n",
    ),
    "numberedports": Example(("s1-eth9 is actually on port 9 ... Validated", ALL), never="WARNING|Traceback"),
    "popen": Example(("<h5>: 5 packets transmitted, 5 received",)),
    "popenpoll": Example(("<h3>: 10 packets transmitted, 10 received",)),
    "scratchnet": Example((ONE,), options=REAL),  # it pings at once, when its switch may not know yet what to do
    "simpleperf": Example((r"\['10M', '(9|10)\.\d+ Mbits/sec'",), words=("testmode",)),
    "sshd": Example(
        (r"h4 10\.0\.0\.4", r"h3-eth0 +inet 10\.0\.0\.3/8"),
        told=f"sh {SSH} 10.0.0.3 ip -4 -o addr\n",
        program=KEY.format(name="sshd.py", words=["-D"]),
    ),
    "tree1024": Example(
        ("5 packets transmitted, 5 received",), told="h1 ping -c 5 h1024\n", options=(*FREE, "--memory", "4096")
    ),
    "treeping64": Example(("reference user: 0% packet loss", "Open vSwitch kernel: 0% packet loss")),
    "vlanhost": Example(("h1 -> X X h2 X X", r"80% dropped \(6/30 received\)"), told="pingall 1\n"),
}

WINDOWS = "it has no screen for windows"
OTHER_MACHINES = "cluster edition places nodes on other machines by ssh"
OUT_OF_REACH = {
    "cluster": (2, OTHER_MACHINES),
    "clusterSanity": (2, OTHER_MACHINES),
    "clusterdemo": (2, OTHER_MACHINES),
    "clusterperf": (2, OTHER_MACHINES),
    "consoles": (2, WINDOWS),
    "miniedit": (2, WINDOWS),
    "scratchnetuser": (0, "no Debian package has ofdatapath"),
}
"""The exit status, and what is printed."""
STUCK = {"cpu"}
"""It waits for a line that iperf has not printed since 2.1 for a connection without data: under Mininet on Debian 13, too."""
