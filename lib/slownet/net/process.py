"""Processes on a host: the interface that a host must have, the processes' environment, and how they are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from slownet.lab.host import process_stat

POLL_S = 0.005
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Host(Protocol):
    """The part of a Mininet host that services and tools use.

    Attributes
    ----------
    name : str
        The host's name in the topology.
    """

    name: str

    def IP(self) -> str:  # noqa: N802  # Mininet's name
        """Return the host's first IPv4 address."""

    def popen(self, *args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        """Start a program in the host's network namespace; the arguments are those of `subprocess.Popen`."""


class Hosts(Protocol):
    """The part of a network that services use: its hosts by name."""

    def __getitem__(self, name: str) -> Host: ...


def no_host(given: object) -> str:
    """Return what is wrong with what should be a host, such as a host's name; empty if nothing is."""
    if not isinstance(given, str) and hasattr(given, "name"):
        return ""
    return f"{repr(given) if isinstance(given, str) else f'a {type(given).__name__}'} is not a host of a network"


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of the current process with ``LC_ALL=C``, the system's program folders on PATH, and ``more``."""
    path = os.pathsep.join(filter(None, [os.environ.get("PATH"), PATH]))
    return {**os.environ, "LC_ALL": "C", "PATH": path, **(more or {})}


def end(process: subprocess.Popen[bytes], signals: Sequence[tuple[int, float]]) -> None:
    """End a process that ``Host.popen`` started, and its process group.

    Mininet starts every program in a new session, so a group with the process's id belongs to the program alone. A program
    that shares our group is signalled by itself.

    process: the process.
    signals: the signals to send one after the other, and the seconds to wait after each one.
    """
    for number, seconds in signals:
        if process.poll() is not None:
            break
        send(process, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    # Kill children that outlived their parent. Zombies remain until init reaps them; do not wait for that.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
        wait_until(lambda: not _group_lives(process.pid), 0.2)


def family(first: int) -> list[int]:
    """Return the ids of a program's processes: its group's and all that these have started, in groups of their own, too.

    PostgreSQL's processes, for one, each have a session and a group.
    """
    parents: dict[int, tuple[int, int]] = {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        if stat := process_stat.of(each):
            parents[int(each)] = stat.parent, stat.group
    found = {first}
    while more := {pid for pid, (parent, group) in parents.items() if parent in found or group == first} - found:
        found |= more
    return sorted(found & parents.keys())


def send(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process that ``Host.popen`` started, and to its group."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        with suppress(ProcessLookupError):
            process.send_signal(number)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition: Callable[[], bool], seconds: float, every: float = POLL_S) -> bool:
    """Poll a condition until it holds.

    condition: returns whether it holds.
    seconds, every: how long to wait at most, and how long between two calls.
    returns: whether it held in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True
