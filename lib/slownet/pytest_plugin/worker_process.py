"""In a process whose tests another one runs, or that runs tests for another one: what pytest-xdist and other plugins expect."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from slownet.lab.host import native
from slownet.lab.run import pytest_inside as inside
from slownet.model.shapes import Json
from slownet.pytest_plugin import timeouts
from slownet.pytest_plugin.forwarding import is_forwarded
from slownet.pytest_plugin.relayed_reports import WAIT

STATUS = pytest.StashKey[int]()
"""The exit status of a session that ran elsewhere."""
READ_S = 0.001
"""On the lab's clock: meanwhile a thread reads what the controller sent."""


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process runs tests for another one."""
    return hasattr(config, "workerinput") and not is_forwarded(config)


def distributes(config: pytest.Config) -> bool:
    """Return whether this process has workers that run its tests."""
    return bool(getattr(config.option, "tx", None)) and getattr(config.option, "dist", "no") != "no"


def make_parents(basetemp: str | None) -> None:
    """Make the folders above that for temporary files, which a lab lacks."""
    if basetemp:
        Path(basetemp).parent.mkdir(parents=True, exist_ok=True)


def settle(config: pytest.Config) -> None:
    """Correct what the controller assumes wrongly about a worker in a lab.

    The lab lacks the folder that the controller chose for temporary files. And it has its own host name but shares the
    controller's folders: pytest-cov would treat it as another machine and combine all coverage data there, including unfinished
    files of other workers; the controller does that at the end.
    """
    if not native.inside_lab():
        return
    make_parents(config.getoption("basetemp", None))
    given: dict[str, Json] = config.workerinput  # type: ignore[attr-defined]
    if "cov_master_host" in given:
        given["cov_master_host"] = socket.gethostname()
    if os.environ.get(inside.WORKER) == str(os.getpid()):  # not one of a session that a test began
        timeouts.register(config)
        if native.clock_is_virtual():
            config.pluginmanager.register(Waiting(), "slownet waiting")


class Waiting:
    """Lets a lab on a virtual clock stand still while its worker has no test to run.

    Nothing else runs there then, so that its clock would go from timer to timer as fast as a processor can, for all the time
    that other workers' labs take to start or their tests to end: a million seconds in one, and a whole processor.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Say so whenever xdist's queue of this worker is empty; a version that has no such queue is left as it is."""
        for plugin in session.config.pluginmanager.get_plugins():
            queue: Any = getattr(plugin, "torun", None)
            if hasattr(queue, "get") and hasattr(queue, "lock"):
                queue.get = partial(_next_of, queue, queue.get)


def _next_of(queue: Any, get: Callable[[], Any]) -> Any:
    while True:
        with queue.lock() as items:
            if items:
                break
        inside.send({"event": WAIT})
        time.sleep(READ_S)
    return get()


def stand_in_for_controller(config: pytest.Config) -> None:
    """Give plugins what their half in the controller sends to workers, before they look for it.

    Two count in the controller's process, at a port of loopback: a lab has a loopback of its own. And the session of a single
    lab has no controller.
    """
    given: dict[str, Json] | None = getattr(config, "workerinput", None)
    if given is None:
        return
    if reruns := _module(config, "pytest_rerunfailures", "ServerStatusDB"):
        server = reruns.ServerStatusDB()
        server.sock.listen()  # its own thread does so later, perhaps too late
        given |= {"sock_port": server.sock_port, "statusdb_token": getattr(server, "token", "")}
    if retries := _module(config, "pytest_retry.retry_plugin", "ReportServer"):
        server = retries.ReportServer()
        given["server_port"] = server.initialize_server()
        server.sock.listen()
    given.setdefault("randomly_seed", getattr(config.option, "randomly_seed", None))


def _module(config: pytest.Config, name: str, attribute: str) -> Any:
    """Return a plugin by its module, whatever name pytest has it under, if it exists and has that attribute."""
    return sys.modules[name] if timeouts.has_plugin(config, name) and hasattr(sys.modules[name], attribute) else None


def status(config: pytest.Config, own: Any) -> Any:
    """Return the exit status of a process's session: its own, unless the session ran elsewhere."""
    return config.stash.get(STATUS, own)
