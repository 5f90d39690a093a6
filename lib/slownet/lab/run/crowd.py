"""The limit on processes of a lab: init.c sets the kernel's limit on threads, from the lab's memory."""

from __future__ import annotations

from pathlib import Path

CROWDED = 0.9
"""Share of the limit from which on a lab counts as full: what ran into the limit may have lost some processes since."""


def is_crowded(proc: Path = Path("/proc")) -> bool:
    """Return whether this kernel has hardly any room for another process."""
    try:
        threads = int((proc / "loadavg").read_text().split()[3].partition("/")[2])
        most = int((proc / "sys/kernel/threads-max").read_text())
    except (OSError, ValueError, IndexError):
        return False
    return threads >= most * CROWDED
