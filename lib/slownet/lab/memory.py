"""Shares this machine's memory among the labs of all its users: a lab that would not fit waits until another one ends.

A lab takes pages as it needs them, so that free memory alone says little: labs that run may still grow to what they were given.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from slownet.errors import LabError

PROC = Path("/proc")
LOCK = Path("/sys/devices/system/cpu")
"""A folder that every user may lock, on the whole machine: only one lab at a time looks for memory and starts."""
PATIENCE_S, LOCK_S, PAUSE_S = 1800.0, 5.0, 0.2
OF_A_LAB = re.compile(rb"(?:^|\0)mem=(\d+)M\0mem-fd=")


@dataclass(frozen=True)
class Machine:
    """This machine's memory, in MB."""

    free: int
    """What is left for another lab."""
    promised: int
    """By how much the labs that run may still grow."""
    used: int
    """What they have taken."""
    labs: int
    """How many run."""


def examine() -> Machine:
    """Look at the memory of this machine and at the labs that run on it, as far as this user can see them."""
    available = _megabytes((PROC / "meminfo").read_text(), "MemAvailable")
    labs = [found for folder in PROC.glob("[0-9]*") if (found := _given_and_used(folder))]
    promised = sum(max(0, given - used) for given, used in labs)
    return Machine(max(0, available - promised), promised, sum(used for _, used in labs), len(labs))


def _given_and_used(process: Path) -> tuple[int, int] | None:
    """Return how many MB a lab was given and has taken; None if the process is not a lab's first one."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        given = OF_A_LAB.search((process / "cmdline").read_bytes())
        leads = (process / "stat").read_text().rpartition(")")[2].split()[3] == process.name  # its session
        if given and leads:
            status = (process / "status").read_text()
            return int(given[1]), _megabytes(status, "RssShmem") + _megabytes(status, "RssFile")
    return None


def _megabytes(text: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) // 1024 if found else 0


@contextlib.contextmanager
def room(megabytes: int, asked_to_end: Callable[[], bool] = lambda: False) -> Iterator[Machine]:
    """Wait until there is room for a lab, and keep other labs from starting while the block starts it.

    What would not fit if all labs ended is not waited for. It says once that it waits. Raises LabError after half an hour.
    """
    deadline, said = time.monotonic() + PATIENCE_S, False
    while True:
        with contextlib.ExitStack() as stack:
            _lock(stack)
            found = examine()
            if found.free >= megabytes or megabytes > found.free + found.promised + found.used or asked_to_end():
                yield found
                return
        what = f"{found.labs} lab{'s run' if found.labs > 1 else ' runs'} here, and no room is left for {megabytes} MB"
        if time.monotonic() > deadline:
            raise LabError(what, fix="try again later, or give labs less: --memory")
        if not said:
            sys.stderr.write(f"slownet: {what}: waiting until one ends\n")
            said = True
        time.sleep(PAUSE_S)


def _lock(stack: contextlib.ExitStack) -> None:
    """Hold the lock; without it, if this machine has none or somebody keeps it, labs start all the same."""
    deadline = time.monotonic() + LOCK_S
    with contextlib.suppress(FileNotFoundError, PermissionError):
        lock = os.open(LOCK, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, lock)
        while time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(PAUSE_S / 10)
