"""`slownet doctor clean` removes what a killed run made, and nothing of others."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

CGROUPS = Path("/sys/fs/cgroup")
LOOK_S, PATIENCE_S = 0.3, 60  # each look starts nine programs
CLEAN = [sys.executable, "-m", "slownet.cli", "doctor", "clean"]
RUN = '''
import time
from contextlib import ExitStack, contextmanager
from subprocess import DEVNULL
from mininet.node import CPULimitedHost
from slownet.hypotheses.experiment import experiment
from slownet.services.mariadb import MariaDB
from slownet.services.nginx import Nginx
from slownet.topologies import ClientWebDb


@contextmanager
def servers(net, folder):
    with ExitStack() as stack:
        stack.enter_context(MariaDB(net["db"], folder))
        stack.enter_context(Nginx(net["web"], folder, root="/usr/share"))
        yield net


class Limited(ClientWebDb):
    """A topology whose client has a share of the processor, by a cgroup."""

    def addHost(self, name, **params):
        limit = {"cls": CPULimitedHost, "cpu": 0.5} if name == "client" else {}
        return super().addHost(name, **limit, **params)


@experiment(topology=Limited, service=servers, vary={"rtt": ["0ms"]})
def mine(net, site, rtt):
    """Is anything left?"""
    net.link("client", "switch").set(rtt="3ms")
    net["client"].cmd("sleep 1000 &")
    net["client"].popen(["tcpdump", "-i", "client-eth0", "-w", "/dev/null"], stderr=DEVNULL)
    net["client"].popen(["setsid", "env", "-i", "sh", "-c", "sleep 1001; true"])
    net["switch"].cmd("nohup sleep 1002 > /dev/null & sleep 0.5")  # until nohup has started
    print("measuring", flush=True)
    time.sleep(1000)
'''
NETWORK = """
import sys
from slownet.net.network import Network
from slownet.topologies import ClientWebDb
with Network(ClientWebDb) as net:
    web = net["web"].popen(["python3", "-m", "http.server", "80"])
    shell = net["client"].cmd("sleep 2000 & echo $!")
    print("up", flush=True)
    for line in sys.stdin:
        print(net.mininet.pingAll(), web.poll(), flush=True)
    web.kill()
"""


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def processes():
    """Return the running processes without kernel threads and this process's own."""
    rows = [line.split(None, 3) for line in said("ps", "-eo", "pid=,ppid=,stat=,args=").splitlines()]
    asking = {str(os.getpid())}
    return {
        (pid, args) for pid, parent, stat, args in rows
        if stat[0] not in "ZI" and not args.startswith("[") and not (parent in asking and args.startswith("ps "))
    }  # fmt: skip


def bridges():
    found = json.loads(said("ovs-vsctl", "--format=json", "--columns=_uuid,name,ports,external_ids", "list", "bridge"))
    return sorted(map(str, found["data"]))


def state():
    """Return everything on this machine that a run may change."""
    shown = json.loads(said("ip", "-json", "link"))
    return {
        "links": {each["ifname"]: (each["ifindex"], each.get("ifalias")) for each in shown},
        "namespaces": said("ip", "netns"),
        "qdiscs": said("tc", "-json", "qdisc"),
        "bridges": bridges(),
        "processes": processes(),
        "files": sorted(str(path) for folder in ("/tmp", "/run") for path in Path(folder).glob("*")),
        "cgroups": sorted(map(str, CGROUPS.rglob("*/"))),
        "ours": sorted(map(str, Path("/run/slownet").glob("*"))),
    }


