"""Reserves a processor for each lab.

A lab is one CPU: its kernel and its programs are host processes that take turns. On one processor a turn is a context switch;
on two it wakes up the other processor, which is expensive in a VM: a WordPress page takes 64 ms pinned and 93 ms unpinned.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FOLDERS = Path("/sys/devices/system/cpu")
"""The path with a folder for each processor, which every user may lock."""

_choosing = threading.Lock()
_mine: Counter[int] = Counter()


def count() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


@contextlib.contextmanager
def reserved(turn: int = 0) -> Iterator[int]:
    """Reserve a processor that no other lab on this machine has; if all are taken, the one with the fewest of this process.

    turn: number of earlier boots; the search starts at another processor each time, so that boots rotate.
    """
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    rotated = turn % len(allowed)
    allowed = allowed[rotated:] + allowed[:rotated]
    first = os.getpid() % len(allowed)  # so that several processes start at different processors
    with contextlib.ExitStack() as locks:
        with _choosing:
            free = (number for number in allowed if _lock(number, locks))
            found = next(free, None)
            chosen = min(allowed[first:] + allowed[:first], key=_mine.__getitem__) if found is None else found
            _mine[chosen] += 1
        try:
            yield chosen
        finally:
            with _choosing:
                _mine[chosen] -= 1


@contextlib.contextmanager
def bound_to(processor: int) -> Iterator[None]:
    """Pin this thread, and processes that it starts meanwhile, to that processor; do nothing if the host forbids it."""
    before = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, before)


def _lock(number: int, locks: contextlib.ExitStack) -> bool:
    """Lock that processor and return True, or False if another user has it or the machine has no such folder."""
    try:
        folder = os.open(FOLDERS / f"cpu{number}", os.O_RDONLY | os.O_DIRECTORY)
        locks.callback(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
