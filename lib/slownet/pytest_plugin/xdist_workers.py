"""pytest-xdist: each worker runs in a lab of its own if a test needs one.

The controller collects no tests itself, so if this machine cannot emulate a network, a forked copy of it collects first. If the
tests need several places, among them this machine for those that need no network, then pytest runs again for each, with workers
there. On one kernel (as root, or with several workers in a lab) the networks of all workers coexist: see `networks`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shlex
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slownet.lab.host import native
from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.clock import ClockRequest
from slownet.lab.run.events import Event
from slownet.lab.run.lab import MEGABYTES
from slownet.lab.run.place import own_path
from slownet.model.errors import SlownetError
from slownet.model.facts import Facts
from slownet.pytest_plugin import exports, projects, records, session, session_summary, staging
from slownet.pytest_plugin.messages import say
from slownet.pytest_plugin.readable_folders import Shares
from slownet.pytest_plugin.wishes import CONFINED, KERNEL, MEMORY, of_a_place, of_session, option_names_here
from slownet.pytest_plugin.worker_process import STATUS


class Workers:
    """Starts the workers' interpreters in labs."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: pytest.Session | None = None
        self._held: session.HeldBack | None = None
        self._in_labs = False
        self._staging: staging.Staging | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None, object, object]:
        self._session = session
        self._hold()
        try:
            return (yield)
        finally:
            self._show()

    def _hold(self) -> None:
        self._held = session.HeldBack(self._config)

    def _show(self) -> None:
        if self._held:
            self._held.show()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config, specs: Sequence[Any]) -> None:
        assert self._session
        collected = Collected() if native.inside_lab() else _collected_by_a_copy(self._session)
        groups = session.with_the_rest(session.group_by_place(collected.wishes, config), collected.rest)
        if any(place.clock.is_exact for _, place in groups):
            raise session.not_on_the_exact_clock("workers (-n) are", "-n")
        if len(groups) > 1:
            assert self._held
            self._held.forget()
            self._show()
            config.stash[STATUS] = session.run(config, groups)
            raise self._session.Failed  # ends this process's session before it has workers, without a word
        self._show()
        if not groups or groups[0][1].kind == "native":
            return
        ((_, place),) = groups
        self._in_labs = True
        projects.hand_over(config, collected.projects)
        try:
            command = self._command(config, collected.wishes[0], {**place.facts, **place.clock.facts})
        except SlownetError as error:
            with option_names_here():
                raise pytest.UsageError(f"slownet: {error}") from error
        distrust_warnings()
        for spec in specs:
            if spec.popen and not spec.python:
                spec.python = shlex.join(command)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self._in_labs:
            node.gateway.spec.popen = None  # keeps the lab's sys.path instead of sending this process's

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        if self._in_labs:
            node.gateway.spec.popen = True

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Carry a worker's coverage data, before pytest-cov combines it; its lab ends later.

        pytest-cov would run what a worker sent in its place, as SQL; a worker that `settle` prepared sends none.
        """
        if self._staging:
            with contextlib.suppress(AttributeError):  # a worker that died sends nothing
                node.workeroutput.pop("cov_worker_data", None)
            self._staging.carry_coverage()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if file := (inside.handed_over().get("only") or {}).get("summary"):
            session_summary.write(self._config, Path(file), session.testsfailed)
            session_summary.withhold(self._config)
        if self._staging:
            try:
                say(self._config, self._staging.carry().lines(self._config.rootpath))
            finally:
                self._staging.close()
                self._staging = None
        records.draw(self._config)

    def _command(self, config: pytest.Config, wish: ClockRequest, facts: Facts) -> list[str]:
        """Return the command that starts an interpreter in a lab; the interpreter's arguments follow. Raises SlownetError."""
        plan = exports.planned(config)
        say(config, staging.recover(config, plan))
        shared = Shares(config, plan)
        self._staging = staging.Staging(plan, shared.trees)
        shares = [(str(each.path), each.writable, each.at) for each in [*shared.all(), self._staging.share]]
        env = session.environment(config, facts, inside.handed_over().get("only"), self._staging.handed())
        job = {
            "clock": wish.clock,
            "tdf": wish.tdf,
            "cpu": wish.cpu,
            "free": wish.cpu_may_be_free,
            "confined": config.getoption(CONFINED),
            "kernel": config.getoption(KERNEL),
            "megabytes": config.getoption(MEMORY) or MEGABYTES,
            "root": str(config.rootpath),
            "shares": shares,
            "env": {name: value for name, value in env.items() if os.environ.get(name) != value},  # a command line is public
        }
        return ["env", f"PYTHONPATH={own_path()}", sys.executable, "-m", "slownet.pytest_plugin.pytest_worker", json.dumps(job)]


def distrust_warnings() -> None:
    """Make pytest-xdist build only warnings of what workers send: it would import any module, and call what they name in it."""
    from xdist import workermanage  # type: ignore[import-untyped]

    unserialize = workermanage.unserialize_warning_message
    if not hasattr(unserialize, "__wrapped__"):

        @functools.wraps(unserialize)
        def build(data: Event) -> Any:
            if not _is_warning(data, "message"):
                data |= {"message_module": None, "message_str": ascii(data["message_str"])}
            if not _is_warning(data, "category"):
                data |= {"category_module": "builtins", "category_class_name": "Warning"}
            return unserialize(data)

        workermanage.unserialize_warning_message = build


def _is_warning(data: Event, what: str) -> bool:
    """Return whether a worker names a kind of warning that this process knows."""
    module = sys.modules.get(str(data[f"{what}_module"]))
    kind = vars(module).get(str(data[f"{what}_class_name"])) if module else None
    return isinstance(kind, type) and issubclass(kind, Warning)


@dataclass(frozen=True)
class Collected:
    """The requests of the collected tests."""

    wishes: Sequence[ClockRequest] = ()
    """Of the tests with a network."""
    rest: bool = False
    """True if there are tests without one."""
    projects: Sequence[projects.Named] = ()
    """The compose projects that tests name."""


def _collected_by_a_copy(own: pytest.Session) -> Collected:
    """Return what the tests want; nothing if the copy could not collect, which the workers will report. Raises UsageError."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _collect(own, writer)
    os.close(writer)
    with open(reader, encoding="utf-8") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    found = json.loads(text or "{}")
    if found.get("error"):
        raise pytest.UsageError(f"slownet: {found['error']}")
    named = [(tuple(files), tuple(profiles)) for files, profiles in found.get("projects", ())]
    return Collected([ClockRequest(*each) for each in found.get("wishes", ())], found.get("rest", False), named)


def _collect(copy: pytest.Session, writer: int) -> None:
    """Collect silently in the forked copy, send what the tests want and exit."""
    answer: dict[str, object] = {}
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        copy.perform_collect()
        of_session(copy.config)
        wishes = session.wishes_of(copy.items)
        answer["wishes"] = [(each.clock, each.tdf, each.cpu) for each in wishes]
        answer["projects"] = projects.of(copy.items)
        answer["rest"] = not all(map(of_a_place, copy.items))
    except SlownetError as error:
        with option_names_here():
            answer["error"] = str(error)
    finally:
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