def settled(wanted):
    """Wait up to a minute for a state and return the last one: the kernel removes namespaces in the background."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := state()) != wanted and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    return found


@pytest.fixture
def foreign(net, tmp_path):  # net: so that Open vSwitch runs and our own directory exists
    """Objects of others on this machine, many with names like ours, and a running network of ours."""
    with ExitStack() as stack:

        def start(*words, **options):
            process = stack.enter_context(subprocess.Popen(words, stdout=subprocess.DEVNULL, **options))
            stack.callback(process.kill)
            return process

        said("ovs-vsctl", "add-br", "s1", "--", "add-br", "west", "--", "set", "bridge", "west", "external_ids:slownet=no")
        stack.callback(said, "ovs-vsctl", "del-br", "s1", "--", "del-br", "west")
        said("ip", "link", "add", "s1-eth1", "type", "veth", "peer", "h1-eth0")
        stack.callback(said, "ip", "link", "del", "s1-eth1")
        said("ip", "link", "set", "s1-eth1", "alias", "slownet of my own")
        said("tc", "qdisc", "add", "dev", "s1-eth1", "root", "handle", "51:", "netem", "delay", "5ms")
        said("ip", "netns", "add", "client")
        stack.callback(said, "ip", "netns", "del", "client")
        start("ip", "netns", "exec", "client", "sleep", "3000")
        for name in ("nginx", "mariadbd", "tcpdump", "mnexec", "slownet"):
            start(name, "3000", executable="/usr/bin/sleep")
        start("env", "-i", "/usr/bin/sleep", "3001")  # no environment, as if the program had overwritten it with its title
        for name in ("slownet-tc-abc", "mininet", "vconn-mn-1", "s1-ofd.log"):
            (Path("/tmp") / name).touch()
            stack.callback((Path("/tmp") / name).unlink)
        for name in ("slownet", "slownet.west.client", "slownet.1-2-3-4"):
            (CGROUPS / name).mkdir()
            stack.callback((CGROUPS / name).rmdir)
        (CGROUPS / "slownet.west.client" / "cgroup.procs").write_text(str(start("sleep", "3002").pid))
        running = subprocess.Popen([sys.executable, "-c", NETWORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.enter_context(running)
        stack.callback(running.stdin.close)
        assert running.stdout.readline() == "up\n"
        yield running


def killed(tmp_path, which):
    """Kill a run in place while it measures; return the processes of the command and of its inner part."""
    (tmp_path / "mine.py").write_text(RUN)
    words = [sys.executable, "-m", "slownet.cli", "run", "mine.py", "--place", "native"]
    command = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while "measuring" not in (line := command.stderr.readline()):
        assert line, "it ended"
    (inner,) = map(int, said("pgrep", "-P", str(command.pid), "-f", "slownet.runner.inside").split())
    for each in which:
        os.kill({"command": command.pid, "inner": inner}[each], signal.SIGKILL)
    command.wait()
    command.stderr.close()
    return inner


def test_a_killed_run_goes_and_all_else_stays(foreign, tmp_path):
    before = state()
    killed(tmp_path, ["inner", "command"])  # both, or the inner part would clean up
    deadline = time.monotonic() + PATIENCE_S
    wanted = {"mariadbd", "nginx: master", "nginx: worker", "tcpdump -i", "sleep 1002", "sleep 1001"}
    while True:  # a process that was just forked has its parent's name
        left = state()
        names = " | ".join(args for _, args in left["processes"] - before["processes"])
        if all(each in names for each in wanted) or time.monotonic() > deadline:
            break
        time.sleep(LOOK_S)
    assert [each for each in wanted if each not in names] == [], names
    assert {"switch~3", "switch~3-eth1"} <= set(left["links"]) - set(before["links"])
    assert [each.endswith(".client") for each in set(left["cgroups"]) - set(before["cgroups"])] == [True]
    nginx = next(pid for pid, args in left["processes"] if "nginx: master" in args)
    intruder = subprocess.Popen(["mnexec", "-a", nginx, "sleep", "77"])
    try:
        listed = subprocess.run([*CLEAN, "--dry-run"], capture_output=True, text=True, check=True).stdout
        assert state() | {"processes": 0} == left | {"processes": 0}
        done = subprocess.run(CLEAN, capture_output=True, text=True, check=True)
        assert done.stdout == listed.replace("would remove", "removing")
        assert len(done.stdout.splitlines()) == 13
        assert all(re.search(r", of process \d+ and run .*-mine$", line) for line in done.stdout.splitlines())
        assert intruder.poll() is None  # a process that entered the namespace by itself stays
    finally:
        intruder.kill()
        intruder.wait()
    assert settled(before) == before
    foreign.stdin.write("ping\n")
    foreign.stdin.flush()
    assert foreign.stdout.readline() == "0.0 None\n"
    assert subprocess.run(CLEAN, capture_output=True, text=True, check=True).stdout == "killed runs left nothing behind\n"


def test_a_run_whose_command_is_killed_cleans_up_itself(foreign, tmp_path):
    before = state()
    killed(tmp_path, ["command"])
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = state()
        others = {name: each for name, each in found.items() if name != "processes" and each != before[name]}
        if not others or time.monotonic() > deadline:
            break
        time.sleep(LOOK_S)
    assert others == {}
    left = {args for _, args in found["processes"] - before["processes"]}
    assert not [args for args in left if "nginx" in args or "mariadbd" in args]
    subprocess.run(CLEAN, capture_output=True, check=True)  # processes that the experiment itself left
    assert settled(before) == before


def test_a_cgroup_that_somebody_else_uses_stays(net):
    code = "from slownet.lab.host import owner; print(owner.this().mark)"
    dead = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE)
    group = CGROUPS / f"slownet.{dead.stdout.decode().strip()}.client"
    group.mkdir()
    with subprocess.Popen(["sleep", "3003"]) as guest:
        try:
            (group / "cgroup.procs").write_text(str(guest.pid))
            done = subprocess.run(CLEAN, capture_output=True, text=True, check=False)
            assert done.returncode == 2
            assert f"cannot delete the cgroup {group}: Device or resource busy" in done.stderr
            assert f"see process {guest.pid}, which is in it" in done.stderr
            assert guest.poll() is None
        finally:
            guest.kill()
    assert subprocess.run(CLEAN, capture_output=True, text=True, check=True).stdout.startswith(f"removing cgroup {group}, of")
    assert not group.exists()
