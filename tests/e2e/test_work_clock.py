"""The clock that charges work: the same work takes the same time under any other load.

A machine without a counter of instructions tests all but that: time_counter.py gives the lab counters of CPU time.
"""

import ctypes
import json
import os
import statistics
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import SLOWNET

sys.path.insert(0, str(Path(__file__).parents[1]))  # hogs.py and time_counter.py are also run as programs

import time_counter
from hogs import hogs

from slownet.lab.host import counter

ROUNDS = 5
SAME = 0.01  # target: means with and without other load within 1 %
# System calls, a loop, fresh memory and another process, as in a page.
WORK = f"""
import json, os, socket, time
def page():
    near, far = socket.socketpair()
    for _ in range(300):
        near.send(b"x" * 100)
        far.recv(100)
    sum(range(200_000))
    b"x" * 4_000_000
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
page()
found = []
for _ in range({ROUNDS}):
    start = time.monotonic()
    page()
    found.append(time.monotonic() - start)
print(json.dumps([found, open("/proc/skip_idle").read().split()]))
"""
# How late a program wakes next to one that computes without system calls, in s; the first naps detect the other program.
NAPS, FIRST_NAPS, NAP_S = 60, 40, 0.005
NAPPING = f"""
import json, subprocess, time
busy = subprocess.Popen(["bash", "-c", "while :; do :; done"])
due, late = time.monotonic(), []
for _ in range({FIRST_NAPS + NAPS}):
    due = max(due + {NAP_S}, time.monotonic())
    time.sleep(max(due - time.monotonic(), 0))
    late.append(time.monotonic() - due)
busy.kill()
print(json.dumps([late[{FIRST_NAPS}:], open("/proc/skip_idle").read().split()]))
"""
SLEEPING = """
import json, time
read = lambda: {name: int(ns) for name, ns in (line.split() for line in open("/proc/skip_idle")) if name != "work"}
before = read()
time.sleep(100)
after = read()
print(json.dumps([[after[name] - before[name] for name in ("charged", "skipped")], open("/proc/skip_idle").read().split()]))
"""
TICKING = """
import json, signal, time
found = []
signal.signal(signal.SIGALRM, lambda number, frame: found.append(time.monotonic()))
for _ in range(20):
    start = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    before = len(found)
    while len(found) == before:
        sum(range(100))
    found[-1] -= start
print(json.dumps([found, open("/proc/skip_idle").read().split()]))
"""
LATE_S = 0.001  # a fifth of the nap; measured: 61 us, 50 of it timer slack; with the host's alarm alone 8 ms or more
# Without these capabilities only the counters of processes are allowed.
UNPRIVILEGED = ["setpriv", "--bounding-set", "-perfmon,-sys_admin", "--inh-caps", "-all"]
SCOPES = [counter.PROCESSOR, counter.PROCESS]


@dataclass(frozen=True)
class Counting:
    """What a lab counts with, and what to put before its command for that."""

    scope: str
    before: tuple[str, ...] = ()


def instructions(scope):
    """The counter of instructions with that scope; skips the test if this user may not use one on this machine."""
    there = counter.scope()
    if there is None or (scope == counter.PROCESSOR and there != scope):
        pytest.skip(f"no {scope}'s counter for this user here: {counter.why_not()[0]}")
    return Counting(scope, tuple(UNPRIVILEGED) if scope == counter.PROCESS and os.geteuid() == 0 else ())


@pytest.fixture(params=SCOPES)
def exact(request):
    """Each scope of the counter of instructions."""
    return instructions(request.param)


@pytest.fixture(params=SCOPES)
def counting(request):
    """Each scope of the counter of instructions, or of CPU time on a machine that has none."""
    if counter.scope() is not None:
        return instructions(request.param)
    if why_not := time_counter.why_not(request.param):
        pytest.skip(f"no {request.param}'s counter of CPU time for this user here: {why_not}")
    return Counting(request.param, (sys.executable, time_counter.__file__, request.param))


