"""crun's command lines, signals, and what a process heeds."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.containers import runtime
from slownet.model.errors import ImageError, ServiceError

SLEEPER = """
import signal, sys, time
if "handles" in sys.argv: signal.signal(signal.SIGTERM, lambda *all: None)
if "waits" in sys.argv: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
if "ignores" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
time.sleep(100)
"""


def test_command_lines():
    own = ["/bin/crun", "--root", "/run/x/crun", "--cgroup-manager", "disabled", "--log", "/run/x/crun.log"]
    run = [*own, "run", "--bundle", "/run/x", "--pid-file", "/run/x/pid", "container"]
    assert runtime.run("/bin/crun", Path("/run/x")) == run
    execute = [*own, "exec", "--process", "/run/x/p", "container"]
    assert runtime.execute("/bin/crun", Path("/run/x"), Path("/run/x/p")) == execute


def test_no_crun(tmp_path):
    with pytest.raises(ServiceError, match="crun is not installed: apt-get install crun, or use a lab"):
        runtime.program(str(tmp_path))
    with pytest.raises(ServiceError, match="tini is not installed: apt-get install tini, or use a lab"):
        runtime.init(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "number"),
    [("SIGTERM", 15), ("quit", 3), ("15", 15), ("SIGRTMIN+3", signal.SIGRTMIN + 3), ("rtmin", signal.SIGRTMIN)],
)
def test_signals(name, number):
    assert runtime.number(name, "") == number


@pytest.mark.parametrize("name", ["", "SIGTREM", "0", "99", "15+1", "RTMIN+x", "-1"])
def test_no_signals(name):
    with pytest.raises(ImageError, match=r"unknown signal '.*', image one"):
        runtime.number(name, "image one")


@pytest.mark.parametrize(("how", "heeds"), [("handles", True), ("waits", True), ("ignores", False), ("nothing", False)])
def test_what_a_process_heeds(how, heeds):
    with subprocess.Popen([sys.executable, "-c", SLEEPER, how], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert runtime.heeds(process.pid, signal.SIGTERM) is heeds
        assert process.pid in runtime.processes(process.pid)
        process.kill()
    assert runtime.heeds(process.pid, signal.SIGTERM) is False


def test_its_first_process(tmp_path):
    assert runtime.first_process(tmp_path / "pid") is None
    (tmp_path / "pid").touch()
    assert runtime.first_process(tmp_path / "pid") is None
    (tmp_path / "pid").write_text("12")
    assert runtime.first_process(tmp_path / "pid") == 12


def test_what_crun_says(tmp_path):
    assert runtime.complaint(tmp_path) == ""
    (tmp_path / "crun.log").write_text("2026-11-22T16:00:00.123456Z: mount `x`: No such file or directory\n")
    assert runtime.complaint(tmp_path) == "mount `x`: No such file or directory"
