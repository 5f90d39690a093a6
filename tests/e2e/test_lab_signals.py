"""Signals and terminals: a lab behaves like any other program."""

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios
import time

import pytest
from command_line import SLOWNET
from conftest import PATIENCE_S
from terminal import Terminal

from slownet.lab.run import boot, lab
from slownet.lab.run.clock import Clock

READY = b"ready\n"


@pytest.fixture
def started(execute):
    """Start a command that prints READY and wait for that; kill its remaining processes at the end."""
    with contextlib.ExitStack() as stack:

        def start(*command, **others):
            process = stack.enter_context(execute.start(*command, **others))
            stack.callback(process.kill)
            assert process.stdout.readline() == READY
            return process

        yield start


CLOCKS = [["--clock", "real"], ["--tdf", "1"], ["--tdf", "inf"]]
# On a virtual clock a long sleep is short, so these commands wait for input.
WAIT = "echo ready; read line"


@pytest.mark.parametrize("options", CLOCKS, ids=" ".join)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_that_waits(started, options, number):
    process = started("sh", "-c", WAIT, options=options, stdin=subprocess.PIPE)
    begin = time.monotonic()
    process.send_signal(number)
    assert process.wait(PATIENCE_S) == 128 + number
    assert time.monotonic() - begin < 8  # not by the kill after ten seconds
    assert process.stderr.read() == b""


def test_a_signal_ends_a_command_that_is_busy(started):
    process = started("sh", "-c", "echo ready; while :; do :; done")
    process.send_signal(signal.SIGTERM)
    assert process.wait(8) == 128 + signal.SIGTERM


def test_a_command_that_traps_a_signal_cleans_up(started):
    process = started(
        "sh", "-c", "trap 'echo cleaning; sleep 0.5; echo cleaned; exit 9' INT; echo ready; while :; do sleep 0.1; done",
        options=["--clock", "real"],
    )  # fmt: skip
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) == 9
    assert process.stdout.read() == b"cleaning\ncleaned\n"


def test_a_command_that_ends_well_on_a_signal_says_so_by_its_status(started):
    process = started("sh", "-c", "trap 'exit 0' INT; echo ready; while :; do sleep 0.1; done", options=["--clock", "real"])
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) == 128 + signal.SIGINT


def test_a_second_signal_ends_a_command_that_does_not_listen(started):
    process = started("sh", "-c", "trap '' INT TERM; echo ready; while :; do sleep 0.1; done", options=["--clock", "real"])
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(5) == 128 + signal.SIGINT
    assert process.stderr.read() == b""


@pytest.mark.parametrize("loop", ["while True: pass", "while True: time.monotonic()"])
def test_a_signal_reaches_a_program_that_is_busy_where_computing_is_free(started, loop):
    """No time passes in which it would be the turn of what brings the signal."""
    text = f"""
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit('cleaned'))
print('ready', flush=True)
time.sleep(1)
{loop}
"""
    process = started("python3", "-c", text, options=["--tdf", "inf"])
    time.sleep(0.5)  # it is busy now, or will be: it hears of the signal either way
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) == 1
    assert time.monotonic() - begin < lab.GRACE_S  # not by the kill after ten seconds
    assert process.stderr.read() == b"cleaned\n"


def test_a_signal_sent_twice_at_once_counts_once(started):
    process = started(
        "sh", "-c", "trap 'sleep 0.3; exit 9' TERM; echo ready; while :; do sleep 0.1; done", options=["--clock", "real"]
    )
    for _ in range(3):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
    assert process.wait(PATIENCE_S) == 9


def test_a_signal_reaches_the_whole_group(started):
    child = """trap "echo child; exit" TERM; echo ready; while :; do sleep 0.1; done"""
    process = started("sh", "-c", f"trap 'wait; exit 9' TERM; sh -c '{child}' & wait", options=["--clock", "real"])
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 9
    assert process.stdout.read() == b"child\n"


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.1, 0.15, 0.2, 0.3])
def test_a_signal_during_the_boot(execute, delay_s):
    with execute.start("sleep", "100", options=["--clock", "real"]) as process:
        time.sleep(delay_s)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) in (128 + signal.SIGTERM, -signal.SIGTERM)
        assert b"Traceback" not in process.stderr.read()


