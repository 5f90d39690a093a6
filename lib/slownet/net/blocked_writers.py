"""Programs in the background of a node's shell that wait because no process reads what they print.

Under Mininet a node's shell writes to a pseudo terminal, which takes a few kilobytes until `cmd`, `monitor` or `waitOutput`
reads them. A program that prints more stands still then, without a word; on a virtual clock, what waits for it waits for ever.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

WRITING = ("1", "20")
"""The numbers of write() and writev() on x86-64, as /proc/PID/syscall shows them."""
FIRST_S, AGAIN_S = 60.0, 1.0
"""When a running program is looked at first, then after twice the time; and how long one that is named has stood still."""


def found(nodes: Iterable[Any]) -> dict[int, str]:
    """Return the processes that wait to write to a node's terminal: a line for each, by its number."""
    owners = {}
    for node in nodes:
        if node.__dict__.get("shell") is not None and node.slave is not None:
            with suppress(OSError):
                owners[os.ttyname(node.slave)] = node.name
    return {pid: _line(owners[tty], pid) for pid, tty in _writers() if tty in owners} if owners else {}


def _writers() -> Iterator[tuple[int, str]]:
    """Yield each process that waits in a write, and what it writes to."""
    for each in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError):  # it has ended
            number, *words = Path("/proc", each, "syscall").read_text().split()
            if number in WRITING:
                yield int(each), os.readlink(f"/proc/{each}/fd/{int(words[0], 16)}")


def _line(node: str, pid: int) -> str:
    name = "a program"
    with suppress(OSError):
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    fix = f"redirect it, as in {node}.cmd('{name} ... > {name}.txt &'), or read it with {node}.monitor()"
    return f"{name} on {node} stands still, because no program reads its terminal: {fix}"


def report(nodes: Iterable[Any]) -> None:
    """Print a line for each process that stands still."""
    for line in dict.fromkeys(found(nodes).values()):
        print(f"slownet: {line}", file=sys.stderr, flush=True)


@contextmanager
def watched(nodes: Callable[[], Iterable[Any]]) -> Iterator[None]:
    """Name the processes that stand still while the block runs, and may wait for them. nodes: returns those that exist."""
    ended = threading.Event()
    thread = threading.Thread(target=_watch, args=(nodes, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()


def _watch(nodes: Callable[[], Iterable[Any]], ended: threading.Event) -> None:
    wait = FIRST_S
    while not ended.wait(wait):
        before = found(nodes())
        if before and not ended.wait(AGAIN_S):
            still = {pid: line for pid, line in found(nodes()).items() if pid in before}
            for line in dict.fromkeys(still.values()):
                print(f"slownet: {line}", file=sys.stderr, flush=True)
            if still:
                return
        wait *= 2
