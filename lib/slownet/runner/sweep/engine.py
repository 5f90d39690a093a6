"""Measures tasks by any `concurrent.futures.Executor`, whatever happens to its workers.

A task that fails is tried elsewhere, at most `TRIES` times; then its cells are tried one by one, and those that still fail are
set aside. If workers die without saying whose task it was (a broken process pool), each task that was under way is suspected;
one that is suspected `TRIES` times, by us or by a cluster, is tried alone, so that it cannot take others down. A task that is
lost with its scheduler is tried again without blame.

A result stays under way until ``done`` has returned: what was measured when something ends the run, such as an interrupt or a
worker that cannot take part, is passed on before the run ends.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from slownet.model.errors import SlownetError, SweepError

TRIES = 3
REOPENED = 50
"""How often workers may be started anew without a single result in between."""


class Divisible(Protocol):
    """A task; one of a single cell does not divide any more."""

    def __len__(self) -> int: ...

    def split(self) -> Iterable[Divisible]:
        """Return smaller tasks."""


T = TypeVar("T", bound=Divisible)
R = TypeVar("R")


class Workers(Protocol):
    """Something that gives executors, such as a process pool or a cluster."""

    @property
    def width(self) -> int:
        """How many tasks run at the same time."""

    def open(self) -> Executor:
        """Return a new executor. Raises SweepError."""

    def close(self) -> None:
        """End the executor and everything that it started, at once."""

    def is_fatal(self, error: BaseException) -> bool:
        """Return whether an error says that the worker of a task died as often as the cluster allows."""


@dataclass
class _Try(Generic[T]):
    task: T
    failures: int = 0
    deaths: int = 0
    alone: bool = False
    number: int = 0
    """Of all that were submitted."""


class Engine(Generic[T, R]):
    """Runs tasks: ``measure`` in the workers; ``done`` and ``aside`` here, with what came of each.

    Parameters
    ----------
    workers : Workers
        Closed at the end.
    measure : callable
        A function of a module: workers import it.
    done : callable
        Gets (task, result) pairs, those that came at the same time together; the same ones again if an interrupt ended it.
    aside : callable
        Gets a task of one cell that cannot be measured, and why.
    patience_s : float
        Without any result for so long, workers count as lost.
    """

    def __init__(
        self, workers: Workers, measure: Callable[[T], R], done: Callable[[list[tuple[T, R]]], None],
        aside: Callable[[T, str], None], patience_s: float,
    ) -> None:  # fmt: skip
        self._workers, self._measure, self._done, self._aside = workers, measure, done, aside
        self._patience_s = patience_s
        self._executor: Executor | None = None
        self._again: deque[_Try[T]] = deque()
        self._under_way: dict[Future[R], _Try[T]] = {}
        self._ended: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()
        self._reopened = self._submitted = 0

    def run(self, tasks: Iterable[T]) -> None:
        """Run all tasks to their ends. Raises SweepError if a worker cannot take part, or if workers cannot be started."""
        waiting = iter(tasks)
        try:
            while self._fill(waiting):
                self._take(self._next())
        except BaseException:
            self._workers.close()
            with contextlib.suppress(Exception):  # the user is told what ended the run
                self._pass_on(self._came())
            raise
        self._workers.close()

    def _fill(self, waiting: Iterator[T]) -> bool:
        """Submit tasks while there is room: twice as many as run at a time, so that no worker waits for the next one."""
        while len(self._under_way) < 2 * self._workers.width and not any(each.alone for each in self._under_way.values()):
            if self._again:
                if self._again[0].alone and self._under_way:
                    break
                self._submit(self._again.popleft())
            elif (task := next(waiting, None)) is not None:
                self._submit(_Try(task))
            else:
                break
        return bool(self._under_way)

    def _submit(self, each: _Try[T]) -> None:
        while True:
            try:
                self._executor = self._executor or self._workers.open()
                future = self._executor.submit(self._measure, each.task)
                break
            except (BrokenExecutor, CancelledError, RuntimeError):
                self._lost()
        self._submitted += 1
        each.number = self._submitted
        self._under_way[future] = each
        future.add_done_callback(self._ended.put)

    def _next(self) -> list[Future[R]]:
        """Wait for a task to end; return all that have. None within the patience means that their workers are lost."""
        try:
            found = [self._ended.get(timeout=self._patience_s)]
        except queue.Empty:
            self._lost()
            return []
        while not self._ended.empty():
            found.append(self._ended.get())
        return [each for each in found if each in self._under_way]

    def _take(self, ended: list[Future[R]]) -> None:
        came, broken, lost = [], False, False
        for future in ended:
            each = self._under_way[future]
            try:
                future.result()
            except BrokenExecutor:
                broken = True
            except CancelledError:
                self._again.append(self._under_way.pop(future))
                lost = True
            except SweepError:
                raise
            except Exception as error:
                self._failed(each, error)
                del self._under_way[future]
            else:
                came.append(future)
        if came:
            self._reopened = 0
            self._pass_on(came)
        if broken:
            self._suspect()
        if broken or lost:
            self._lost()

    def _came(self) -> list[Future[R]]:
        """Return what has a result of all that is under way."""
        ended = (future for future in self._under_way if future.done() and not future.cancelled())
        return [future for future in ended if future.exception() is None]

    def _pass_on(self, came: list[Future[R]]) -> None:
        if came:
            self._done([(self._under_way[future].task, future.result()) for future in came])
        for future in came:
            del self._under_way[future]

    def _suspect(self) -> None:
        """Suspect the tasks that were under way when a worker died, but not those that cannot have been started yet."""
        ordered = sorted(self._under_way.values(), key=lambda each: each.number)
        for each in ordered[: self._workers.width]:
            each.deaths += 1
            if each.alone and each.deaths > TRIES:
                each.failures = TRIES

    def _lost(self) -> None:
        """Start workers anew, for the tasks that were under way."""
        self._workers.close()
        self._executor = None
        self._reopened += 1
        if self._reopened > REOPENED:
            raise SweepError(f"workers were lost {REOPENED} times without any result", fix="see slownet doctor, then --resume")
        self._pass_on(self._came())
        lost, self._under_way = list(self._under_way.values()), {}
        for each in lost:
            if each.failures >= TRIES:
                self._give_up(each, "its worker died each time")
            else:
                each.alone = each.deaths >= TRIES
                self._again.append(each)
        self._again = deque(sorted(self._again, key=lambda each: each.alone))
        if self._reopened > 1:
            time.sleep(min(0.1 * 2**self._reopened, 5.0))

    def _failed(self, each: _Try[T], error: Exception) -> None:
        if self._workers.is_fatal(error):  # perhaps by what a neighbour did
            each.failures, each.alone = (TRIES if each.alone else each.failures), True
        else:
            each.failures += 1
        if each.failures < TRIES:
            self._again.append(each)
        else:
            self._give_up(each, error.line if isinstance(error, SlownetError) else f"{type(error).__name__}: {error}")

    def _give_up(self, each: _Try[T], why: str) -> None:
        """Set a task aside, if it is of one cell; try each cell of a larger one by itself."""
        if len(each.task) == 1:
            self._aside(each.task, why)
            return
        for part in each.task.split():
            self._again.append(_Try(part, alone=each.alone, deaths=each.deaths))  # type: ignore[arg-type]
