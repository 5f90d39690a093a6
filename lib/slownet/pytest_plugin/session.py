"""Runs a session again inside a lab if a collected test needs a network.

This process collects the tests and holds back its output. If no test needs a network, or this machine can emulate one itself,
the session continues here. Otherwise `slownet/pytest_inside.py` runs pytest once for each place, with the same arguments,
environment and working directory, and with this process's input, output, signals and exit status: here for the tests that need
no network, in a lab for those that do, and in another lab for each other clock that tests request.

The lab can read the session's rootdir and working directory, and the folders of sys.path. What tests write there stays in the
lab's memory (`slownet.pytest_inside`); .pytest_cache, coverage data, reports and what `[tool.slownet] write` names are carried
to where pytest leaves them (`staging`). Everything else, including /tmp, belongs to the lab and is lost with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from slownet import pytest_inside as inside
from slownet.errors import SlownetError
from slownet.lab import caller, foreground
from slownet.lab.boot import Share
from slownet.lab.clock import Clock
from slownet.lab.place import Place, choose
from slownet.pytest_plugin import exports, junit, projects, records, shares, staging
from slownet.pytest_plugin.wishes import Wish, needs_network, of_item, of_session

GOES_ON = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class Session:
    """Decides after collection where the tests run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._status: int | None = None
        self._held = HeldBack(config)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            result = yield
            projects.hand_over(self._config, projects.of(session.items))
            rest = not all(map(needs_network, session.items))
            groups = with_the_rest(together(self._wishes(session), self._config.rootpath), rest)
        except BaseException:
            self._held.show()
            raise
        if all(place.kind == "native" for _, place in groups) and len(groups) < 2:
            for _, place in groups:
                records.remember(place.facts, place.clock)
            self._held.show()
            return result
        self._held.forget()
        # From here on this process must report nothing: its plugins would overwrite the reports of the lab's.
        for hook in ("pytest_runtestloop", "pytest_sessionfinish"):
            _only(self._config, hook, self)
        self._status = run(self._config, groups)
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._held.show()
        if self._status is not None:
            session.exitstatus = self._status

    def _wishes(self, session: pytest.Session) -> list[Wish]:
        """Return the wishes of the tests with a network, the session's own first; none if the session cannot run."""
        if session.testsfailed and not self._config.option.continue_on_collection_errors:
            return []
        try:
            own = of_session(self._config)
            wishes = dict.fromkeys(of_item(item) for item in session.items if needs_network(item))
        except SlownetError as error:
            raise pytest.UsageError(f"slownet: {error}") from error
        return sorted(wishes, key=lambda wish: wish != own)


THIS_MACHINE = Place(Clock("real"), {})
"""Where tests run that need no network."""
Groups = Sequence[tuple[Sequence[Wish], Place]]
"""The places of a session, each with the wishes that it fulfils."""


def together(wishes: Iterable[Wish], root: Path | None = None) -> Groups:
    """Return the places for these wishes, in order. Wishes that amount to the same clock, such as "virtual" and a lab's
    default, share a place. root: the session's rootdir. Raises pytest.UsageError."""
    found: list[tuple[list[Wish], Place]] = []
    for wish in wishes:
        place = _place(wish, root)
        alike = [group for group, other in found if (other.kind, other.clock) == (place.kind, place.clock)]
        if alike:
            alike[0].append(wish)
        else:
            found.append(([wish], place))
    return found


def with_the_rest(groups: Groups, rest: bool) -> Groups:
    """Return the places of a session. The first one, this machine, also runs the tests that need no network, if there are
    any (rest)."""
    if not any(place.kind == "lab" for _, place in groups) or not rest:
        return groups
    native_ones = [group for group in groups if group[1].kind == "native"]
    labs = [group for group in groups if group[1].kind == "lab"]
    return [*(native_ones or [((), THIS_MACHINE)]), *labs]


def deselect_other_labs(config: pytest.Config, items: list[pytest.Item]) -> None:
    """If a session uses several labs, deselect the tests that run in another one."""
    mine = inside.handed_over().get("only")
    if not mine:
        return
    wishes = [Wish(*each) for each in mine["wishes"]]
    here = [item for item in items if (of_item(item) in wishes if needs_network(item) else mine["rest"])]
    if len(here) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in here])
        items[:] = here


def header() -> str:
    """Return the line of pytest's header that says where this session runs."""
    return f"slownet: in a lab, {records.clock()}, Linux {platform.release()}"


