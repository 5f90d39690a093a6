"""Figures of sweeps for `make bench`: labs in parallel, the scheduling of a cell, a large cluster, and opening the samples."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from slownet.judge.records import sweep_samples
from slownet.judge.records.rows import SweepSample
from slownet.runner.boot_store.sweep_store import Store
from slownet.runner.boot_store.task import Result, Task
from slownet.runner.engine import Engine, Workers
from slownet.runner.where import Where
from slownet.runner.workers import Pool
from slownet.sweep.cluster import Dask

Say = Callable[[str, str, str], None]
Timed = Callable[..., tuple[float, str]]
CELLS, WORKERS, TOGETHER = 100_000, 1_000, 16
DELAYS = "rtt=0:75:5ms"
PING_AND_AB = """
from slownet import TwoHosts, ab, experiment, ping
from slownet.services.files import StaticPage

@experiment(topology=TwoHosts, service=StaticPage, vary={"tool": ["ping", "ab"], "rtt": ["0ms", "40ms"]}, tdf="inf")
def ping_and_ab(net, page, tool, rtt):
    with net.link("client", "server").set(rtt=rtt):
        if tool == "ping":
            return ping(net["client"], net["server"].IP(), count=10)
        return ab(net["client"], page.url, requests=50)
"""
FIVE_HUNDRED = ("--vary", "tool=ping,ab", "--vary", "rtt=0:249:1ms")
Numbers = dict[tuple[str, int], Any]


def stub(task: Task) -> Result:
    """Return what a lab would, without one."""
    return Result(tuple(_sample(task, number) for number in range(len(task))), {}, "stub")


def _sample(task: Task, number: int) -> SweepSample:
    cell, unit = task.cells[number], task.units[number]
    times = [10.0 + (hash(unit) % 1000) / 100 + each / 10 for each in range(25)]
    metrics = {
        name: {"mean": times[12], "sd": 0.7, "n": 25, "values": times} for name in ("time_per_request_ms", "time_p99_ms")
    }
    return {
        "experiment": "stub", "cell": cell, "condition": {"rtt_ms": float(cell["rtt"][:-2])}, "index": number, "tool": "ab",
        "status": "ok", "error": None, "metrics": metrics, "boot": 1, "block": 1, "lab": 1, "random": False, "seeds": [],
        "virtual_s": 1.0, "wall_s": 1.0, "raw": [],
        "unit": unit, "output": {"000-ab.txt": b"Time per request: 12.5 [ms] (mean)\n" * 40},
    }  # fmt: skip


def tasks(cells: int, together: int) -> Iterator[Task]:
    for start in range(0, cells, together):
        numbers = range(start, min(start + together, cells))
        yield Task(
            "stub", tuple({"rtt": f"{each}ms"} for each in numbers), tuple(f"{each:032}" for each in numbers), 1, 1, Where()
        )


def measured(workers: Workers, folder: Path, cells: int, together: int) -> float:
    """Measure cells by stubs into a store; return the seconds from the first task to the last sample."""
    with Store(folder) as store:
        store.describe({"circumstances": {"experiment": "stub"}})
        policy = Stored(list(tasks(cells, together)), store)
        began = time.monotonic()
        Engine(workers, stub, policy, 600.0).run()
        took = time.monotonic() - began
        assert len(store.done) == cells
    return took


class Stored:
    """A policy: these tasks in their order, whose samples are stored."""

    def __init__(self, tasks: Sequence[Task], store: Store) -> None:
        self._tasks, self._store = iter(tasks), store

    def next(self) -> Task | None:
        return next(self._tasks, None)

    def done(self, results: list[tuple[Task, Result]]) -> None:
        self._store.append([result.samples for _, result in results])

    def failed(self, task: Task, error: BaseException) -> list[Task]:
        raise error


def labs(say: Say, timed: Timed) -> None:
    """Compare one lab and two: their speed and their numbers."""
    with tempfile.TemporaryDirectory() as home:
        numbers, rates = _with_one_and_two(Path(home), timed, "client_delay", ("--vary", DELAYS))
        for count, rate in rates.items():
            say(f"sweep of client_delay, labs: {count}", f"{rate:.1f} a min", "cells, with start and report")
            say("    wall time of a cell", f"{60 / rate:.2f} s", "under 1.5 s after warm-up")
        say("2 labs' cells a minute / 1 lab's", f"{rates[2] / rates[1]:.2f}", "at least 1.8 on 2 idle processors")
        say("samples that differ between 1 and 2 labs", _differing(numbers), "by 1 us at most: MariaDB's threads are random")
        Path(home, "ping_and_ab.py").write_text(PING_AND_AB)
        numbers, rates = _with_one_and_two(Path(home), timed, "ping_and_ab.py", FIVE_HUNDRED)
        say("500 cells of ping and ab, 2 labs", f"{60 * 500 / rates[2]:.0f} s", "under 360 s on 2 processors")
        say("samples that differ between 1 and 2 labs", _differing(numbers), "0")


def _with_one_and_two(
    home: Path, timed: Timed, experiment: str, vary: Sequence[str]
) -> tuple[dict[int, Numbers], dict[int, float]]:
    """Sweep with one lab and with two; return the samples' metrics and the cells a minute of each."""
    numbers, rates = {}, {}
    for count in (1, 2):
        out = f"{Path(experiment).stem}-{count}"
        words = ["sweep", experiment, *vary, "--tdf", "inf", "--labs", str(count), "--out", out, "--json"]
        seconds, text = timed(words, home)
        rates[count] = 60 * len(json.loads(text)["cells"]) / seconds
        samples = sweep_samples.read_samples(home / out)
        numbers[count] = {(json.dumps(each["cell"]), each["block"]): each["metrics"] for each in samples}
    return numbers, rates


