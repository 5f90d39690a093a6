"""Shares this machine's memory among the labs of all its users: a lab that would not fit waits until another one ends.

A lab takes pages as it needs them, so free memory alone means little: labs that run may still grow to what they were given.
What other users' processes report of themselves need not be true, and anyone may keep the lock: these are not waited for long.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from slownet.lab.host import process_stat
from slownet.model.errors import LabError
from slownet.model.options import MEMORY

PROC = Path("/proc")
LOCK = Path("/sys/devices/system/cpu")
"""A folder that every user may lock, on the whole machine: only one lab at a time looks for memory and starts."""
PATIENCE_S, LOCK_S, PAUSE_S = 1800.0, 5.0, 0.2
COURTESY_S = 60.0
"""The time that a process waits for memory that other users' labs, or processes that look like labs, may still take."""
OF_A_LAB = re.compile(rb"(?:^|\0)mem=(\d+)M\0mem-fd=(\d+)\0")
OF_AN_EXACT_LAB = re.compile(rb"\0-name\0slownet-exact\0-m\0(\d+)M,")


@dataclass(frozen=True)
class Running:
    """The memory of a lab that runs here, in MB."""

    given: int
    used: int
    device: int | None
    """The file system that its memory file lies on; None if this user may not know, 0 if it has no such file."""
    user: int = 0
    pid: int = 0

    @property
    def is_trusted(self) -> bool:
        """True if it belongs to this user or to root; another user's process may only look like a lab."""
        return self.user in (os.geteuid(), 0)

    @property
    def holder(self) -> str:
        """Whose it is: ``process 1234 of ada``."""
        return holder(self.pid, self.user)

    @property
    def promised(self) -> int:
        """By how much it may still grow."""
        return max(0, self.given - self.used)


@dataclass(frozen=True)
class Machine:
    """This machine's memory, in MB, and the labs that run here, as far as this user can see them."""

    available: int
    running: tuple[Running, ...] = ()

    def trusted(self) -> Machine:
        """Return it with what other users' labs have taken, but without what they may still take: that is their word alone."""
        running = (each if each.is_trusted else replace(each, given=each.used) for each in self.running)
        return Machine(self.available, tuple(running))

    @property
    def free(self) -> int:
        """The memory left for another lab."""
        return max(0, self.available - self.promised)

    @property
    def promised(self) -> int:
        """By how much the labs may still grow."""
        return sum(each.promised for each in self.running)

    @property
    def used(self) -> int:
        """The memory that the labs have taken."""
        return sum(each.used for each in self.running)

    def promised_on(self, device: int) -> int:
        """Return by how much the memory files on a file system may still grow, with those of which it is unknown the place."""
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
        line = (process / "cmdline").read_bytes()
        words, emulated = OF_A_LAB.search(line), OF_AN_EXACT_LAB.search(line)
        if not (words or emulated):
            return None
        stat = process_stat.of(process.name, PROC)
        if not stat or stat.session != int(process.name):
            return None
        status, about = (process / "status").read_text(), process.stat()
        if emulated:  # its memory has no file
            used = _megabytes(status, "RssAnon")
            return Running(int(emulated[1]), min(used, int(emulated[1])), 0, about.st_uid, int(process.name))
        if words:
            used = _megabytes(status, "RssShmem") + _megabytes(status, "RssFile")
            return Running(int(words[1]), used, _device(process / "fd" / words[2].decode()), about.st_uid, int(process.name))
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

    What would not fit if all labs ended is not waited for, nor for long what other users' labs may still take. It prints
    once that it waits. Raises LabError after half an hour.
    """
    began = time.monotonic()
    deadline, said = began + PATIENCE_S, False
    while True:
        with contextlib.ExitStack() as stack:
            _lock(stack)
            found = examine()
            if time.monotonic() - began > _courtesy.left:
                found = _without_others(found)
            if found.free >= megabytes or megabytes > found.available + found.used or asked_to_end():
                yield found
                return
        labs = len(found.running)
        what = f"{labs} lab{'s run' if labs > 1 else ' runs'} here, and no room is left for {megabytes} MB"
        others = [each.holder for each in found.running if not each.is_trusted]
        if others:
            what += f" ({', '.join(others[:3])}{' and others' if len(others) > 3 else ''})"
        if time.monotonic() > deadline:
            raise LabError(what, fix=f"try again later, or give labs less: {MEMORY}")
        if not said:
            sys.stderr.write(f"slownet: {what}: waiting until one ends\n")
            said = True
        time.sleep(PAUSE_S)


@dataclass
class _Courtesy:
    """The time in seconds that this process still waits for other users; used up, later labs of it do not wait again."""

    left: float = COURTESY_S
    for_lock: float = LOCK_S


_courtesy = _Courtesy()


def holder(pid: int, user: int | None = None) -> str:
    """Return the name of a process and its user."""
    with contextlib.suppress(OSError, KeyError):
        return f"process {pid} of {pwd.getpwuid((PROC / str(pid)).stat().st_uid if user is None else user).pw_name}"
    return f"process {pid}"


def _without_others(found: Machine) -> Machine:
    others = [each.holder for each in found.running if not each.is_trusted]
    if others and _courtesy.left:
        _courtesy.left = 0.0
        sys.stderr.write(
            f"slownet: other labs get no more than {COURTESY_S:g} s of waiting ({', '.join(others[:3])}): starting\n"
        )
    return found.trusted()


def _lock(stack: contextlib.ExitStack) -> None:
    """Hold the lock; without it, if this machine has none or someone keeps it, labs start all the same."""
    deadline = time.monotonic() + _courtesy.for_lock
    with contextlib.suppress(FileNotFoundError, PermissionError):
        lock = os.open(LOCK, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, lock)
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            if time.monotonic() >= deadline:
                break
            time.sleep(PAUSE_S / 10)
        if _courtesy.for_lock:
            _courtesy.for_lock = 0.0
            whose = ", ".join(map(holder, _keepers(os.fstat(lock).st_ino))) or "another process"
            sys.stderr.write(
                f"slownet: {whose} keeps the lock that makes labs start one by one ({LOCK}): starting without it\n"
            )


def _keepers(inode: int) -> list[int]:
    """Return the processes that hold a lock on a file."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = (line.split() for line in (PROC / "locks").read_text().splitlines())
        found = [words for words in lines if words[1] == "FLOCK" and words[5].endswith(f":{inode}")]
        return [int(words[4]) for words in found if int(words[4]) > 0]
    return []
