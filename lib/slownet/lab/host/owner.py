"""Marks everything that a process makes on this machine with the process's identity.

The mark is an Open vSwitch bridge's external id, an interface's alias, an environment variable, and part of the names of
directories and cgroups. It distinguishes what a killed process has left behind from what others made, see
`slownet.net.leftovers`.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slownet.lab.host import process_stat

RUN = Path("/run/slownet")
VARIABLE = "SLOWNET_OWNER"
NOTE = "run"
PR_SET_PDEATHSIG = 1  # linux/prctl.h
_MARK = re.compile(r"(\d+)-([0-9a-f]+)-([0-9a-f]{4})-([0-9a-f]+)")


@dataclass(frozen=True)
class Owner:
    """One process, distinguished from others that had or will have its number."""

    pid: int
    started: int  # in clock ticks after boot
    boot: str  # the first digits of the boot id
    namespace: int  # the pid's namespace

    @property
    def mark(self) -> str:
        """The mark: `1234-8aa52-1b2c-effffffc`. It is short, because a socket's path is limited to 107 characters."""
        return f"{self.pid}-{self.started:x}-{self.boot}-{self.namespace:x}"

    @classmethod
    def read(cls, text: str) -> Owner | None:
        """Return the owner from the mark that is the first word of a text; None if it is not a mark."""
        found = _MARK.fullmatch(text.split()[0]) if text.split() else None
        return cls(int(found[1]), int(found[2], 16), found[3], int(found[4], 16)) if found else None

    @property
    def lives(self) -> bool:
        """True if the process runs; one in another PID namespace cannot be seen and counts as running."""
        if self.boot != _boot():
            return False
        if self.namespace != _namespace():
            return True
        return started(self.pid) == self.started

    @property
    def directory(self) -> Path:
        """The path of its private directory, if it has one."""
        return RUN / self.mark

    @property
    def run(self) -> str:
        """The run that it measured, if it noted one (see `note`)."""
        try:
            return (self.directory / NOTE).read_text()
        except OSError:
            return ""


def started(pid: int) -> int | None:
    """Return when a process was started, in clock ticks after boot; None if it does not run or is a zombie."""
    stat = process_stat.of(pid)
    return stat.started if stat and stat.lives else None


def this() -> Owner:
    """Return the owner for this process."""
    return _of(os.getpid())


def directory() -> Path:
    """Return this process's private directory, made on demand and removed when the process ends. Raises OSError."""
    found = this().directory
    if not found.is_dir():
        found.mkdir(mode=0o755, parents=True)
        atexit.register(_remove, os.getpid(), found)
    return found


def temporary(purpose: str) -> tempfile.TemporaryDirectory[str]:
    """Make a temporary directory in this process's private one; in the system's place for them if that needs root."""
    try:
        where = directory()
    except OSError:
        return tempfile.TemporaryDirectory(prefix=f"slownet-{purpose}-")
    return tempfile.TemporaryDirectory(prefix=f"{purpose}-", dir=where)


def note(run: str) -> None:
    """Note which run this process measures. Raises OSError."""
    (directory() / NOTE).write_text(run)


def _remove(pid: int, directory: Path) -> None:
    if os.getpid() == pid:  # not in a fork
        shutil.rmtree(directory, ignore_errors=True)


@cache
def _of(pid: int) -> Owner:
    return Owner(pid, started(pid) or 0, _boot(), _namespace())


@cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text()[:4]


def _namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def end_with_parent(number: int) -> None:
    """Let the kernel send this process a signal when its parent ends, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
