"""The CPU time that the lab's clock has charged so far."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from slownet.lab.host.native import INSIDE, clock_facts
from slownet.lab.run.clock import EXACT

CLOCK = Path("/proc/skip_idle")
"""A file of the lab's kernel with the lines ``charged <ns>``, ``skipped <ns>``, ``work <scope>`` (last patch in linux/7)."""


TIMERS = Path("/proc/timer_list")
"""The file where the kernel of an exact lab gives the idle nanoseconds of its only processor."""
IDLE = re.compile(r"\.(?:idle|iowait)_sleeptime *: *(\d+) nsecs")


def charged_s(file: Path = CLOCK, timers: Path = TIMERS) -> float | None:
    """Return the seconds of CPU that this lab's clock has charged since boot; None if unknown."""
    # The exact clock is QEMU's, of which the lab's kernel knows nothing: all time in which it was not idle was charged.
    if os.environ.get(INSIDE) == EXACT:
        return _busy_s(timers)
    try:
        values = dict(line.split() for line in file.read_text().splitlines())
        return int(values["charged"]) / 1e9
    except (OSError, ValueError, KeyError):  # the real clock, or not in a lab
        return None


def clock_words() -> str:
    """Return which clock seconds in this process are of, for the middle of a message; empty on the real one."""
    kind = str(clock_facts()["clock"])
    return "" if kind == "real" else f" of the {kind} clock"


def _busy_s(timers: Path) -> float | None:
    try:
        idle = IDLE.findall(timers.read_text())
    except OSError:
        return None
    return time.clock_gettime(time.CLOCK_BOOTTIME) - sum(map(int, idle)) / 1e9 if idle else None


def charged_since(before: float | None) -> float | None:
    """Return the seconds of CPU charged since ``charged_s`` returned ``before``."""
    now = charged_s()
    return None if before is None or now is None else now - before
