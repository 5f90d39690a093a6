"""A sweep with labs that panic or hang, and on a disk that fills up: no sample is lost, and none counts twice."""

import json
import os
import signal
import subprocess
import threading
import time
from types import SimpleNamespace

import pytest
from command_line import SLOWNET, slownet
from conftest import alive
from test_sweep import means
from test_sweep_faults import command, of_threads

from slownet.lab.run import boot
from slownet.runner.boot_store import task
from slownet.runner.engine import Engine
from slownet.runner.where import Where
from slownet.runner.workers import Threads

FILE = '''
import ctypes
import time

from slownet import TwoHosts, experiment, ping

trace = ctypes.CDLL(None).ptrace
trace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


@experiment(topology=TwoHosts, vary={"rtt": ["0ms", "80ms"]}, tdf="inf")
def echo(net, rtt):
    """How long does an echo take?"""
    if rtt == "66ms":  # the lab's first process goes on at address 0: attach, poke, detach (ptrace(2))
        for request, at, value in ((16, 0, 0), (6, 128, 0), (17, 0, 0)):
            trace(request, 1, at, value)
            time.sleep(0.1)
    with net.link("client", "server").set(rtt=rtt):
        return ping(net["client"], net["server"].IP(), count=3)
'''


@pytest.fixture
def folder(built, tmp_path):
    (tmp_path / "echo.py").write_text(FILE)
    return tmp_path


def test_a_cell_whose_lab_panics_is_set_aside_and_the_others_are_measured(folder):
    done = slownet("sweep", "echo.py", "--vary", "rtt=10,66ms", "--fresh", "--out", "out", "--json", cwd=folder)
    assert done.returncode == 1, done.stderr
    printed = json.loads(done.stdout)
    (aside,) = printed["aside"]
    assert aside["cell"] == {"rtt": "66ms"}
    assert aside["why"].startswith("the lab's kernel panicked: Attempted to kill init!")
    assert printed["new"] == len(means(folder / "out")) == 1
    assert "kernel panicked" in (folder / "out" / "report.html").read_text()


def test_a_full_disk_ends_the_sweep_with_one_line_and_no_cell_is_blamed(folder):
    """A file system of its own in a mount namespace; when there is space again, the sweep goes on."""
    disk = folder / "disk"
    disk.mkdir()
    run = f"{' '.join(SLOWNET)} sweep echo.py --vary rtt=0:40:10ms --out disk/out"
    script = f"""
        mount -t tmpfs -o size=24k none disk || exit 77
        {run}; echo "status $?"; ls disk/out/aside.jsonl
        mount -o remount,size=4m disk
        {run} --resume --json > result.json; echo "status $?"
        cp -r disk/out out
    """
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run(
        [*namespace, "sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode == 77:
        pytest.skip("no mount namespaces here")
    first, _, second = done.stdout.partition("status 2\n")
    assert second == "status 0\n", (done.stdout, done.stderr)
    assert first == ""
    assert "free space, then --resume" in " ".join(done.stderr.split())
    assert "set aside" not in done.stderr
    printed = json.loads((folder / "result.json").read_text())
    assert (len(printed["cells"]), printed["aside"]) == (5, [])
    assert len(means(folder / "out")) == 5


MADE = []


class Limit:
    """A timer that fires when the test says so: no time is long enough for each machine, and short enough to wait for."""

    daemon = False

    def __init__(self, seconds, call, words):
        self._call, self._words, self._fired = call, words, False
        MADE.append(self)

    def start(self):
        pass

    def cancel(self):
        pass

    def is_alive(self):
        return not self._fired

    def fire(self):
        self._fired = True
        self._call(*self._words)


def state(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def until(condition):
    for _ in range(1200):
        if found := condition():
            return found
        time.sleep(0.05)
    return pytest.fail("nothing came of it within a minute")


def test_a_lab_that_hangs_is_ended_and_its_cell_tried_elsewhere(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(task, "threading", SimpleNamespace(Timer=Limit))
    monkeypatch.setattr("slownet.lab.run.lab.GRACE_S", 1)
    monkeypatch.setattr(boot, "GRACE_S", 1)
    MADE.clear()
    found, aside = [], []
    one = task.Task(str(folder / "echo.py"), ({"rtt": "10ms"},), ("a",), 1, 1, Where(folder=str(folder)))
    tasks = iter([one])
    policy = SimpleNamespace(next=lambda: next(tasks, None), done=found.extend, failed=lambda task, error: aside.append(error))
    sweep = threading.Thread(target=Engine(Threads(1), task.measure, policy, 600.0).run)
    sweep.start()
    (lab,) = until(lambda: [pid for pid in of_threads(os.getpid()) if "mem-fd=" in command(pid)])
    os.kill(lab, signal.SIGSTOP)
    until(lambda: state(lab) == "T")
    MADE[0].fire()
    sweep.join(120)
    assert not sweep.is_alive()
    assert not alive(lab)
    ((_, result),) = found
    assert (len(result.samples), aside, len(MADE)) == (1, [], 2)
