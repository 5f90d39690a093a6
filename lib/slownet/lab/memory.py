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
OF_A_LAB = re.compile(rb"(?:^|\0)mem=(\d+)M\0mem-fd=(\d+)\0")


@dataclass(frozen=True)
class Running:
    """The memory of a lab that runs here, in MB."""

    given: int
    used: int
    device: int | None
    """The file system that its memory file lies on; None if this user may not know."""

    @property
    def promised(self) -> int:
        """By how much it may still grow."""
        return max(0, self.given - self.used)


@dataclass(frozen=True)
class Machine:
    """This machine's memory, in MB, and the labs that run here, as far as this user can see them."""

    available: int
    running: tuple[Running, ...] = ()

    @property
    def free(self) -> int:
        """What is left for another lab."""
        return max(0, self.available - self.promised)

    @property
    def promised(self) -> int:
        """By how much the labs may still grow."""
        return sum(each.promised for each in self.running)

    @property
    def used(self) -> int:
        """What the labs have taken."""
        return sum(each.used for each in self.running)

    def promised_on(self, device: int) -> int:
        """Return by how much the memory files on a file system may still grow, with those of which nobody knows the place."""
        return sum(each.promised for each in self.running if each.device in {device, None})


def available() -> int:
    """Return the free memory of this machine in MB, with what it would give back."""
    return _megabytes((PROC / "meminfo").read_text(), "MemAvailable")


def examine() -> Machine:
    """Look at the memory of this machine and at the labs that run on it."""
    return Machine(available(), tuple(found for folder in PROC.glob("[0-9]*") if (found := _running(folder))))


def _running(process: Path) -> Running | None:
    """Return what a lab was given and has taken; None if the process is not a lab's first one."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = OF_A_LAB.search((process / "cmdline").read_bytes())
        leads = (process / "stat").read_text().rpartition(")")[2].split()[3] == process.name  # its session
        if words and leads:
            status = (process / "status").read_text()
            used = _megabytes(status, "RssShmem") + _megabytes(status, "RssFile")
            return Running(int(words[1]), used, _device(process / "fd" / words[2].decode()))
    return None


def _device(file: Path) -> int | None:
    with contextlib.suppress(OSError):
        return file.stat().st_dev
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
            if found.free >= megabytes or megabytes > found.available + found.used or asked_to_end():
                yield found
                return
        labs = len(found.running)
        what = f"{labs} lab{'s run' if labs > 1 else ' runs'} here, and no room is left for {megabytes} MB"
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
