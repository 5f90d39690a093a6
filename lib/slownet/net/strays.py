"""Stray processes on the hosts of a network: those that a test started there and did not end."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from slownet.tools.process import wait_until

GONE_S = 2.0


def spaces(hosts: Collection[Any]) -> frozenset[int]:
    """Return the inode numbers of the hosts' network namespaces. Switches have none: they share this machine's."""
    return frozenset(os.fstat(host.namespace.net).st_ino for host in hosts if getattr(host, "namespace", None))


def living_in(spaces: Collection[int]) -> dict[int, int]:
    """Return the processes in these namespaces: {number: session}."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if (entry / "ns/net").stat().st_ino in spaces:
                    found[int(entry.name)] = os.getsid(int(entry.name))
    return found


def end(spaces: Collection[int], sessions: Collection[int] = (), kept: Collection[int] = ()) -> None:
    """Kill the processes in these namespaces, except those in `kept` and in these sessions."""
    strays = [number for number, session in living_in(spaces).items() if number not in kept and session not in sessions]
    for number in strays:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    wait_until(lambda: not any(_lives(number) for number in strays), GONE_S)


def _lives(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
