"""Scenarios for `slownet why`: programs on hosts that take their time in a known way, and the accounts of it."""

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from slownet.lab.run.outbox import Outbox
from slownet.net import interface_captures, kernel_record
from slownet.waits.account_text import answer, text
from slownet.waits.door import account
from slownet.waits.trace import HostCapture

SERVER = """
import socket, sys, time
{options}
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
{before}
s.bind(("", {port})); s.listen(64); print("up", flush=True)
while True:
    c, _ = s.accept()
    {serve}
"""
CLIENT = """
import socket, sys, time
s = socket.socket()
{before}
s.connect(("{address}", {port}))
{ask}
s.close()
"""
ANSWER = "c.recv(99); c.sendall(b'!'); c.close()"


def serving(host, serve, *, port=80, before="", options=""):
    """Run a TCP server on a host; `serve` is what it does with each connection `c`."""
    return running(host, SERVER.format(serve=serve, port=port, before=before, options=options))


@contextmanager
def running(host, program):
    """Run a Python program on a host that prints "up"; end it afterwards."""
    process = host.popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "up\n"
        yield
    finally:
        process.kill()
        process.communicate()


def why(net, folder, program, client="client", whole=False, meanwhile=None, free=True):
    """Run a Python program on a host, with captures; return its account.

    `meanwhile` is called when the program prints a line, which then waits for one.
    """
    started = []
    with (
        interface_captures.capturing(interface_captures.find(net, ["hosts"]), folder, "000", started),
        net[client].popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process,
    ):  # fmt: skip
        if meanwhile is not None:
            process.stdout.readline()
            meanwhile()
        _, complaint = process.communicate("\n", timeout=200)
    assert not process.returncode, complaint
    captures = [HostCapture.of_entry(each.to_json(folder), Outbox(folder)) for each in started]
    found = account(captures, client, whole=whole, free=free)
    print(text(found))
    for one, other in zip(found.steps, found.steps[1:], strict=False):
        assert one.end_ns == other.begin_ns
    assert sum(each.ns for each in found.steps) == found.elapsed_ns
    assert found.remainder_ns == 0
    return found


def kernel_of(folder, host):
    """Return what a host's kernel has counted during `why`."""
    return kernel_record.read((folder / f"000-{host}.kernel.json").read_text(), host)


def ask(net, ask="s.sendall(b'?'); s.recv(9)", *, server="web", before="", port=80):
    return CLIENT.format(address=net[server].IP(), port=port, ask=ask, before=before)


READINGS_MS = 1.0
"""What readings of the clock may add to an operation: 1 us each at free CPU (the kernel's POLL_COST_NS), ten to fifty of them
for each thing that a program does, as threads and a socket's limit have it. It is a tenth of the shortest round trip here."""


def says(answer, elapsed_ms, rest):
    """Return whether an answer's time is that of theory, but for readings of the clock, and the rest of it as expected."""
    time, _, what = answer.partition(" ms: ")
    return abs(float(time) - elapsed_ms) <= READINGS_MS and what == rest


def ms(found, cause, detail=""):
    return sum(each.ms for each in found.of(cause) if each.detail.startswith(detail))


@dataclass(frozen=True)
class Truth:
    """A scenario of which the truth is known: its name, the truth, what the account says, and whether that is right."""

    name: str
    truth: str
    answer: str
    is_right: bool

    def __str__(self):
        return f"{self.name}: {self.truth}; the account: {self.answer}"


TRUTHS = []
"""Those of the scenarios that have run, in order; one may have several."""


def _note(truth, answer, is_right):
    name = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].rpartition(" ")[0]
    TRUTHS.append(Truth(name, truth, answer, is_right))
    assert is_right, str(TRUTHS[-1])


def right(found, cause, truth_ms, within_ms, detail=""):
    """Check and note the time of a cause, in ms."""
    said, name = ms(found, cause, detail), f"{cause}{detail and f' ({detail})'}"
    _note(
        f"{truth_ms:.4g} ms of {name}, within {within_ms:g}", f"{said:.4g} ms", said == pytest.approx(truth_ms, abs=within_ms)
    )


def answers(found, elapsed_ms, rest):
    """Check and note the first line of an account."""
    _note(f"{elapsed_ms} ms: {rest}", answer(found), says(answer(found), elapsed_ms, rest))


def same(said, truth):
    """Check and note what an account says."""
    _note(f"{truth}", f"{said}", said == truth)


@contextmanager
def losing(host, matches, family="ip", hook="prerouting"):
    """Drop the first packet that arrives and matches: it has left its sender, and its receiver never sees it."""
    rules = (f"add table {family} lost", f"add chain {family} lost c {{ type filter hook {hook} priority 0 ; }}")
    for rule in (*rules, f"add rule {family} lost c {matches} limit rate 1/day burst 1 packets drop"):
        with host.popen(["nft", rule], stderr=subprocess.PIPE, text=True) as done:
            _, complaint = done.communicate()
        assert not done.returncode, complaint
    try:
        yield
    finally:
        with host.popen(["nft", f"delete table {family} lost"], stderr=subprocess.PIPE) as done:
            done.communicate()
