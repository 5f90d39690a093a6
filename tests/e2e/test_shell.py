"""`slownet shell` on a terminal and with a pipe."""

import re
import signal
import subprocess
import time

import pytest
from command_line import SLOWNET, ran
from conftest import PATIENCE_S
from terminal import Terminal

OWN = """
from mininet.topo import Topo

class Lan(Topo):
    def build(self, n=2):
        switch = self.addSwitch("s1", failMode="standalone")
        for number in range(1, n + 1):
            self.addLink(self.addHost(f"h{number}"), switch)

topos = {"lan": Lan}
"""


def shell(*words, told="", cwd, input_file=None):
    argv = [*SLOWNET, "shell", *words]
    if input_file:
        return subprocess.run(argv, cwd=cwd, stdin=input_file, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return ran(argv, cwd=cwd, input=told, text=True, timeout=PATIENCE_S)


def test_pingall_from_a_pipe(built, tmp_path):
    done = shell("two_hosts", told="pingall\n", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0% dropped (2/2 received)" in done.stdout
    assert done.stderr == ""
    assert "mininet>" not in done.stdout


def test_an_interrupt_is_no_traceback(built, tmp_path):
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*SLOWNET, "shell", "two_hosts"], cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        process.stdin.write("client echo begun\n")
        process.stdin.flush()
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 130
        assert process.stderr.read() == ""


def test_conditions_and_counters(built, tmp_path):
    told = """
        show
        set client server rtt=40ms 'loss=0%'    # a comment
        client ping -c 3 -i 0.05 server
        show client server
        set client server none
        py network.link('client', 'server').condition.rtt
        nodes
    """
    done = shell("two_hosts", "--link", "client-server=rtt=10ms", "--tdf", "inf", told=told, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"client-server +\+10 ms RTT +up +\d+ +\d+ +0 +0", done.stdout)
    assert "client-server: +40 ms RTT; a ping takes 40.0" in done.stdout
    assert " 0% packet loss" in done.stdout
    shown = re.findall(r"client-server +\+(\d+) ms RTT +up +(\d+)", done.stdout)
    assert [each[0] for each in shown] == ["10", "40"]
    assert int(shown[1][1]) - int(shown[0][1]) >= 3 + 5  # the three pings and those of the verification
    assert "client-server: no condition" in done.stdout
    assert "available nodes are: \nclient server\n" in done.stdout


def test_mistakes_are_one_line_each_and_the_others_go_on(built, tmp_path):
    told = (
        "pnigall\nset client server rtt=10\nset client sever rtt=1ms\nset client server LET\nset client\nshow client\n"
        "set client server 'rtt\nx\nlink client\nclient echo on\n"
    )
    done = shell("two_hosts", "--tdf", "inf", told=told, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.replace("\r", "") == "on\n"
    lines = done.stderr.splitlines()
    assert len(lines) == 9, lines
    assert lines[0] == "slownet: no command or node 'pnigall': did you mean 'pingall'?"
    assert "10ms" in lines[1]
    assert lines[2] == "slownet: no host 'sever' in TwoHosts: did you mean 'server'?"
    assert lines[3] == "slownet: no condition 'LET': did you mean 'LTE'?"
    assert lines[8] == "slownet: invalid number of args: link end1 end2 [up down]"
    assert all(line.startswith("slownet: ") for line in lines)


def test_a_topology_of_ones_own_from_a_file_of_commands(built, tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "commands").write_text("h1 ping -c 1 h3\nset h1 s1 LTE\nquit\npingall\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with (tmp_path / "commands").open() as commands:
        done = shell("../mine.py:lan,3", "--tdf", "inf", cwd=elsewhere, input_file=commands)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 received" in done.stdout
    assert "h1-s1: +70 ms RTT, 12 Mbit; a ping takes" in done.stdout
    assert "dropped" not in done.stdout


READS = """
from argparse import ArgumentParser
from mininet.topo import Topo

parser = ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
given = parser.parse_args()

class Pair(Topo):
    def build(self):
        self.addLink(self.addHost("a"), self.addHost("b"), bw=given.rate)
"""


def test_a_file_gets_its_own_arguments(built, tmp_path):
    (tmp_path / "pair.py").write_text(READS)
    done = shell("pair.py", "--tdf", "inf", "--", "--rate", "7", told="show\n", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "7 Mbit" in done.stdout
    for words, why in ([], "the following arguments are required: --rate"), (["--rate", "x"], "invalid float value: 'x'"):
        done = shell("pair.py", "--tdf", "inf", *(["--", *words] if words else []), cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("slownet: the file reads its own arguments: ")
        assert f"{why}, pair.py:7: give them after --, as in: slownet shell FILE -- --bw 10" in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["two_hosts", "--", "x"], "two_hosts is not a file, and takes no arguments"),
        (["two_hosst"], "no topology 'two_hosst': did you mean 'two_hosts'?"),
        (["nothing.py"], "no file nothing.py"),
        (["two_hosts", "--link", "client-sever=LTE"], "no link 'client-sever', --link: did you mean 'client-server'?"),
        (["two_hosts", "--link", "client-server=rtt=10"], "10ms"),
        (["two_hosts", "--clock", "rael"], "real"),
        (["star,0"], "a star has 1 to 1021 clients"),
    ],
)
def test_a_mistake_is_one_line_before_anything_boots(tmp_path, words, line):
    began = time.monotonic()
    done = shell(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert time.monotonic() - began < PATIENCE_S


def test_on_a_terminal(built, tmp_path):
    terminal = Terminal([*SLOWNET, "shell", "two_hosts"], cwd=tmp_path)
    terminal.until(b"mininet> ")
    terminal.write(b"set client server rtt=10ms\n")
    terminal.until(b"client-server: +10 ms RTT; a ping takes 1")
    terminal.until(b"mininet> ")
    terminal.write(b"client sleep 1000\n")
    terminal.until(b"\n")
    terminal.write(b"\x03")  # ends the command on the host, not the shell
    terminal.until(b"mininet> ")
    terminal.write(b"client echo $((6 * 7))\n")
    terminal.until(b"\n42\r")
    terminal.until(b"mininet> ")  # earlier input goes to the command on the host
    terminal.write(b"exit\n")
    status, _ = terminal.end()
    assert status == 0
