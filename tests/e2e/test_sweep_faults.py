"""A sweep whose workers, labs and scheduler are killed at random, for as long as it takes."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import SLOWNET, slownet
from conftest import children_of
from test_sweep import FILE, means

from slownet.judge.records import sweep_samples
from slownet.runner.boot_store import sweep_store as stores

GRID = ["--vary", "rtt=10,20,30ms", "--vary", "loss=0,20%", "--repeat", "2", "--fresh"]
UNITS = 12


class Cluster:
    """A scheduler and two workers, each a process of its own, that are started again when they end, as by systemd."""

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "scheduler.json"
        self.port = 9_700 + os.getpid() % 1000
        self.workers = []

    def __enter__(self):
        self.start_scheduler()
        self.workers = [self._worker() for _ in range(2)]
        return self

    def _worker(self):
        return self._start("dask_worker", "--scheduler-file", self.file, "--nthreads", 1, "--resources", "lab=1")

    def attend(self):
        """Start workers again that ended with their scheduler."""
        self.workers = [self._worker() if each.poll() is not None else each for each in self.workers]

    def start_scheduler(self):
        self.file.unlink(missing_ok=True)
        self.scheduler = self._start(
            "dask_scheduler", "--scheduler-file", self.file, "--port", self.port, "--host", "127.0.0.1"
        )
        while not self.file.exists():
            assert self.scheduler.poll() is None
            time.sleep(0.05)

    def _start(self, name, *words):
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *map(str, words), "--no-dashboard"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd=self.folder,
        )  # fmt: skip

    def __exit__(self, *error):
        for each in (self.scheduler, *self.workers):
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()

    def kill_a_worker(self, chance):
        """Kill the process below a nanny, which starts another one."""
        self._kill([pid for each in self.workers for pid in children_of(each.pid) if "spawn_main" in command(pid)], chance)

    def kill_a_lab(self, chance):
        below = [pid for each in self.workers for worker in children_of(each.pid) for pid in of_threads(worker)]
        self._kill([pid for pid in below if "mem-fd=" in command(pid)], chance)

    def kill_the_scheduler(self, chance):
        self.scheduler.kill()
        self.scheduler.wait()
        self.start_scheduler()

    def _kill(self, pids, chance):
        with suppress(ProcessLookupError):
            if pids:
                os.kill(chance.choice(pids), signal.SIGKILL)


def command(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def of_threads(pid):
    """Return the children of all threads of a process."""
    found = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in each.read_text().split()]
    return found


def stored(folder):
    with suppress(OSError, stores.SweepError):
        return len(sweep_samples.read_samples(folder))
    return 0


@pytest.mark.long
@pytest.mark.parametrize("seed", [1])
def test_kills_at_random_change_no_number(built, tmp_path, seed):
    """Something is killed after every boot that is stored, and in between; the result is that of an undisturbed sweep."""
    (tmp_path / "echo.py").write_text(FILE)
    quiet = slownet("sweep", "echo.py", *GRID, "--out", "quiet", "--json", cwd=tmp_path)
    assert quiet.returncode == 0, quiet.stderr
    chance, killed = random.Random(seed), []
    with Cluster(tmp_path) as cluster:
        kinds = [cluster.kill_a_worker, cluster.kill_a_lab, cluster.kill_the_scheduler]
        words = [*SLOWNET, "sweep", "echo.py", *GRID, "--scheduler-file", str(cluster.file), "--out", "noisy", "--json"]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        output = []
        reader = threading.Thread(target=lambda: output.extend(process.communicate()))
        reader.start()
        while process.poll() is None:
            before, until = stored(tmp_path / "noisy"), time.monotonic() + 60
            while process.poll() is None and stored(tmp_path / "noisy") == before and time.monotonic() < until:
                cluster.attend()
                time.sleep(0.1)
            time.sleep(chance.uniform(0, 0.5))
            if process.poll() is None:
                kind = kinds[len(killed) % 3]  # each kind, in turn
                kind(chance)
                killed.append(kind.__name__)
        reader.join()
    assert process.returncode == 0, output
    printed = json.loads(output[0])
    assert (printed["new"], printed["aside"]) == (UNITS, [])
    assert len(killed) >= 3, killed
    assert means(tmp_path / "noisy") == means(tmp_path / "quiet")
