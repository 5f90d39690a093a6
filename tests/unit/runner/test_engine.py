"""Tasks run by executors whose workers fail, die or vanish."""

import os
import random
import signal
import threading
import time
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from slownet.model.errors import LabError, SweepError
from slownet.runner import engine
from slownet.runner.boot_store.task import given_up, reason
from slownet.runner.engine import TRIES, Engine
from slownet.runner.workers import Pool
from slownet.runner.workers import Threads as OwnThreads


@dataclass(frozen=True)
class Numbers:
    """A task: numbers to square."""

    values: tuple[int, ...]

    def __len__(self):
        return len(self.values)

    def split(self):
        return [replace(self, values=(each,)) for each in self.values]


class Tasks:
    """A policy: these tasks in their order; what fails is tried number by number, then set aside."""

    def __init__(self, tasks, done, aside=lambda task, why: None):
        self._tasks, self.done, self._aside = iter(tasks), done, aside

    def next(self):
        return next(self._tasks, None)

    def failed(self, task, error):
        if parts := given_up(task, error):
            return parts
        self._aside(task, reason(error))
        return []


def square(task):
    return [each * each for each in task.values]


def fails_on_seven(task):
    if 7 in task.values:
        raise LabError("no lab takes a seven")
    return square(task)


def dies_on_seven(task):
    if 7 in task.values:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(task)


