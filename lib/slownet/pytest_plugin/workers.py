"""pytest-xdist: every worker is a lab of its own, if a test needs one.

The controller cannot know before the workers have collected, so a copy of it collects first, where this machine cannot
emulate a network. In one kernel (as root, or several workers in a lab) networks take turns: see `networks`.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from slownet.errors import SlownetError
from slownet.lab import native
from slownet.lab.place import PACKAGE
from slownet.pytest_plugin import records, session
from slownet.pytest_plugin.shares import Shares
from slownet.pytest_plugin.wishes import Wish, needs_network, of_item


def is_worker(config: pytest.Config) -> bool:
    """Whether this process runs tests for another one."""
    return hasattr(config, "workerinput")


def distributes(config: pytest.Config) -> bool:
    """Whether this process has workers that run its tests."""
    return bool(getattr(config.option, "tx", None)) and getattr(config.option, "dist", "no") != "no"


def settle(config: pytest.Config) -> None:
    """What a worker in a lab has otherwise than the controller thinks.

    It lacks the folder that the controller names for temporary files. And it has a host's name of its own, but the
    controller's folders: pytest-cov would take it for another machine, and combine its data with all that it finds in
    them, half-written ones of other workers too; the controller does that at the end.
    """
    if not native.inside_lab():
        return
    basetemp = config.getoption("basetemp", None)
    if basetemp:
        Path(basetemp).parent.mkdir(parents=True, exist_ok=True)
    given: dict[str, Any] = config.workerinput  # type: ignore[attr-defined]
    if "cov_master_host" in given:
        given["cov_master_host"] = socket.gethostname()


class Workers:
    """Puts the interpreters of the workers into labs."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: pytest.Session | None = None
        self._in_labs = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config, specs: Sequence[Any]) -> None:
        assert self._session
        if native.inside_lab():
            return
        wishes = _collected_by_a_copy(self._session)
        if not wishes:
            return
        groups = session.together(wishes)
        if len(groups) > 1:
            clocks = " and ".join(str(alike[0]) for alike, _ in groups)
            raise pytest.UsageError(
                f"slownet: tests of one distributed session ask for {clocks}: run them apart, or without -n"
            )
        ((_, place),) = groups
        if place.kind == "native":
            return
        self._in_labs = True
        command = _command(config, wishes[0], {**place.facts, **place.clock.facts})
        for spec in specs:
            if spec.popen and not spec.python:
                spec.python = shlex.join(command)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self._in_labs:
            node.gateway.spec.popen = None  # its sys.path is the lab's, not this process's

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        if self._in_labs:
            node.gateway.spec.popen = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        records.draw(self._config)


def _command(config: pytest.Config, wish: Wish, facts: dict[str, Any]) -> list[str]:
    """What starts an interpreter in a lab; its arguments follow."""
    shares = [(str(each.path), each.writable) for each in Shares(config).all()]
    job = {
        "clock": wish.clock,
        "tdf": wish.tdf,
        "cpu": wish.cpu,
        "shares": shares,
        "env": session.environment(config, facts, None),
    }
    path = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]))
    return ["env", f"PYTHONPATH={path}", sys.executable, "-m", "slownet.pytest_worker", json.dumps(job)]


def _collected_by_a_copy(session: pytest.Session) -> list[Wish]:
    """The clocks that tests with a network ask for; none if the copy could not collect, as the workers will say then.

    Raises UsageError.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _collect(session, writer)
    os.close(writer)
    with open(reader, encoding="utf-8") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    found = json.loads(text or "{}")
    if found.get("error"):
        raise pytest.UsageError(f"slownet: {found['error']}")
    return [Wish(*each) for each in found.get("wishes", ())]


def _collect(session: pytest.Session, writer: int) -> None:
    """In the copy: collects without a word, says what it found, and is gone."""
    answer: dict[str, Any] = {}
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        session.perform_collect()
        wishes = dict.fromkeys(of_item(item) for item in session.items if needs_network(item))
        answer["wishes"] = [(each.clock, each.tdf, each.cpu) for each in wishes]
    except SlownetError as error:
        answer["error"] = str(error)
    finally:
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
