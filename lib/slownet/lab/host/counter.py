"""The host's counter of retired instructions: whether a lab may use one, and what it counts."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from slownet.lab.host import cpu
from slownet.model.options import CPU

PROCESSOR, PROCESS = "processor", "process"
"""Scopes of the counter: everything on the lab's processor (needs CAP_PERFMON), or each process of the lab, whose counter is
switched with it. Other programs on the processor are not counted either way: see the patch of the work clock in ``linux/7``."""
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
OF_OWN_PROCESSES = 2
"""The highest perf_event_paranoid at which an ordinary user may count the user mode of their own processes."""
SYSCALLS = {"x86_64": 298, "aarch64": 241}  # perf_event_open
HARDWARE, INSTRUCTIONS = 0, 1  # linux/perf_event.h
WITHOUT_KERNEL_AND_HYPERVISOR = 1 << 5 | 1 << 6
SIZE = 64  # of struct perf_event_attr's first version
CLOEXEC = 8
LOOP = 10_000


@lru_cache(maxsize=1)
def scope() -> str | None:
    """Return the cheapest scope that this process may count, or None without a counter."""
    here = min(os.sched_getaffinity(0))
    return PROCESSOR if _counts(-1, here) else PROCESS if _counts(0, -1) else None


def why_not(
    paranoid: Callable[[], str] = lambda: PARANOID.read_text(),
) -> tuple[str, str]:
    """Return why no counter can be used, and how to change that."""
    try:
        level = int(paranoid())
    except (OSError, ValueError):
        return "this machine's kernel counts no instructions", f"use {CPU.set('time')}"
    if level > OF_OWN_PROCESSES:
        what = f"kernel.perf_event_paranoid={level} denies the instruction counter to ordinary users"
        return what, f"as root: sysctl kernel.perf_event_paranoid={OF_OWN_PROCESSES}; or use {CPU.set('time')}"
    return "this machine has no instruction counter, or its hypervisor or container hides it", f"use {CPU.set('time')}"


def _counts(pid: int, processor: int) -> bool:
    """Return whether such a counter opens and counts a loop of this process."""
    import ctypes  # imported here because every lab imports this module for its constants
    import struct

    number = SYSCALLS.get(platform.machine())
    if number is None:
        return False
    attributes = struct.pack("=IIQQQQQ", HARDWARE, SIZE, INSTRUCTIONS, 0, 0, 0, WITHOUT_KERNEL_AND_HYPERVISOR)
    attributes += bytes(SIZE - len(attributes))
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, attributes, pid, processor, -1, CLOEXEC)
    if fd < 0:
        return False
    # That it opens proves nothing: in many virtual machines and containers it does, and stays at 0. So it has to count a loop
    # of a known length.
    try:
        with cpu.bound_to(processor) if processor >= 0 else contextlib.nullcontext():
            sum(range(LOOP))
            return int.from_bytes(os.read(fd, 8), "little") > LOOP
    except OSError:
        return False
    finally:
        os.close(fd)
