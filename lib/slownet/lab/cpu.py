"""A processor of its own for each lab.

A lab is one CPU: its kernel and its programs are host processes that take turns. On one processor a turn is a switch,
on two it is a wake-up of the other one, which is dear in a VM: a WordPress page takes 64 ms pinned and 93 ms not.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from slownet.lab import cache


@contextlib.contextmanager
def reserved() -> Iterator[int]:
    """The number of a processor that no other lab of this user has; if all are taken, one of them."""
    folder = cache.root() / "cpu"
    folder.mkdir(parents=True, exist_ok=True)
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    for number in allowed:
        with (folder / str(number)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
    yield allowed[os.getpid() % len(allowed)]
