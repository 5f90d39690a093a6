"""The labs that a command runs in parallel: as many as there are processors, and which one is next. Threads only."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

Rank = tuple[int, ...]
"""What comes first has the least rank."""


class Labs:
    """A number of threads, each of which runs one lab at a time; of all that wait, the one of the least rank is next."""

    def __init__(self, number: int) -> None:
        self._threads = ThreadPoolExecutor(max_workers=number)
        self._waiting: list[tuple[Rank, int, Callable[[], None], Future[None]]] = []
        self._count = itertools.count()
        self._lock = threading.Lock()

    def __enter__(self) -> Labs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._threads.shutdown()

    def submit(self, rank: Rank, work: Callable[[], None]) -> Future[None]:
        """Run something when its turn comes; the future has its error, if it raises one."""
        future: Future[None] = Future()
        with self._lock:
            heapq.heappush(self._waiting, (rank, next(self._count), work, future))
        self._threads.submit(self._run_next)
        return future

    def _run_next(self) -> None:
        """Run what is first now, which need not be what was submitted with this call."""
        with self._lock:
            _, _, work, future = heapq.heappop(self._waiting)
        future.set_running_or_notify_cancel()
        try:
            work()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(None)
