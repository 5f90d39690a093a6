"""Workers of a Dask cluster: `dask worker --nthreads 1 --resources lab=1 ADDRESS` on each machine, or all of them here.

A worker takes as many tasks at a time as it declares labs: Dask sees the memory of its own process only, not that of labs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType
from typing import Any

from slownet.model.errors import SweepError
from slownet.model.options import Option
from slownet.model.version import __version__

LOCAL = "local"
RESOURCE = "lab"
OPTION = Option("cluster")
DASK = "'bokeh>=3.1' 'distributed>=2025.1'"
"""The packages of the extra "cluster": named by themselves, because slownet need not be on the index that pip asks."""
ANSWER_S = 20.0
"""The timeouts of a scheduler's answer and of its first worker."""
PATIENCE = 10
"""The factor by which the wait for a cluster that has answered before is longer: it may be restarting."""
NOISY = ("distributed.client", "distributed.core", "distributed.utils", "distributed.utils_comm")
"""Dask's loggers that print tracebacks of a lost scheduler, which is not an error here."""
AGAIN_S = 10.0
"""The interval between counts of the workers."""
START = "start workers with: dask worker --nthreads 1 --resources lab=1 ADDRESS"


class Dask:
    """The workers of a cluster, for `slownet.runner.engine.Engine`.

    address: the scheduler's, ``tcp://host:8786``; ``"local"`` starts a cluster on this machine.
    scheduler_file: instead of the address: the file that ``dask scheduler --scheduler-file`` wrote.
    labs: of a local cluster: how many workers, each with one lab.
    answer_s: how long to wait for the scheduler and its first worker.
    opened: gets the number of labs and the address of the dashboard, each time that there is a connection.
    """

    def __init__(
        self, address: str = "", scheduler_file: Path | None = None, labs: int = 1, answer_s: float = ANSWER_S,
        opened: Callable[[int, str], None] = lambda labs, dashboard: None,
    ) -> None:  # fmt: skip
        self._opened = opened
        self._dask: Any = _installed()
        check(address, scheduler_file)
        self._address, self._file, self._labs, self._answer_s = address, scheduler_file, labs, answer_s
        self._wait_s = answer_s
        self._client: Any = None
        self._cluster: Any = None
        self._width, self._counted = 0, 0.0
        for name in NOISY:
            logging.getLogger(name).setLevel(logging.CRITICAL)

    @property
    def width(self) -> int:
        """The number of labs of the cluster, which may grow and shrink."""
        if self._client and time.monotonic() - self._counted > AGAIN_S:
            self._width, self._counted = max(1, self._labs_of(self._client)), time.monotonic()
        return self._width or self._labs

    def open(self) -> Executor:
        """Connect to the cluster. Raises SweepError if it does not answer, has no labs, or runs another version."""
        named = {"scheduler_file": str(self._file)} if self._file else {"address": self._address}
        try:
            if self._address == LOCAL and not self._file:
                named = {"address": self._started()}
            self._client = self._dask.Client(**named, timeout=self._wait_s, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            self.close()
            name = self._file or self._address
            what = " ".join(str(error).split())[:200] or type(error).__name__
            raise SweepError(
                f"the cluster {name} does not answer: {what}", OPTION, "start dask scheduler, or leave it out"
            ) from error
        try:
            self._wait_for_labs(self._client)
            _check_versions(self._client)
        except BaseException:
            self.close()
            raise
        self._wait_s = PATIENCE * self._answer_s
        self._opened(self._width, str(self._client.dashboard_link or ""))
        executor: Executor = self._client.get_executor(pure=False, resources={RESOURCE: 1}, retries=0)
        return executor

    def close(self) -> None:
        """Cancel what is under way and leave the cluster; a local one ends."""
        for each in (self._client, self._cluster):
            try:
                if each:
                    each.close(timeout=self._answer_s)
            except (OSError, TimeoutError, RuntimeError):  # the last one while it connects again
                pass  # its scheduler is gone
        self._client = self._cluster = None
        self._width, self._counted = 0, 0.0

    def is_fatal(self, error: BaseException) -> bool:
        """Return whether the task's worker died as often as the scheduler allows (``allowed-failures``)."""
        return isinstance(error, self._dask.scheduler.KilledWorker)

    def _started(self) -> str:
        self._cluster = self._dask.LocalCluster(
            n_workers=self._labs, threads_per_worker=1, memory_limit=None, resources={RESOURCE: 1}, dashboard_address=":0",
        )  # fmt: skip
        return str(self._cluster.scheduler_address)

    def _wait_for_labs(self, client: Any) -> None:
        deadline = time.monotonic() + self._wait_s
        while not (found := self._labs_of(client)):
            if time.monotonic() > deadline:
                raise SweepError("no worker of the cluster has the resource lab", OPTION, START)
            time.sleep(0.1)
        self._width, self._counted = found, time.monotonic()

    def _labs_of(self, client: Any) -> int:
        try:
            workers = client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError, KeyError):
            return 0
        return sum(int(each.get("resources", {}).get(RESOURCE, 0)) for each in workers.values())


def check(address: str, scheduler_file: Path | None) -> None:
    """Raise SweepError for a cluster that cannot be connected to, whatever it runs: before a lab is needed."""
    _installed()
    if address and scheduler_file:
        raise SweepError("a cluster has one scheduler", Option("scheduler_file"), f"leave out {Option('cluster')}")
    if scheduler_file and not scheduler_file.is_file():
        raise SweepError(f"no file {scheduler_file}", Option("scheduler_file"), "name the one that dask scheduler wrote")


def _installed() -> ModuleType:
    try:
        import distributed
    except ImportError as error:
        raise SweepError("Dask is not installed", OPTION, f"python -m pip install {DASK}") from error
    return distributed


def _check_versions(client: Any) -> None:
    """Raise SweepError, with the worker's name, if one has another version of slownet, or none."""
    try:
        workers = client.get_versions(packages=["slownet"])["workers"]
    except (OSError, TimeoutError) as error:
        raise SweepError(f"the cluster does not answer: {error}", OPTION) from error
    for name, found in workers.items():
        version = ((found or {}).get("packages") or {}).get("slownet")
        if version != __version__:
            what = f"worker {name} has slownet {version or 'not installed'}, not {__version__}"
            raise SweepError(what, OPTION, "install the same version there")
