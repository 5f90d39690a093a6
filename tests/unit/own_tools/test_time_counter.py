"""time_counter.py: a command's counters of instructions count CPU time, on any machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

import time_counter

SCOPE = "from slownet.lab.host import counter; print(counter.scope())"
# What this process's counter says after a sleep, and after computing for a tenth of a second: in ns.
COUNTED = """
import ctypes, os, struct, time
attributes = struct.pack("=IIQQQQQ", 0, 64, 1, 0, 0, 0, 1 << 5).ljust(64, bytes(1))
fd = ctypes.CDLL(None).syscall(298, attributes, 0, -1, -1, 0)
read = lambda: int.from_bytes(os.read(fd, 8), "little")
time.sleep(0.3)
slept, began = read(), time.process_time_ns()
while time.process_time_ns() - began < 100_000_000:
    pass
print(slept, read() - slept)
"""
# A counter of cycles, which has no substitute.
CYCLES = """
import ctypes, struct
attributes = struct.pack("=IIQQQQQ", 0, 64, 0, 0, 0, 0, 1 << 5).ljust(64, bytes(1))
print(ctypes.CDLL(None, use_errno=True).syscall(298, attributes, 0, -1, -1, 0), ctypes.get_errno())
"""
# Opens a counter while signals come, whose handler lets interrupted calls begin again, as User-Mode Linux does for its timer.
SIGNALLED = (
    """
import signal
signal.signal(signal.SIGUSR1, lambda number, frame: None)
signal.siginterrupt(signal.SIGUSR1, False)
"""
    + COUNTED
)
# The program as it is, but that the first event is handed over at the moment at which a signal interrupts the caller's call.
INTERRUPTING = f"""
import errno, fcntl, os, signal, struct, sys
sys.path.insert(0, {str(Path(time_counter.__file__).parent)!r})
import time_counter
ioctl, caller, interrupted = fcntl.ioctl, [], []
ID_VALID = 0x40082102

def interrupt(listener, number):
    os.kill(caller[0], signal.SIGUSR1)
    try:
        while True:
            ioctl(listener, ID_VALID, number)
    except FileNotFoundError:
        interrupted.append(number)

def called(listener, request, argument):
    if request == time_counter.ADD_FD and not interrupted:
        interrupt(listener, argument[:8])
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    result = ioctl(listener, request, argument)
    if request == time_counter.RECEIVE:
        caller[:] = struct.unpack_from("=QI", argument)[1:]
    return result

fcntl.ioctl = called
status = time_counter.main(*sys.argv[1:])
sys.exit(status if interrupted else "nothing was interrupted")
"""


def run(scope, *command, program=(time_counter.__file__,)):
    if why_not := time_counter.why_not(scope):
        pytest.skip(why_not)
    words = [sys.executable, *program, scope, *command]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("scope", ["processor", "process"])
def test_slownet_finds_a_counter_of_that_scope(scope):
    assert run(scope, sys.executable, "-c", SCOPE).stdout == f"{scope}\n"


def test_the_counter_counts_cpu_time():
    slept, computed = map(int, run("process", sys.executable, "-c", COUNTED).stdout.split())
    assert slept < 100_000_000
    assert computed == pytest.approx(100_000_000, rel=0.2)


def test_a_call_that_is_interrupted_while_it_is_answered_begins_again():
    done = run("process", sys.executable, "-c", SIGNALLED, program=("-c", INTERRUPTING))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) == 2


def test_a_caller_that_has_ended_is_not_answered():
    """What is read of its memory is empty then."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # still there, without memory
    with pytest.raises(ProcessLookupError):
        time_counter.opened_for(ended.pid, 4096, 0, time_counter.ANY)
    ended.wait()


def test_other_events_are_not_there():
    assert run("process", sys.executable, "-c", CYCLES).stdout == "-1 2\n"  # ENOENT


@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_status_is_the_commands(script, status):
    assert run("process", "sh", "-c", script).returncode == status