def measured(execute, counting, options=("--cpu", "work", "--tdf", "1"), program=WORK):
    """Return what the program prints first, and the clock's state according to the lab's kernel."""
    words = execute.words("python3", "-c", program, options=options)
    done = subprocess.run(
        [*counting.before, *words], capture_output=True, text=True, timeout=300, check=False, cwd=execute.folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    found, said = json.loads(done.stdout)
    state = dict(zip(said[::2], said[1::2], strict=True))
    assert state["work"] == counting.scope
    return found, state


def test_the_same_work_takes_the_same_time_beside_other_work(execute, exact):
    alone, _ = measured(execute, exact)
    with hogs(busy=os.cpu_count() or 1, memory=1):
        beside, _ = measured(execute, exact)
    assert statistics.median(beside) == pytest.approx(statistics.median(alone), rel=SAME)


ALONE, BESIDE_HOGS = 0, os.cpu_count() or 1


# Each scope and each load once; the other two pairs every night.
@pytest.mark.parametrize(
    ("counting", "busy"),
    [
        pytest.param(counter.PROCESSOR, BESIDE_HOGS, id="processor-beside hogs"),
        pytest.param(counter.PROCESS, ALONE, id="process-alone"),
        pytest.param(counter.PROCESSOR, ALONE, id="processor-alone", marks=pytest.mark.long),
        pytest.param(counter.PROCESS, BESIDE_HOGS, id="process-beside hogs", marks=pytest.mark.long),
    ],
    indirect=["counting"],
)
def test_timers_interrupt_a_program_that_only_computes(execute, counting, busy):
    # Where CPU time stands in for instructions, other load makes programs wake later, never earlier: one of three is in time
    tries = []
    with hogs(busy=busy):
        while len(tries) < 3 and not any(each < LATE_S for each in tries):
            late, _ = measured(execute, counting, program=NAPPING)
            tries.append(statistics.quantiles(late, n=10)[-1])
    assert min(tries) < LATE_S, tries


def test_rounds_of_one_boot_are_the_same(execute, exact):
    times, _ = measured(execute, exact)
    assert statistics.stdev(times[1:]) / statistics.fmean(times[1:]) < SAME


def test_the_factor_divides_work(execute, exact):
    one, _ = measured(execute, exact)
    ten, _ = measured(execute, exact, ("--cpu", "work", "--tdf", "10"))
    assert statistics.median(one) / statistics.median(ten) == pytest.approx(10, rel=5 * SAME)


def test_what_was_charged_is_told_apart_from_what_was_skipped(execute, counting):
    (charged, skipped), _ = measured(execute, counting, program=SLEEPING)
    assert charged + skipped == pytest.approx(100e9, rel=1e-3)
    assert 0 < charged < 1e9


def test_ticks_follow_the_work(execute, counting):
    """A program that only computes is interrupted at the time of its own clock, not at the host's.

    The host delivers the alarm within a few milliseconds of its own time, in which much work is done: a loop like this one,
    which fits into any processor's caches, runs eight times as fast as on the reference computer.
    """
    found, _ = measured(execute, counting, program=TICKING)
    assert len(found) == 20
    assert min(found) >= 0.05
    assert statistics.median(found) < 0.1


@pytest.mark.parametrize("counting", [pytest.param(counter.PROCESSOR, marks=pytest.mark.long), counter.PROCESS], indirect=True)
def test_a_run_charges_work(execute, counting):
    """A page of WordPress: many programs, each with a counter of its own where the processor's does not serve."""
    command = [
        "run",
        "client_delay",
        "--vary",
        "rtt=0ms,10ms",
        "--cpu",
        "work",
        "--tdf",
        "4",
        "--repeat",
        "1",
        "--out",
        "json=-",
    ]
    words = [*counting.before, *SLOWNET, *command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, cwd=execute.folder)
    (run,) = json.loads(done.stdout)["runs"]
    assert json.loads(Path(run["directory"], "run.json").read_text())["cpu"] == "work"
    near, far = (cell["metrics"]["time_per_request_ms"]["mean"] for cell in run["cells"])
    assert near > 1  # a page takes CPU, and this is charged
    assert 30 < far - near < 50  # four round trips, and what the CPU's share differs by


class Pinned:
    """Occupies all of a processor's counters while process `pid` runs there, so that only this process has none."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        libc = ctypes.CDLL(None)
        flags = 1 << 2 | 1 << 5  # pinned, without the kernel
        attributes = struct.pack("=IIQQQQQ", 0, counter.SIZE, 1, 0, 0, 0, flags).ljust(counter.SIZE, b"\0")
        number = counter.SYSCALLS["x86_64"]
        self.fds = [libc.syscall(number, attributes, self.pid, -1, -1, counter.CLOEXEC) for _ in range(16)]
        return self

    def __exit__(self, *error):
        for fd in self.fds:
            if fd >= 0:
                os.close(fd)


def kernel_of(command):
    """Return the process of a command's lab."""
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
    (found,) = [pid for pid in children if b"work-clock=" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return int(found)


def test_a_counter_that_is_taken_away_is_one_line(execute, exact):
    words = ["sh", "-c", "echo begun; while :; do :; done"]
    with execute.start(*words, options=["--cpu", "work"]) as lab:
        assert lab.stdout.readline() == b"begun\n"
        with Pinned(kernel_of(lab)):
            _, said = lab.communicate(timeout=120)
    assert lab.returncode == 2
    assert said.decode() == (
        "slownet: the counter of instructions was taken away during the run: "
        "another program may use it: try again, or use --cpu time\n"
    )
