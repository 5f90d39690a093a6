"""Stray processes on the hosts of a network: those that a test started there and did not end."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.lab.host import process_stat
from slownet.net.process import wait_until

GONE_S = 2.0


def spaces(hosts: Collection[Any]) -> frozenset[int]:
    """Return the inode numbers of the hosts' network namespaces. Switches have none: they share this machine's."""
    return frozenset(os.fstat(host.namespace.net).st_ino for host in hosts if getattr(host, "namespace", None))


@dataclass(frozen=True)
class Process:
    """A process by what it came from."""

    session: int
    parent: int


def living_in(spaces: Collection[int]) -> dict[int, int]:
    """Return the processes in these namespaces: {number: session}."""
    return {number: each.session for number, each in _processes(spaces).items()}


def end(spaces: Collection[int], sessions: Collection[int] = (), kept: Collection[int] = ()) -> None:
    """Kill the processes in these namespaces, except those in `kept`, in these sessions, and the latter's descendants."""
    strays = among(_processes(spaces), sessions, kept)
    for number in strays:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    wait_until(lambda: not any(_lives(number) for number in strays), GONE_S)


def among(processes: Mapping[int, Process], sessions: Collection[int], kept: Collection[int]) -> list[int]:
    """Return the processes that are neither in `kept` nor in these sessions, and descend from none in these sessions.

    A server's child may have a session of its own: PostgreSQL gives one to the process of each connection.
    """

    def belongs(number: int) -> bool:
        seen = set()
        while number in processes and number not in seen:
            if processes[number].session in sessions:
                return True
            seen.add(number)
            number = processes[number].parent
        return False

    return [number for number in processes if number not in kept and not belongs(number)]


def _processes(spaces: Collection[int]) -> dict[int, Process]:
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if (entry / "ns/net").stat().st_ino in spaces and (stat := process_stat.of(entry.name)):
                    found[int(entry.name)] = Process(stat.session, stat.parent)
    return found


def _lives(number: int) -> bool:
    stat = process_stat.of(number)
    return stat is not None and stat.lives
