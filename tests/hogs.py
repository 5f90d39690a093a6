"""Programs that compete with a measurement for processors or memory bandwidth. For `make soak` and `make trust`.

    python tests/hogs.py busy|memory PARENT

They end with the process that started them, however it ends.
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
"""Bytes of each of the two arrays, one read, one written: larger than the last-level cache of any processor we know."""


@contextmanager
def hogs(busy: int, nice: int = 0, memory: int = 0) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run that many busy loops and that many programs that stream through memory for the duration of the block."""
    with ExitStack() as stack:
        yield [stack.enter_context(hog(kind, nice)) for kind in [BUSY] * busy + [MEMORY] * memory]


@contextmanager
def hog(kind: str, nice: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """Run one of them. Raises RuntimeError if it does not start."""
    command = ["nice", "-n", str(nice), sys.executable, __file__, kind, str(os.getpid())]
    # Each in a session of its own: the scheduler divides processors among sessions first (sched_autogroup), so all hogs in one
    # session together would get no more than the one program that they should disturb.
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
    """Print a line when ready, then run until killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the line above
        return
    {BUSY: compute, MEMORY: stream}[kind]()


def ready() -> None:
    print("ready", flush=True)


def compute() -> None:
    ready()
    while True:
        pass


def stream() -> None:
    """Read one array and write another, which evicts other programs' data from the shared caches."""
    import numpy as np

    source, target = (np.ones(STREAMED // 8) for _ in range(2))
    ready()
    while True:
        np.add(source, 1.0, out=target)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
