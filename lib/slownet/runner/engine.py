"""Measures boots by any `concurrent.futures.Executor`, whatever happens to its workers: for runs, checks, sweeps and hunts.

A policy shows which boot is next, and gets what came of it: `slownet.runner.repetition` for runs, whose boots depend on claims
that are open, `slownet.sweep.sweeping` for the cells of a sweep, `slownet.hunt.bench` for schedules of
faults. Workers measure them: labs of this process's threads or of processes (`slownet.runner.workers`), or a cluster
(`slownet.sweep.cluster`).

A boot, here called a task, that fails is tried elsewhere, as often as is allowed; then the policy decides, which may have its
cells tried one by one. If workers die and it is unknown which task was the cause (a broken process pool), each task that was
under way is suspected; one that is suspected as often, by us or by a cluster, is tried alone, so that it cannot take others
down. A task that is lost with its scheduler is tried again without blame.

A result stays under way until the policy has taken it: what was measured when something ends the run, such as an interrupt or a
worker that cannot take part, is passed on before the run ends.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from slownet.model.errors import SlownetError, SweepError
from slownet.model.options import RESUME

TRIES = 3
"""The number of attempts for a task that fails."""
REOPENED = 50
"""The number of restarts of workers without a single result in between."""


T = TypeVar("T")
R = TypeVar("R")


class Policy(Protocol[T, R]):
    """The policy of tasks: chooses the next one and takes the results. Its methods are called by one thread."""

    def next(self) -> T | None:
        """Return the next task; None if none exists, or none until one that is under way has ended."""

    def done(self, results: list[tuple[T, R]]) -> None:
        """Take results, those that came at the same time together; the same ones again if an interrupt ended it."""

    def failed(self, task: T, error: BaseException) -> Iterable[T]:
        """Take a task that failed as often as is allowed; return what is to be tried in its place. May raise the error."""


class Workers(Protocol):
    """Something that gives executors, such as a process pool or a cluster."""

    @property
    def width(self) -> int:
        """The number of tasks at the same time."""

    def open(self) -> Executor:
        """Return a new executor. Raises SweepError."""

    def close(self) -> None:
        """End the executor and everything that it started, at once."""

    def is_fatal(self, error: BaseException) -> bool:
        """Return whether an error states that the worker of a task died as often as the cluster allows."""


@dataclass
class _Try(Generic[T]):
    task: T
    failures: int = 0
    deaths: int = 0
    alone: bool = False
    number: int = 0
    """Of all that were submitted."""


class Engine(Generic[T, R]):
    """Runs the tasks of a policy.

    workers: closed at the end.
    measure: a function of a module: workers of other processes import it.
    policy: chooses the next task.
    patience_s: without any result for so long, workers count as lost; None: never.
    tries: how often a task is tried that fails.
    ahead: tasks that are handed out for each lab: two, so that no worker waits for the next one; one if the policy is to choose
        it as late as it can.
    """

    def __init__(
        self, workers: Workers, measure: Callable[[T], R], policy: Policy[T, R], patience_s: float | None = None,
        tries: int = TRIES, ahead: int = 2,
    ) -> None:  # fmt: skip
        self._workers, self._measure, self._policy = workers, measure, policy
        self._patience_s, self._tries, self._ahead = patience_s, tries, ahead
        self._executor: Executor | None = None
        self._again: deque[_Try[T]] = deque()
        self._under_way: dict[Future[R], _Try[T]] = {}
        self._ended: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()
        self._reopened = self._submitted = 0

    def run(self) -> None:
        """Run until the policy has no task. Raises SweepError if a worker cannot take part, or if workers cannot be started."""
        try:
            while self._fill():
                self._take(self._next())
        except BaseException:
            self._workers.close()
            with contextlib.suppress(Exception):  # the user is told what ended the run
                self._pass_on(self._came())
            raise
        self._workers.close()

    def _fill(self) -> bool:
        """Submit tasks while there is room; return whether any is under way."""
        room = self._ahead * self._workers.width
        while len(self._under_way) < room and not any(each.alone for each in self._under_way.values()):
            if self._again:
                if self._again[0].alone and self._under_way:
                    break
                self._submit(self._again.popleft())
            elif (task := self._policy.next()) is not None:
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
            error = _error(future)
            if error is None:
                came.append(future)
            elif isinstance(error, BrokenExecutor):
                broken = True
            elif isinstance(error, CancelledError):
                self._again.append(self._under_way.pop(future))
                lost = True
            elif isinstance(error, SweepError):
                raise error
            else:
                self._failed(self._under_way[future], error)
                del self._under_way[future]
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
            self._policy.done([(self._under_way[future].task, future.result()) for future in came])
        for future in came:
            del self._under_way[future]

    def _suspect(self) -> None:
        """Suspect the tasks that were under way when a worker died, but not those that cannot have been started yet."""
        ordered = sorted(self._under_way.values(), key=lambda each: each.number)
        for each in ordered[: self._workers.width]:
            each.deaths += 1
            if each.alone and each.deaths > self._tries:
                each.failures = self._tries

    def _lost(self) -> None:
        """Start workers anew, for the tasks that were under way."""
        self._workers.close()
        self._executor = None
        self._reopened += 1
        if self._reopened > REOPENED:
            raise SweepError(f"workers were lost {REOPENED} times without any result", fix=f"see slownet doctor, then {RESUME}")
        self._pass_on(self._came())
        lost, self._under_way = list(self._under_way.values()), {}
        for each in lost:
            if each.failures >= self._tries:
                self._give_up(each, SlownetError("its worker died each time"))
            else:
                each.alone = each.deaths >= self._tries
                self._again.append(each)
        self._again = deque(sorted(self._again, key=lambda each: each.alone))
        if self._reopened > 1:
            time.sleep(min(0.1 * 2**self._reopened, 5.0))

    def _failed(self, each: _Try[T], error: BaseException) -> None:
        if not isinstance(error, Exception):  # such as an interrupt, which is nobody's failure
            each.failures = self._tries
        elif self._workers.is_fatal(error):  # perhaps by what a neighbour did
            each.failures, each.alone = (self._tries if each.alone else each.failures), True
        else:
            each.failures += 1
        if each.failures < self._tries:
            self._again.append(each)
        else:
            self._give_up(each, error)

    def _give_up(self, each: _Try[T], error: BaseException) -> None:
        for part in self._policy.failed(each.task, error):
            self._again.append(_Try(part, alone=each.alone, deaths=each.deaths))


def _error(ended: Future[R]) -> BaseException | None:
    """Return what a future has in place of a result."""
    try:
        return ended.exception()
    except CancelledError as error:
        return error