def dies_once(task):
    if 7 in task.values and not os.path.exists(os.environ["ONCE"]):
        open(os.environ["ONCE"], "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(task)


def refuses(task):
    raise SweepError("worker w1 has another version of slownet")


class Threads:
    """Workers that are threads, whose executors may be replaced."""

    def __init__(self, width=2, executor=ThreadPoolExecutor):
        self.width, self.opened, self.closed, self._executor = width, 0, 0, executor

    def open(self):
        self.opened += 1
        return self._executor(self.width)

    def close(self):
        self.closed += 1

    def is_fatal(self, error):
        return isinstance(error, LookupError)


TASKS = [Numbers(tuple(range(start, start + 4))) for start in range(0, 40, 4)]
SQUARES = sorted(each * each for each in range(40))


def results(workers, measure, tasks=TASKS, patience_s=60.0):
    found, aside = [], []

    def done(pairs):
        for task, result in pairs:
            assert result == [each * each for each in task.values]
            found.extend(result)

    policy = Tasks(tasks, done, lambda task, why: aside.append((task.values, why)))
    Engine(workers, measure, policy, patience_s).run()
    return sorted(found), aside


def test_all_tasks_are_done_and_the_workers_closed():
    workers = Threads()
    assert results(workers, square) == (SQUARES, [])
    assert workers.closed == 1


def test_no_more_tasks_are_made_than_run_soon():
    made, most = 0, 0

    def tasks():
        nonlocal made
        for each in range(200):
            made += 1
            yield Numbers((each,))

    ended = 0

    def done(pairs):
        nonlocal ended, most
        ended += len(pairs)
        most = max(most, made - ended)

    Engine(Threads(), square, Tasks(tasks(), done), 60.0).run()
    assert ended == 200
    assert most <= 2 * 2


def test_a_cell_that_always_fails_is_set_aside_alone():
    calls = []

    def counted(task):
        calls.append(task.values)
        return fails_on_seven(task)

    found, aside = results(Threads(), counted)
    assert found == sorted(set(SQUARES) - {49})
    assert aside == [((7,), "no lab takes a seven")]
    assert calls.count((4, 5, 6, 7)) == calls.count((7,)) == TRIES


def test_what_fails_once_is_tried_again():
    failed = set()

    def fails_once(task):
        if task not in failed:
            failed.add(task)
            raise LabError("the first time")
        return square(task)

    assert results(Threads(), fails_once) == (SQUARES, [])


def test_what_a_cluster_has_given_up_is_tried_alone():
    calls = []

    def lost(task):
        calls.append(task.values)
        if 7 in task.values:
            raise LookupError("tried elsewhere")
        return square(task)

    _, aside = results(Threads(), lost)
    assert aside == [((7,), "LookupError: tried elsewhere")]
    assert (calls.count((4, 5, 6, 7)), calls.count((7,))) == (2, 1)


def test_a_worker_that_cannot_take_part_ends_the_sweep():
    workers = Threads()
    with pytest.raises(SweepError, match="another version"):
        results(workers, refuses)
    assert workers.closed


def test_a_cell_that_kills_its_worker_is_set_aside_and_takes_no_other_along():
    found, aside = results(Pool(2), dies_on_seven, TASKS[:3])
    assert found == sorted(set(SQUARES[:12]) - {49})
    assert aside == [((7,), "its worker died each time")]


def test_a_worker_that_dies_once_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("ONCE", str(tmp_path / "once"))
    assert results(Pool(2), dies_once, TASKS[:3]) == (SQUARES[:12], [])
    assert (tmp_path / "once").exists()


class Lossy(ThreadPoolExecutor):
    """An executor that loses a task in four, as a scheduler does that is started anew."""

    chance = random.Random(1)

    def submit(self, call, *arguments):
        if self.chance.random() < 0.25:
            lost = Future()
            lost.set_exception(CancelledError())
            return lost
        return super().submit(call, *arguments)


def test_what_a_scheduler_loses_is_tried_again_without_blame(monkeypatch):
    monkeypatch.setattr(engine.time, "sleep", lambda seconds: None)
    workers = Threads(executor=Lossy)
    assert results(workers, square, [Numbers((each,)) for each in range(40)]) == (SQUARES, [])
    assert workers.opened > 3


def test_what_comes_twice_counts_once():
    """A network that stalls: the first workers answer only after others have been asked."""
    stalled = threading.Event()

    def late(task):
        if not stalled.is_set() and 3 in task.values:
            stalled.set()
            time.sleep(1.0)
        return square(task)

    assert results(Threads(4), late, patience_s=0.3) == (SQUARES, [])


def test_workers_that_are_lost_for_ever_end_the_sweep(monkeypatch):
    monkeypatch.setattr(engine.time, "sleep", lambda seconds: None)

    class Never(ThreadPoolExecutor):
        def submit(self, call, *arguments):
            raise CancelledError

    with pytest.raises(SweepError, match="lost 50 times"):
        results(Threads(executor=Never), square)


def test_an_interrupt_ends_the_workers():
    workers = Pool(2)

    def interrupted(pairs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Engine(workers, square, Tasks(TASKS, interrupted), 60.0).run()
    assert workers._executor is None


class Answered:
    """Workers that have answered all tasks that they may have by the time that anyone looks."""

    width = 2

    def __init__(self, answer):
        self._answer = answer

    def open(self):
        return self

    def close(self):
        pass

    def submit(self, measure, task):
        future = Future()
        self._answer(future, task)
        return future


def answers_then(last):
    """Answer three tasks of four, and let the fourth raise `last`."""
    left = [1, 2, 3]

    def answer(future, task):
        if left:
            left.pop()
            future.set_result(square(task))
        else:
            future.set_exception(last)

    return answer


def test_an_interrupt_in_a_thread_is_the_policys_and_those_under_way_are_finished():
    """Of a run, whose labs get the signal: it says which were interrupted. The policy begins none of its others."""
    ended, told = [], threading.Event()

    class Once(Tasks):
        def failed(self, task, error):
            assert isinstance(error, KeyboardInterrupt)
            self._tasks = iter(())
            told.set()
            return []

    def interrupted(task):
        if task is TASKS[0]:
            raise KeyboardInterrupt
        told.wait(10)
        return square(task)

    Engine(OwnThreads(2), interrupted, Once(TASKS, ended.extend), tries=1, ahead=1).run()
    assert ended == [(TASKS[1], square(TASKS[1]))]


def test_what_fails_is_not_tried_again_unless_that_is_allowed():
    calls, failed = [], []

    class Noted(Tasks):
        def failed(self, task, error):
            failed.append((task, str(error)))
            return []

    def counted(task):
        calls.append(task)
        return fails_on_seven(task)

    Engine(OwnThreads(2), counted, Noted(TASKS, lambda pairs: None), tries=1, ahead=1).run()
    assert (failed, sorted(calls, key=lambda task: task.values)) == ([(TASKS[1], "no lab takes a seven")], TASKS)


def test_a_policy_is_asked_for_the_next_task_when_a_lab_is_free():
    """What a boot measured decides which is next."""
    asked, ended = [], []

    class Late(Tasks):
        def next(self):
            asked.append(len(ended))
            return super().next()

    Engine(OwnThreads(1), square, Late(TASKS[:3], ended.extend), ahead=1).run()
    assert asked == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "end", [KeyboardInterrupt(), SweepError("worker w1 has another version of slownet")], ids=["^C", "error"]
)
def test_what_was_measured_when_something_ends_the_run_is_kept(end):
    """The results and what ends the run come at the same time, as beside other load."""
    found = []
    with pytest.raises(type(end)):
        Engine(Answered(answers_then(end)), square, Tasks(TASKS, found.extend), 60.0).run()
    assert [task for task, _ in found] == TASKS[:3]


def test_what_ends_while_the_workers_are_ended_is_kept():
    """An interrupt while a task is under way that its worker then finishes: it is not measured again."""
    under_way = []

    class Finishing(Threads):
        def close(self):
            super().close()
            for future, task in under_way:
                future.set_result(square(task))

    class Waiting:
        def submit(self, measure, task):
            future = Future()
            under_way.append((future, task))
            return future

    def interrupted():
        yield TASKS[0]
        raise KeyboardInterrupt

    found = []
    workers = Finishing(executor=lambda width: Waiting())
    with pytest.raises(KeyboardInterrupt):
        Engine(workers, square, Tasks(interrupted(), found.extend), 60.0).run()
    assert found == [(TASKS[0], square(TASKS[0]))]


def test_results_whose_keeping_an_interrupt_ends_are_passed_on_again():
    calls = []

    def done(pairs):
        calls.append([task for task, _ in pairs])
        if len(calls) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Engine(Answered(answers_then(ValueError())), square, Tasks(TASKS[:3], done), 60.0).run()
    assert calls == [TASKS[:3]] * 2


def test_a_pool_is_an_executor_of_processes():
    workers = Pool(1)
    executor = workers.open()
    try:
        assert isinstance(executor, ProcessPoolExecutor)
        assert executor.submit(os.getpid).result() != os.getpid()
    finally:
        workers.close()