def test_a_signal_that_arrives_with_the_command_itself(built, monkeypatch):
    """It reaches a command that has not yet come as far as a group of its own; nothing else would end it here."""
    begin = boot._Run._begin

    def begin_and_signal(run):
        begin(run)
        run.signal(signal.SIGTERM)

    monkeypatch.setattr(boot._Run, "_begin", begin_and_signal)
    monkeypatch.setattr(lab, "GRACE_S", 120)
    monkeypatch.setattr(boot, "GRACE_S", 120)
    assert built.lab(Clock("real")).run(["sleep", "20"]) == -signal.SIGTERM


def test_a_signal_that_is_ignored_stays_so(execute):
    words = execute.words("sh", "-c", "echo ready; sleep 1; echo done", options=["--clock", "real"])
    with subprocess.Popen(["nohup", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=execute.folder) as process:
        assert process.stdout.readline() == READY
        process.send_signal(signal.SIGHUP)
        assert process.stdout.read() == b"done\n"


@pytest.fixture
def terminal(execute):
    """Run a shell script of the host on a terminal; $lab in it is the command line."""
    opened = []

    def open_terminal(script, **options):
        words = ["sh", "-c", script, *SLOWNET, "lab"]
        terminal = Terminal(["env", f"lab={' '.join([*SLOWNET, 'lab'])}", *words], cwd=execute.folder, **options)
        opened.append(terminal)
        return terminal

    yield open_terminal
    for each in opened:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(each.pid, signal.SIGKILL)
            os.waitpid(each.pid, 0)
        os.close(each.fd)


def test_on_a_terminal_the_command_has_one_of_the_same_size(terminal):
    shown = terminal("$lab exec -- sh -c 'tty; stty size; test -t 0 && test -t 1 && test -t 2 && exit 5'")
    status, text = shown.end()
    assert text.split() == [b"/dev/pts/0", b"31", b"97"]
    assert status == 5


def test_a_terminal_is_left_as_it_was(terminal):
    shown = terminal("echo begin; read a; $lab exec -- sh -c 'echo in; read b; echo got $b'; echo out; read c")
    shown.until(b"begin")
    before = shown.settings()
    shown.write(b"\n")
    shown.until(b"in\r\n")
    assert shown.settings() != before  # raw: the lab's terminal handles editing
    shown.write(b"wordx\x7f\r")
    shown.until(b"got word\r\n")
    shown.until(b"out\r\n")
    assert shown.settings() == before
    shown.write(b"\n")
    assert shown.end()[0] == 0


def test_control_c_ends_the_command_not_the_caller(terminal):
    shown = terminal("$lab exec -- sh -c 'echo ready; read line'; echo status $?; read a")
    shown.until(b"ready\r\n")
    shown.write(b"\x03")
    shown.until(b"status 130\r\n")
    assert shown.settings()[3] & termios.ICANON
    assert shown.settings()[3] & termios.ECHO
    shown.write(b"\n")
    assert shown.end()[0] == 0


def test_a_terminal_that_changes_its_size(terminal):
    shown = terminal("$lab exec -- bash -c 'trap \"stty size\" WINCH; echo ready; while true; do read line; done'")
    shown.until(b"ready\r\n")
    fcntl.ioctl(shown.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 111, 0, 0))
    deadline, seen = time.monotonic() + PATIENCE_S, b""
    while b"44 111\r\n" not in seen:  # bash runs the trap after the read, at an unknown time
        assert time.monotonic() < deadline
        shown.write(b"x\r")
        seen += shown.until(b"x\r\n")
        time.sleep(0.05)
    shown.write(b"\x03")
    assert shown.end()[0] == 130


def test_output_that_goes_elsewhere_is_no_terminal(terminal, execute):
    shown = terminal("$lab exec -- sh -c 'test -t 1 || echo no; echo err >&2' 2>err; cat err")
    status, text = shown.end()
    assert (status, text) == (0, b"no\r\nerr\r\n")


def test_a_shell(terminal):
    shown = terminal("$lab shell")
    shown.until(b"# ")
    shown.write(b"echo $((6*7)); exit 3\r")
    shown.until(b"42\r\n")
    assert shown.end()[0] == 3
