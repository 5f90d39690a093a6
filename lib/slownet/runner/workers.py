"""Labs of this machine as workers, for `slownet.runner.engine`: threads or processes, each of which drives one lab at a time.

Threads are for boots whose samples are wanted as they come, and that say whom an interrupt concerns; processes for so many that
Python's lock would hold them up.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING

from slownet.lab.host import cpu, owner
from slownet.lab.host.memory import available
from slownet.lab.run.boot import memory_folder
from slownet.lab.run.place import Place
from slownet.model.errors import SweepError
from slownet.model.options import MEMORY
from slownet.runner.sharing import side_by_side

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

SPARE = 0.1
"""Share of the free memory that labs leave to everything else."""


def room(megabytes: int, processors: int | None = None) -> int:
    """Return how many labs of that memory run at the same time on this machine: one a processor, if they fit into memory.

    Raises SweepError if not even one fits.
    """
    folder = memory_folder(megabytes)
    room = os.statvfs(folder)
    free = min(room.f_bavail * room.f_frsize // 2**20, available()) * (1 - SPARE)
    labs = min(int(free // megabytes), processors or cpu.count())
    if labs < 1:
        raise SweepError(f"{free:.0f} MB are free, a lab takes {megabytes} MB", MEMORY, f"free memory, or lower {MEMORY}")
    return labs


def how_many(wanted: int | None, place: Place) -> int:
    """Return the number of labs for ``--labs``: as many as there is room for, one where they would disturb each other."""
    if not side_by_side(place):
        return 1
    return wanted or room(place.megabytes)


class Threads:
    """Labs that threads of this process drive."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._executor: ThreadPoolExecutor | None = None

    def open(self) -> Executor:
        """Return a pool of threads."""
        self._executor = ThreadPoolExecutor(self.width)
        return self._executor

    def close(self) -> None:
        """Wait for the boots that are under way; an interrupt is passed to their places."""
        if self._executor:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None

    def is_fatal(self, error: BaseException) -> bool:
        """Return False: threads do not die."""
        return False


class Pool:
    """Labs that processes drive, which end with this one."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._executor: ProcessPoolExecutor | None = None

    def open(self) -> Executor:
        """Return a pool of processes. Raises SweepError."""
        import multiprocessing  # runs do without
        from concurrent.futures import ProcessPoolExecutor

        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise SweepError(
                "a worker that imports your script starts the sweep again", "slownet.sweep.run",
                'call it below `if __name__ == "__main__":`',
            )  # fmt: skip
        context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
        self._executor = ProcessPoolExecutor(self.width, context, _as_worker, (os.getpid(),))
        return self._executor

    def close(self) -> None:
        """End the workers at once; their labs end with them."""
        if not self._executor:
            return
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        for each in processes:
            each.kill()
        for each in processes:
            each.join()
        self._executor = None

    def is_fatal(self, error: BaseException) -> bool:
        """Return False: this pool tries nothing again by itself."""
        return False


def _as_worker(parent: int) -> None:
    """Leave interrupts to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    owner.end_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
