"""In a process whose tests another one runs, or that runs tests for another one: what pytest-xdist and other plugins expect."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from slownet.lab.host import native
from slownet.model.shapes import Json
from slownet.pytest_plugin.forwarding import is_forwarded
from slownet.pytest_plugin.timeouts import has_plugin

STATUS = pytest.StashKey[int]()
"""The exit status of a session that ran elsewhere."""


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process runs tests for another one."""
    return hasattr(config, "workerinput") and not is_forwarded(config)


def distributes(config: pytest.Config) -> bool:
    """Return whether this process has workers that run its tests."""
    return bool(getattr(config.option, "tx", None)) and getattr(config.option, "dist", "no") != "no"


def settle(config: pytest.Config) -> None:
    """Correct what the controller assumes wrongly about a worker in a lab.

    The lab lacks the folder that the controller chose for temporary files. And it has its own host name but shares the
    controller's folders: pytest-cov would treat it as another machine and combine all coverage data there, including unfinished
    files of other workers; the controller does that at the end.
    """
    if not native.inside_lab():
        return
    basetemp = config.getoption("basetemp", None)
    if basetemp:
        Path(basetemp).parent.mkdir(parents=True, exist_ok=True)
    given: dict[str, Json] = config.workerinput  # type: ignore[attr-defined]
    if "cov_master_host" in given:
        given["cov_master_host"] = socket.gethostname()


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
    return sys.modules[name] if has_plugin(config, name) and hasattr(sys.modules[name], attribute) else None


def status(config: pytest.Config, own: Any) -> Any:
    """Return the exit status of a process's session: its own, unless the session ran elsewhere."""
    return config.stash.get(STATUS, own)