def _differing(numbers: dict[int, Numbers]) -> str:
    """Say how many samples differ, and by how much at most: the means in ms."""
    one, two = numbers[1], numbers[2]
    differing = [key for key in one if one[key] != two[key]]
    by = [
        abs(metric["mean"] - two[key][name]["mean"])
        for key in differing
        for name, metric in one[key].items()
        if name.endswith("_ms")
    ]
    return f"{len(differing)} of {len(one)}" + (f", by {max(by):.4f} ms" if by else "")


def scheduling(say: Say) -> None:
    """Measure what a cell costs apart from its lab: a task of its own, to a process and back, into the store."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "start").mkdir()
        start = measured(Pool(2), Path(home, "start"), 2, 1)
        seconds = measured(Pool(2), Path(home, "cells"), 2000, 1) - start
        say("scheduling and storing a cell, each its own task", f"{1000 * seconds / 2000:.1f} ms", "under 20 ms")


def cluster(say: Say) -> None:
    """Measure 100,000 cells by 1,000 Dask workers without labs: time, and memory of client and scheduler."""
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "scheduler.json")
        words = [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--scheduler-file",
            file,
            "--no-dashboard",
            "--port",
            "0",
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        with subprocess.Popen([*words, "--host", "127.0.0.1"], env=environment, **quiet) as scheduler:  # type: ignore[call-overload]
            try:
                while not file.exists():
                    time.sleep(0.1)
                many = [sys.executable, __file__, str(file), str(WORKERS)]
                with subprocess.Popen(many, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as workers:
                    try:
                        assert workers.stdout
                        if not workers.stdout.readline():  # all are there
                            sys.exit("bench: the workers did not start")
                        seconds = measured(Dask(scheduler_file=file), Path(home, "out"), CELLS, TOGETHER)
                        memory = _peak_mb(scheduler.pid)
                    finally:
                        workers.kill()
            finally:
                scheduler.kill()
        what = f"{CELLS:,} cells, {WORKERS:,} Dask workers, {TOGETHER} cells a boot"
        say(what, f"{seconds:.0f} s", f"{1000 * seconds / CELLS:.2f} ms a cell; stub labs, all on this machine")
        say("    memory of the client", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", "")
        say("    memory of the scheduler", f"{memory:.0f} MB", "")
        _opened(say, Path(home, "out"))


def _opened(say: Say, folder: Path) -> None:
    """Open 100,000 samples in a fresh process."""
    query = f"SELECT rtt_ms, avg(time_per_request_ms) FROM '{folder}/samples/*.parquet' GROUP BY rtt_ms"
    readers = {
        "pyarrow": f"import pyarrow.dataset as ds; print(ds.dataset('{folder}/samples').to_table().num_rows)",
        "DuckDB": f"import duckdb; print(len(duckdb.sql({query!r}).fetchall()))",
    }
    for name, code in readers.items():
        timer = f"import time; began = time.monotonic(); {code}; print(time.monotonic() - began)"
        done = subprocess.run([sys.executable, "-c", timer], capture_output=True, text=True, check=False)
        lines = done.stdout.split()
        said = f"{float(lines[1]):.2f} s" if len(lines) == 2 and int(lines[0]) == CELLS else "not there"
        say(f"open {CELLS:,} samples with {name}", said, "under 1 s, with its import")


def _peak_mb(pid: int) -> float:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


async def many_workers(file: str, count: int) -> None:
    """Run workers of a cluster in this one process, until it is killed."""
    import dask
    from distributed import Worker

    # A thousand monitors and profilers in one process would be all that it does; each has a machine of its own otherwise.
    dask.config.set({"distributed.worker.profile.enabled": False, "distributed.admin.system-monitor.interval": "10m"})
    options = {"nthreads": 1, "resources": {"lab": 1}, "memory_limit": 0, "dashboard": False, "local_directory": f"{file}.d"}
    made = [Worker(scheduler_file=file, **options) for _ in range(count)]
    for start in range(0, count, 50):
        await asyncio.gather(*made[start : start + 50])
    print("there", flush=True)
    await asyncio.gather(*(each.finished() for each in made))


if __name__ == "__main__":
    asyncio.run(many_workers(sys.argv[1], int(sys.argv[2])))
