"""The host's counter of retired instructions: whether a lab may have one, and of what."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from slownet.lab import cpu

PROCESSOR, PROCESS = "processor", "process"
"""What is counted: all that runs on the lab's processor, for whoever has CAP_PERFMON; or the lab's processes, each switched
with its counter. Work that others do on the processor does not count either way: see the last patch in ``linux/7``."""
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
OF_OWN_PROCESSES = 2
"""The highest perf_event_paranoid at which an ordinary user may count what its own processes do in user mode."""
SYSCALLS = {"x86_64": 298, "aarch64": 241}  # perf_event_open
HARDWARE, INSTRUCTIONS = 0, 1  # linux/perf_event.h
WITHOUT_KERNEL_AND_HYPERVISOR = 1 << 5 | 1 << 6
SIZE = 64  # of struct perf_event_attr's first version
CLOEXEC = 8
LOOP = 10_000


@lru_cache(maxsize=1)
def scope() -> str | None:
    """What this process can have counted, the cheaper one first; None where there is no counter for it."""
    here = min(os.sched_getaffinity(0))
    return PROCESSOR if _counts(-1, here) else PROCESS if _counts(0, -1) else None


def why_not(
    paranoid: Callable[[], str] = lambda: PARANOID.read_text(),
) -> tuple[str, str]:
    """Why there is no counter, and what to do about it."""
    try:
        level = int(paranoid())
    except (OSError, ValueError):
        return "this machine's kernel counts no instructions", "take --cpu time"
    if level > OF_OWN_PROCESSES:
        what = f"kernel.perf_event_paranoid={level} keeps the counter of instructions from ordinary users"
        return what, f"as root: sysctl kernel.perf_event_paranoid={OF_OWN_PROCESSES}; or take --cpu time"
    return "this machine has no counter of instructions, or its hypervisor or container hides it", "take --cpu time"


def _counts(pid: int, processor: int) -> bool:
    """Whether such a counter opens and counts a loop of this process."""
    import ctypes  # every lab's Python reads this module for its two words
    import struct

    number = SYSCALLS.get(platform.machine())
    if number is None:
        return False
    attributes = struct.pack("=IIQQQQQ", HARDWARE, SIZE, INSTRUCTIONS, 0, 0, 0, WITHOUT_KERNEL_AND_HYPERVISOR)
    attributes += bytes(SIZE - len(attributes))
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, attributes, pid, processor, -1, CLOEXEC)
    if fd < 0:
        return False
    try:
        with cpu.bound_to(processor) if processor >= 0 else contextlib.nullcontext():
            sum(range(LOOP))
            return int.from_bytes(os.read(fd, 8), "little") > LOOP
    except OSError:
        return False
    finally:
        os.close(fd)
