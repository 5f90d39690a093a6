"""Programs that want what a measurement wants: a processor each, or the way to memory. For `make soak` and `make trust`.

    python tests/hogs.py busy|memory PARENT

They end with the process that started them, whatever ends it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

BUSY, MEMORY = "busy", "memory"
PR_SET_PDEATHSIG = 1  # linux/prctl.h
STREAMED = 256 << 20
"""Bytes of the array that is read and of the one that is written: beyond the last cache of any processor we know."""


@contextmanager
def hogs(busy: int, nice: int = 0, memory: int = 0) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many busy loops, and so many programs that stream through memory, from the block's first line to its last."""
    with ExitStack() as stack:
        yield [stack.enter_context(hog(kind, nice)) for kind in [BUSY] * busy + [MEMORY] * memory]


@contextmanager
def hog(kind: str, nice: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """One of them. Raises RuntimeError if it does not start."""
    command = ["nice", "-n", str(nice), sys.executable, __file__, kind, str(os.getpid())]
    # In a session of its own: the scheduler shares processors among sessions first (sched_autogroup), so all hogs of one
    # would get no more than the one program that they are to disturb.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout
        if not process.stdout.readline():
            raise RuntimeError(f"a {kind} hog did not start")
        yield process
    finally:
        process.kill()
        process.communicate()


def main(kind: str, parent: int) -> None:
    """Says so when it is ready, then never stops."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the line above
        return
    {BUSY: compute, MEMORY: stream}[kind]()


def ready() -> None:
    print("ready", flush=True)


def compute() -> None:
    ready()
    while True:
        pass


def stream() -> None:
    """Reads one array and writes another, which throws everybody else's data out of the caches they share."""
    import numpy as np

    source, target = (np.ones(STREAMED // 8) for _ in range(2))
    ready()
    while True:
        np.add(source, 1.0, out=target)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
