"""The state of a process from /proc/PID/stat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
ENDED = "ZX"
"""The states of a process that has ended: its parent has not waited for it yet."""


@dataclass(frozen=True)
class Stat:
    """A process by its name and what it came from; ``started`` in clock ticks after boot."""

    name: str
    state: str
    parent: int
    group: int
    session: int
    started: int

    @property
    def lives(self) -> bool:
        return self.state not in ENDED


def of(pid: int | str, proc: Path = PROC) -> Stat | None:
    """Return the kernel's status of a process; None if none exists, or if it hides from this user."""
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    head, _, rest = text.rpartition(")")  # a name may hold spaces and brackets
    state, parent, group, session, *more = rest.split()
    return Stat(head.partition("(")[2], state, int(parent), int(group), int(session), int(more[15]))