def environment(
    config: pytest.Config, facts: Mapping[str, Any], only: Mapping[str, Any] | None, walls: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return pytest's environment in the lab: this process's, without variables that describe this machine.

    walls: what the lab may write, None natively.
    """
    path = [str(each) for each in caller.import_path(config.invocation_params.dir)]
    handed = {"facts": facts, "only": only, "path": path, "test": os.environ.get(inside.TEST), "walls": walls}
    return {**caller.variables(), **projects.variables(config), inside.SESSION: json.dumps(handed)}


def _place(wish: Wish, root: Path | None) -> Place:
    try:
        return choose("auto", wish.clock, wish.tdf, cpu=wish.cpu, folder=root)
    except SlownetError as error:
        raise pytest.UsageError(f"slownet: {error}") from error


def run(config: pytest.Config, groups: Groups, distributed: bool = False) -> int:
    """Run the session in each place, one after the other, and draw its reports; return pytest's exit status.

    distributed: each pytest runs here, and its workers in the place.
    """
    with _capture_suspended(config):
        status = _run(config, groups, distributed)
    records.draw(config)
    return status


def _run(config: pytest.Config, groups: Groups, distributed: bool) -> int:
    reports = junit.Reports(config.getoption("xmlpath", None))
    statuses: list[int] = []
    for number, (wishes, place) in enumerate(groups):
        only = (
            {"wishes": [[each.clock, each.tdf, each.cpu] for each in wishes], "rest": number == 0} if len(groups) > 1 else None
        )
        more = ["--cov-append"] if number and config.pluginmanager.hasplugin("_cov") else []
        span = junit.Span()
        statuses.append(_attend(config, THIS_MACHINE if distributed else place, only, more))
        reports.take(span)
        if statuses[-1] not in GOES_ON or (statuses[-1] == pytest.ExitCode.TESTS_FAILED and config.getvalue("maxfail")):
            break
    reports.merge()
    ran = [each for each in statuses if each != pytest.ExitCode.NO_TESTS_COLLECTED]
    return max(ran, default=int(pytest.ExitCode.NO_TESTS_COLLECTED))


def _attend(config: pytest.Config, place: Place, only: Mapping[str, Any] | None, more: Sequence[str]) -> int:
    """Run pytest in one place. A lab that ends before pytest does counts as an internal error of pytest (3)."""
    asks = config.getoption("capture", "no") == "no" or config.getoption("usepdb", False) or config.getoption("trace", False)
    terminal = foreground.are_terminals(0, 1, 2)
    arguments = [*more, *_looks(config, terminal), *map(str, config.invocation_params.args)]
    # without facts no network can be emulated there: its tests are those that need none
    facts = {**place.facts, **place.clock.facts} if place.facts else {}
    sys.stdout.flush()
    sys.stderr.flush()

    def attend(shared: Sequence[Share], env: Mapping[str, str]) -> int:
        return foreground.attend(
            place, [*inside_pytest(place), "--", *arguments], shares=shared, env=env, cwd=config.invocation_params.dir,
            stdin=0 if asks or terminal else None, terminal=terminal,
        )  # fmt: skip

    try:
        if place.kind == "native":
            env = environment(config, facts, only)
            status = attend((), {inside.SESSION: env[inside.SESSION]})
        else:
            plan = exports.planned(config)
            staging.say(config, staging.recover(config, plan))
            shared = shares.Shares(config, plan)
            with staging.staged(config, plan, shared.trees) as staged:
                env = environment(config, facts, only, staged.handed())
                if not terminal and _writes(config):
                    env["COLUMNS"] = str(config.get_terminal_writer().fullwidth)
                status = attend([*shared.all(), staged.share], env)
    except SlownetError as error:
        print(f"slownet: {error}", file=sys.stderr)
        return int(pytest.ExitCode.INTERNAL_ERROR)
    return int(pytest.ExitCode.INTERRUPTED) if status > 128 else status


def inside_pytest(place: Place) -> list[str]:
    """Return the command that runs `slownet.pytest_inside` in a place.

    It runs as a file, because pytest warns about packages that are imported before it, and without that file's folder on
    sys.path, whose modules have names such as `law`.
    """
    return [place.python, "-P", str(place.package / "pytest_inside.py")]


def _looks(config: pytest.Config, terminal: bool) -> list[str]:
    """Pass on this process's use of colours if the lab's pytest cannot detect the terminal."""
    return [] if terminal or not _writes(config) or not config.get_terminal_writer().hasmarkup else ["--color=yes"]


def _writes(config: pytest.Config) -> bool:
    """Return whether pytest has its terminal reporter, which `-p no:terminal` disables."""
    return config.pluginmanager.hasplugin("terminalreporter")


@contextlib.contextmanager
def _capture_suspended(config: pytest.Config) -> Generator[None]:
    manager = config.pluginmanager.getplugin("capturemanager")
    if manager is None:
        yield
        return
    manager.suspend_global_capture(in_=True)
    try:
        yield
    finally:
        manager.resume_global_capture()


def _only(config: pytest.Config, hook: str, plugin: object) -> None:
    manager = config.pluginmanager
    others = [each for each in manager.get_plugins() if each is not plugin]
    setattr(config.hook, hook, manager.subset_hook_caller(hook, others))


class HeldBack:
    """Holds back the terminal reporter's output until it is known whether the session continues here."""

    METHODS = ("write", "write_raw", "flush")  # the terminal writer's other methods use these; write_raw is newer

    def __init__(self, config: pytest.Config) -> None:
        self._writer = config.get_terminal_writer() if _writes(config) else None
        self._kept: list[Callable[[], object]] = []
        for name in self.METHODS:
            if hasattr(self._writer, name):
                setattr(self._writer, name, self._keeping(getattr(self._writer, name)))

    def _keeping(self, method: Callable[..., object]) -> Callable[..., None]:
        def keep(*args: Any, **options: Any) -> None:
            self._kept.append(partial(method, *args, **options))

        return keep

    def show(self) -> None:
        """Print what was held back, and print later output immediately."""
        if self._writer is None:
            return
        for name in self.METHODS:
            vars(self._writer).pop(name, None)
        kept, self._kept = self._kept, []
        for each in kept:
            each()
        self._writer.flush()

    def forget(self) -> None:
        """Discard it: another process will print the same."""
        self._kept.clear()
