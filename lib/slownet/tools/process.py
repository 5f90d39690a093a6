"""Processes on a host: what a host must offer, the environment they get, and how they are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

POLL_S = 0.005
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Host(Protocol):
    """What a service or a tool needs of a Mininet host."""

    name: str

    def IP(self) -> str:  # noqa: N802  # Mininet's name
        """The host's first IPv4 address."""

    def popen(self, *args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        """Starts a program in the host's network namespace."""


class Hosts(Protocol):
    """What a service needs of a network: its hosts by their names."""

    def __getitem__(self, name: str) -> Host: ...


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment with ``LC_ALL=C``, with the system's programs on the path, and with ``more``."""
    path = os.pathsep.join(filter(None, [os.environ.get("PATH"), PATH]))
    return {**os.environ, "LC_ALL": "C", "PATH": path, **(more or {})}


def end(process: subprocess.Popen[bytes], signals: Sequence[tuple[int, float]]) -> None:
    """Ends a process that ``Host.popen`` started, with its group: each signal in turn, each with its seconds.

    Mininet gives every program a session of its own, so a group with the process's number is the program's and
    nobody else's; a program that shares our group is ended alone.
    """
    for number, seconds in signals:
        if process.poll() is not None:
            break
        _signal(process, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    # Children that outlived their parent. As zombies they stay until init collects them, which is not waited for.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
        wait_until(lambda: not _group_lives(process.pid), 0.2)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
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
    """Polls a condition until it holds (True) or the seconds are over (False)."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True
