"""A processor of its own for each lab.

A lab is one CPU: its kernel and its programs are host processes that take turns. On one processor a turn is a switch,
on two it is a wake-up of the other one, which is dear in a VM: a WordPress page takes 64 ms pinned and 93 ms not.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from slownet.lab import cache

_choosing = threading.Lock()
_mine: Counter[int] = Counter()


def count() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


@contextlib.contextmanager
def reserved(turn: int = 0) -> Iterator[int]:
    """The number of a processor that no other lab of this user has; if all are taken, one where this process has fewest.

    turn: how many boots were before this one; each begins to look at another processor, so that they rotate.
    """
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    rotated = turn % len(allowed)
    allowed = allowed[rotated:] + allowed[:rotated]
    first = os.getpid() % len(allowed)  # several processes begin at different ones
    with contextlib.ExitStack() as locks:
        with _choosing:
            free = (number for number in allowed if _lock(cache.root() / "cpu" / str(number), locks))
            found = next(free, None)
            chosen = min(allowed[first:] + allowed[:first], key=_mine.__getitem__) if found is None else found
            _mine[chosen] += 1
        try:
            yield chosen
        finally:
            with _choosing:
                _mine[chosen] -= 1


def _lock(path: Path, locks: contextlib.ExitStack) -> bool:
    """Whether nobody else has it; not where the cache cannot be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fcntl.flock(locks.enter_context(path.open("w")), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
