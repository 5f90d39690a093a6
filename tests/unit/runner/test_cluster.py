"""Workers of a Dask cluster of real processes, with tasks that need no lab.

A worker has Dask's nanny, a second process that starts it again, where one dies or its scheduler does; the others do without.
"""

import gc
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from slownet.model.errors import SweepError
from slownet.runner.boot_store.task import reason
from slownet.runner.engine import Engine
from slownet.sweep.cluster import Dask

HERE = str(Path(__file__).parent)
ALONE = "--no-nanny"


@dataclass(frozen=True)
class Number:
    """A task of one number."""

    value: int
    kill: str = ""

    def split(self):
        return [self]


def square(task):
    if task.kill == "always" or (task.kill and not os.path.exists(task.kill)):
        if task.kill != "always":
            open(task.kill, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return task.value**2


@pytest.fixture(autouse=True)
def collected():
    """Collect the sockets that Dask leaves when its scheduler dies while it connects: other tests would get the blame."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@contextmanager
def started(*words):
    """A process of Dask's that ends with the test."""
    environment = {**os.environ, "PYTHONPATH": HERE, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduler(file, port=0):
    words = ["distributed.cli.dask_scheduler", "--scheduler-file", str(file), "--port", str(port), "--no-dashboard"]
    with started(*words, "--host", "127.0.0.1") as process:
        while not file.exists():
            assert process.poll() is None
            time.sleep(0.05)
        yield process


@contextmanager
def worker(file, *options):
    words = ["distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard"]
    with started(*words, "--death-timeout", "60", *options) as process:
        yield process


def measure(workers, tasks):
    found, aside = [], []
    Engine(workers, square, Tasks(tasks, lambda pairs: found.extend(result for _, result in pairs), aside), 60.0).run()
    return sorted(found), aside


class Tasks:
    """A policy: these tasks in their order."""

    def __init__(self, tasks, done, aside=None):
        self._tasks, self.done, self._aside = iter(tasks), done, aside

    def next(self):
        return next(self._tasks, None)

    def failed(self, task, error):
        assert self._aside is not None, reason(error)
        self._aside.append((task.value, reason(error)))
        return []


def test_tasks_go_to_the_labs_that_workers_declare(tmp_path):
    """A worker that dies takes nothing along; a task that always kills its worker is set aside."""
    file = tmp_path / "scheduler.json"
    tasks = [Number(each) for each in range(8)]
    tasks[3] = Number(3, str(tmp_path / "once"))
    tasks[5] = Number(5, "always")
    with scheduler(file), worker(file, "--resources", "lab=2", "--nthreads", "2"), worker(file):
        workers = Dask(scheduler_file=file)
        workers.open()
        assert workers.width == 2
        workers.close()
        found, aside = measure(workers, tasks)
    assert found == [each**2 for each in range(8) if each != 5]
    ((value, why),) = aside
    assert value == 5
    assert why.startswith("KilledWorker")
    assert (tmp_path / "once").exists()


def test_a_scheduler_that_is_started_again_loses_nothing(tmp_path):
    file, port = tmp_path / "scheduler.json", 8_700 + os.getpid() % 1000
    with scheduler(file, port) as first:
        workers = Dask(scheduler_file=file)
        with worker(file, "--resources", "lab=1"):
            found = []

            def done(pairs):
                found.extend(result for _, result in pairs)
                if len(found) == 3:
                    os.kill(first.pid, signal.SIGKILL)
                    first.wait()
                    file.unlink()
                    again.__enter__()
                    more.__enter__()

            again, more = scheduler(file, port), worker(file, "--resources", "lab=1")
            try:
                Engine(workers, square, Tasks(map(Number, range(10)), done), 60.0).run()
            finally:
                more.__exit__(None, None, None)
                again.__exit__(None, None, None)
    assert sorted(found) == [each**2 for each in range(10)]


@pytest.mark.parametrize("options", [[], ["--resources", "gpu=1"]])
def test_a_cluster_without_labs_is_one_line(tmp_path, options):
    file = tmp_path / "scheduler.json"
    with (
        scheduler(file),
        worker(file, ALONE, *options),
        pytest.raises(SweepError, match="no worker of the cluster has the resource lab"),
    ):
        Dask(scheduler_file=file, answer_s=3).open()


class Road:
    """A TCP road to a scheduler, on which traffic can stop: the ends stay connected and hear nothing."""

    def __init__(self, port):
        self.far, self.moves, self.stopped, self.opened = ("127.0.0.1", port), True, set(), 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._peers, self._ends = {}, False
        self.address = f"tcp://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._carry, daemon=True)

    def stop_all(self):
        """Stop what is on its way on all connections of now; later ones move."""
        self.stopped |= set(self._peers)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ends = True
        self._thread.join()
        for each in (self._listening, *self._peers):
            each.close()

    def _carry(self):
        while not self._ends:
            moving = [each for each in self._peers if self.moves and each not in self.stopped]
            with selectors.DefaultSelector() as selector:
                for each in (self._listening, *moving):
                    selector.register(each, selectors.EVENT_READ)
                for key, _ in selector.select(0.05):
                    self._one(key.fileobj)

    def _one(self, end):
        if end is self._listening:
            near, far = end.accept()[0], socket.create_connection(self.far)
            self._peers |= {near: far, far: near}
            self.opened += 1
        elif end in self._peers:
            other = self._peers[end]
            with suppress(OSError):
                if data := end.recv(1 << 16):
                    other.sendall(data)
                    return
            for each in (end, other):
                del self._peers[each]
                each.close()


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_network_that_stalls_loses_nothing_and_counts_nothing_twice(tmp_path, comes_back):
    """Traffic stops for longer than the patience, or comes back before."""
    file, port = tmp_path / "scheduler.json", 9_300 + os.getpid() % 300
    found, opened, passed = [], [], threading.Event()
    with scheduler(file, port), worker(file, ALONE, "--resources", "lab=1"), Road(port) as road:

        def done(pairs):
            found.extend(result for _, result in pairs)
            if len(found) >= 3 and not passed.is_set():
                passed.set()
                if comes_back:
                    road.moves = False
                    threading.Timer(1.0, setattr, (road, "moves", True)).start()
                else:
                    road.stop_all()

        first = Dask(scheduler_file=file, answer_s=60)
        first.open()  # waits for the worker, however long that takes to start
        first.close()
        workers = Dask(road.address, answer_s=5, opened=lambda labs, dashboard: opened.append(labs))
        patience_s = 60.0 if comes_back else 1.5
        Engine(workers, square, Tasks(map(Number, range(12)), done), patience_s).run()
    assert passed.is_set()
    assert (len(opened) == 1) is comes_back
    assert sorted(found) == [each**2 for each in range(12)]


def test_a_cluster_that_does_not_answer_is_one_line():
    with pytest.raises(SweepError, match=r"the cluster tcp://127.0.0.1:1 does not answer"):
        Dask("tcp://127.0.0.1:1", answer_s=1).open()


def test_a_scheduler_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(SweepError, match="no file"):
        Dask(scheduler_file=tmp_path / "none.json")


def test_a_worker_of_another_version_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr("slownet.sweep.cluster.__version__", "9.9")
    file = tmp_path / "scheduler.json"
    said = r"worker tcp://127.0.0.1:\d+ has slownet 0.1.0, not 9.9"
    with scheduler(file), worker(file, ALONE, "--resources", "lab=1"), pytest.raises(SweepError, match=said):
        Dask(scheduler_file=file).open()
