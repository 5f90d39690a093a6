"""One session of pytest, whose tests that need a network run in labs if this machine cannot emulate one.

This process collects the tests, runs those that need no network, and reports all of them: its reporters, limits, coverage and
exit status are the session's. For the others `slownet/lab/run/pytest_inside.py` runs pytest in a lab, one for each clock
that tests request, with the same arguments, environment and working directory; it sends what happens there (`forwarding`),
which is reported here (`relayed_reports`) as it happens, with this machine's dates and times.

The lab can read the session's rootdir and working directory, and the folders of sys.path. What tests write there stays in the
lab's memory (`slownet.lab.run.pytest_inside`); .pytest_cache, coverage data, logs of servers and what `[tool.slownet]
write` names are carried to where pytest leaves them (`staging`). Everything else, including /tmp, belongs to the lab and is
lost with it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from slownet.lab.run import caller, foreground
from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.clock import Clock, ClockRequest
from slownet.lab.run.events import Event
from slownet.lab.run.lab import MEGABYTES
from slownet.lab.run.place import Place, choose
from slownet.model.control_characters import visible
from slownet.model.errors import SlownetError
from slownet.pytest_plugin import exports, other_plugins, projects, readable_folders, records, session_junit, staging, timeouts
from slownet.pytest_plugin.messages import say
from slownet.pytest_plugin.relayed_reports import SUMMARIES, Lines, Reporter
from slownet.pytest_plugin.session_summary import Total
from slownet.pytest_plugin.wishes import CONFINED, KERNEL, MEMORY, needs_network, of_session, option_names_here, wish_or_none

GOES_ON = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class Session:
    """Decides after collection where the tests run, and runs them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._labs: Groups = ()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Choose the places. Raises pytest.UsageError."""
        if session.testsfailed and not self._config.option.continue_on_collection_errors:
            return  # the session cannot run
        groups = group_by_place(self._wishes(session), self._config)
        for _, place in groups:
            if place.kind == "native":
                records.remember(place.facts, place.clock)
        self._labs = [group for group in groups if group[1].kind == "lab"]
        if self._labs:
            projects.hand_over(self._config, projects.of(session.items))
            gc.freeze()  # as in the lab, see `forwarding`

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """Say where the tests run, as pytest's header would; with -q nothing is printed."""
        if self._config.get_verbosity() < 0:
            return []
        return [
            f"slownet: {_count(len(self._of(wishes, items)))} in a lab, {place.clock}, Linux {_release(place)}"
            for wishes, place in self._labs
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the tests of this machine, then those of each lab; leave it to pytest if none exists."""
        failed = session.testsfailed and not self._config.option.continue_on_collection_errors
        if not self._labs or failed or self._config.option.collectonly:
            return None
        of_labs = [(place, self._of(wishes, session.items)) for wishes, place in self._labs]
        elsewhere = {id(item) for _, items in of_labs for item in items}
        _run_here(session, [item for item in session.items if id(item) not in elsewhere])
        for number, (place, items) in enumerate(of_labs, 1):
            with _capture_suspended(self._config):
                Elsewhere(session, place, items, f"lab-{number}" if number > 1 else "lab").run()
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Show what failed if a lab has ended the session: pytest has no summary where the status is not one of its own."""
        if self._labs:
            other_plugins.leave_out(self._config)
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if self._labs and reporter and exitstatus not in SUMMARIZED and not self._config.getoption("no_summary", False):
            reporter.ensure_newline()
            self._config.hook.pytest_terminal_summary(terminalreporter=reporter, exitstatus=exitstatus, config=self._config)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the output of plugins at the end of sessions in labs, such as pytest-benchmark's table."""
        for _, text in self._config.stash.get(SUMMARIES, []):
            terminalreporter.ensure_newline()
            for line in text.strip("\n").splitlines():
                terminalreporter.write_line(visible(line))

    def _of(self, wishes: Sequence[ClockRequest], items: Sequence[pytest.Item]) -> list[pytest.Item]:
        return [item for item in items if needs_network(item) and wish_or_none(item) in wishes]

    def _wishes(self, session: pytest.Session) -> list[ClockRequest]:
        """Return the wishes of the tests with a network, the session's own first. Raises pytest.UsageError."""
        try:
            own = of_session(self._config)
        except SlownetError as error:
            raise _usage_error(error) from error
        return sorted(wishes_of(session.items), key=lambda wish: wish != own)


def wishes_of(items: Iterable[pytest.Item]) -> list[ClockRequest]:
    """Return the wishes of the tests with a network, each once. One with wrong markers has none: it fails when it is set up."""
    found = dict.fromkeys(wish_or_none(item) for item in items if needs_network(item))
    return [wish for wish in found if wish is not None]


def _count(tests: int) -> str:
    return f"{tests} test{'s' if tests != 1 else ''}"


def _release(place: Place) -> str:
    return str(place.facts.get("kernel", "")).split(" (")[0]


def _run_here(session: pytest.Session, items: Sequence[pytest.Item]) -> None:
    """Run tests in this process, as pytest does. Raises what ends a session."""
    followed_by: list[pytest.Item | None] = [*items[1:], None]
    for item, following in zip(items, followed_by, strict=False):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        _stop_if_asked(session)


def _stop_if_asked(session: pytest.Session) -> None:
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


THIS_MACHINE = Place(Clock("real"), {})
"""The place of tests that need no network."""
Groups = Sequence[tuple[Sequence[ClockRequest], Place]]
"""The places of a session, each with the wishes that it fulfils."""


def group_by_place(wishes: Iterable[ClockRequest], config: pytest.Config) -> Groups:
    """Return the places for these wishes, in order. Wishes that amount to the same clock, such as "virtual" and a lab's
    default, share a place. Raises pytest.UsageError."""
    found: list[tuple[list[ClockRequest], Place]] = []
    for wish in wishes:
        place = _place(wish, config)
        alike = [group for group, other in found if (other.kind, other.clock) == (place.kind, place.clock)]
        if alike:
            alike[0].append(wish)
        else:
            found.append(([wish], place))
    return found


def with_the_rest(groups: Groups, rest: bool) -> Groups:
    """Return the places of a session with workers. The first one, this machine, also runs the tests that need no network, if
    there are any (rest)."""
    if not any(place.kind == "lab" for _, place in groups) or not rest:
        return groups
    native_ones = [group for group in groups if group[1].kind == "native"]
    labs = [group for group in groups if group[1].kind == "lab"]
    return [*(native_ones or [((), THIS_MACHINE)]), *labs]


def environment(
    config: pytest.Config,
    facts: Mapping[str, object],
    only: Mapping[str, object] | None,
    walls: Mapping[str, object] | None = None,
) -> dict[str, str]:
    """Return pytest's environment in the lab: this process's, without variables that describe this machine.

    walls: what the lab may write, None natively.
    """
    manager = config.pluginmanager
    path = [str(each) for each in caller.import_path(config.invocation_params.dir)]
    handed = {
        "facts": facts, "only": only, "path": path, "test": os.environ.get(inside.TEST), "walls": walls,
        "plugins": sorted({str(manager.get_name(plugin)) for plugin, _ in manager.list_plugin_distinfo()}),
        "blocked": [name for name, plugin in manager.list_name_plugin() if plugin is None],
        "idle": [other_plugins.NAME] if only and other_plugins.is_idle(config) else [],  # the tests are collected
    }  # fmt: skip
    return {**caller.variables(), **projects.variables(config), inside.SESSION: json.dumps(handed)}


DEBUGGERS = {"--pdb": "usepdb", "--trace": "trace"}
"""The name under which pytest keeps an option."""


def _place(wish: ClockRequest, config: pytest.Config) -> Place:
    try:
        found = choose(
            "auto", wish, config.getoption(MEMORY) or MEGABYTES, folder=config.rootpath, confined=config.getoption(CONFINED),
            exact=True, kernel=config.getoption(KERNEL),
        )  # fmt: skip
    except SlownetError as error:
        raise _usage_error(error) from error
    if found.clock.is_exact and (asked := [name for name, at in DEBUGGERS.items() if config.getoption(at, False)]):
        raise not_on_the_exact_clock(f"a debugger ({asked[0]}) is", asked[0])
    return found.free() if wish.cpu_may_be_free else found


def not_on_the_exact_clock(what: str, option: str) -> pytest.UsageError:
    """Return the error for what is talked to while it runs: "workers (-n) are"."""
    why = "nothing comes into a lab on the exact clock from outside"
    return pytest.UsageError(f"slownet: {what} talked to, but {why}: leave out {option}, or the exact clock")


def _usage_error(error: SlownetError) -> pytest.UsageError:
    with option_names_here():
        return pytest.UsageError(f"slownet: {error}")


SUMMARIZED = (
    pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR,
    pytest.ExitCode.NO_TESTS_COLLECTED, *[each for each in pytest.ExitCode if each.name == "MAX_WARNINGS_ERROR"],
)  # fmt: skip
"""The exit statuses after which pytest shows its summary."""
CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV)
"""The signals that end a program without an interrupt."""


class Elsewhere:
    """The part of a session that runs in one lab."""

    def __init__(self, session: pytest.Session, place: Place, items: Sequence[pytest.Item], name: str) -> None:
        self._session, self._config, self._place, self._items = session, session.config, place, items
        self._name = name
        self._terminal = foreground.are_terminals(0, 1, 2) and not place.clock.is_exact  # to which nothing comes from outside
        self._answers = -1
        """The pipe to the lab's input. What is typed while nothing asks for it waits in this machine's terminal."""
        self._reporter = Reporter(session, items, self._ask, timeouts.alarms(place))
        self._line = b""
        self._told = False

    def run(self) -> None:
        """Run and report these tests. Raises what ends a session: pytest's own exceptions."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        try:
            status = self._attend()
        except SlownetError as error:
            with option_names_here():
                line = f"slownet: {error}"
            self._reporter.fail_running(line)
            print(line, file=sys.stderr)
            pytest.exit("the lab did not run these tests to their end", int(pytest.ExitCode.INTERNAL_ERROR))
        finally:
            self._reporter.alarms.stop()
        self._conclude(status)

    def _conclude(self, status: int) -> None:
        found = self._reporter
        if found.interrupt and found.interrupt["kind"] == "Exit":
            code = found.interrupt["status"]
            pytest.exit(found.interrupt["reason"], code if type(code) is int else None)
        if found.interrupt and found.interrupt["kind"] == "Interrupted" and not found.errors:
            raise self._session.Interrupted(found.interrupt["reason"])
        if found.internal:
            pytest.exit("an internal error of pytest in the lab", int(pytest.ExitCode.INTERNAL_ERROR))
        crashed = status - 128 in CRASHES
        if (found.interrupt and not found.errors) or (status > 128 and not crashed):
            raise KeyboardInterrupt
        _stop_if_asked(self._session)
        if found.errors and not self._config.option.continue_on_collection_errors:
            count = f"{found.errors} error{'s' if found.errors != 1 else ''}"
            raise self._session.Interrupted(f"{count} during collection in the lab")
        if not found.ended:
            if found.running is not None:
                how = signal.Signals(status - 128).name if crashed else f"status {status}"
                what = f"{found.running.nodeid} ended pytest in the lab with {how}"
                line = found.alarms.timed_out or f"slownet: {what}: a test must not end its process, as os._exit does"
                found.fail_running(line)
                print(line, file=sys.stderr)
            pytest.exit(f"pytest in the lab ended with status {status}", status or int(pytest.ExitCode.INTERNAL_ERROR))
        found.fail_missing()
        _stop_if_asked(self._session)

    def _attend(self) -> int:
        config, place = self._config, self._place
        asks = (
            config.getoption("capture", "no") == "no" or config.getoption("usepdb", False) or config.getoption("trace", False)
        )
        only = {"forward": True, "asks": self._terminal, "hostname": self._name}
        facts = {**place.facts, **place.clock.facts}
        plan = exports.planned(config, self._name, alone=len(self._items) == len(self._session.items))
        say(config, staging.recover(config, plan))
        shared = readable_folders.Shares(config, plan)
        with staging.staged(config, plan, shared.trees, [item.nodeid for item in self._items]) as staged:
            env = environment(config, facts, only, staged.handed())
            if not self._terminal and _writes(config):
                env["COLUMNS"] = str(config.get_terminal_writer().fullwidth)
            lines = Lines(self._take, self._pass_on)
            with self._input(asks) as stdin:
                return foreground.attend(
                    place, [*inside_pytest(place), "--", *self._arguments(plan)], shares=[*shared.all(), staged.share],
                    env=env, cwd=config.invocation_params.dir, stdin=stdin, terminal=self._terminal, stdout=lines.feed,
                )  # fmt: skip

    @contextlib.contextmanager
    def _input(self, asks: bool) -> Generator[int | None]:
        """Provide the lab's input for a ``with`` block: answers at a terminal, else this process's if tests may ask for it."""
        if not self._terminal:
            yield 0 if asks and not self._place.clock.is_exact else None
            return
        reader, self._answers = os.pipe()
        try:
            yield reader
        finally:
            os.close(reader)
            os.close(self._answers)

    def _arguments(self, plan: exports.Plan) -> list[str]:
        """Return pytest's arguments there: those of this session, and what this session knows by now."""
        config = self._config
        more = [f"--basetemp={plan.temporary}"] if plan.temporary else []
        limit = config.getoption("maxfail", 0)
        more += [f"--maxfail={limit - self._session.testsfailed}"] if limit else []
        seed = getattr(config.option, "randomly_seed", None)
        more += [f"--randomly-seed={seed}"] if isinstance(seed, int) else []
        return [*_looks(config, self._terminal), *map(str, config.invocation_params.args), *more]

    def _take(self, event: Event) -> None:
        self._reporter.take(event)
        if (self._session.shouldstop or self._session.shouldfail) and not self._told and event["event"] == "finish":
            self._told = True
            if not self._session.shouldfail:  # the other session has the same limit of failures, and ends by itself
                self._place.signal(signal.SIGINT)
        sys.stdout.flush()

    def _pass_on(self, data: bytes) -> None:
        sys.stdout.flush()
        # the lab's terminal has ended lines already, and this one does it, too
        foreground.write(1, data.replace(b"\r\n", b"\n") if self._terminal else data)
        self._line = (self._line + data).rpartition(b"\n")[2][-1000:]

    def _ask(self) -> None:
        """Read a line for a test or its debugger, while the lab and its clock stand still."""
        prompt = self._line.decode(errors="replace")
        self._line = b""
        with self._place.stopped(), _interrupted_by_keys():
            answer = _line_of_person(prompt)
        foreground.write(self._answers, answer)


def _line_of_person(prompt: str) -> bytes:
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  input() edits with it
    while True:
        sys.stdout.write("\r")  # the prompt stands there already; an editor of lines wants to write it itself
        sys.stdout.flush()
        try:
            return input(prompt).encode(errors="surrogateescape") + b"\n"
        except EOFError:
            return b"\x04"
        except KeyboardInterrupt:
            print("\n--KeyboardInterrupt--")


@contextlib.contextmanager
def _interrupted_by_keys() -> Generator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run(config: pytest.Config, groups: Groups) -> int:
    """Run a session with workers once for each place, one after the other, and draw its reports; return its exit status.

    Each of these pytests runs here, and its workers in the place.
    """
    with _capture_suspended(config):
        status = _run(config, groups)
    records.draw(config)
    return status


def _run(config: pytest.Config, groups: Groups) -> int:
    reports = session_junit.Reports(config.getoption("xmlpath", None))
    statuses, total = list[int](), Total(config)
    left = limit = int(config.getoption("maxfail", 0) or 0)
    for number, (wishes, _) in enumerate(groups):
        only = {"wishes": [[each.clock, each.tdf, each.cpu] for each in wishes], "rest": number == 0}
        more = [f"--maxfail={left}"] if limit else []
        if config.pluginmanager.hasplugin("_cov"):
            more += ["--cov-append"] if number else []
            more += ["--cov-fail-under=0"] if number < len(groups) - 1 else []  # the last one's coverage is that of all
        span = session_junit.Span()
        with tempfile.NamedTemporaryFile("r", prefix="slownet-summary-", encoding="utf-8") as summary:
            statuses.append(_attend_workers(config, only | {"summary": summary.name}, more))
            left -= total.take(summary.read())
        reports.take(span)
        if statuses[-1] not in GOES_ON or (limit and left <= 0):
            break
    reports.merge()
    total.show()
    ran = [each for each in statuses if each != pytest.ExitCode.NO_TESTS_COLLECTED]
    return max(ran, default=int(pytest.ExitCode.NO_TESTS_COLLECTED))


def _attend_workers(config: pytest.Config, only: Mapping[str, object], more: Sequence[str]) -> int:
    terminal = foreground.are_terminals(0, 1, 2)
    arguments = [*_looks(config, terminal), *map(str, config.invocation_params.args), *more]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        # without facts no network can be emulated there: the tests of this machine are those that need none
        env = environment(config, {}, only)
        status = foreground.attend(
            THIS_MACHINE, [*inside_pytest(THIS_MACHINE), "--", *arguments], env={inside.SESSION: env[inside.SESSION]},
            cwd=config.invocation_params.dir, stdin=0 if terminal else None, terminal=terminal,
        )  # fmt: skip
    except SlownetError as error:
        print(f"slownet: {error}", file=sys.stderr)
        return int(pytest.ExitCode.INTERNAL_ERROR)
    return int(pytest.ExitCode.INTERRUPTED) if status > 128 else status


def inside_pytest(place: Place) -> list[str]:
    """Return the command that runs `slownet.lab.run.pytest_inside` in a place.

    It runs as a file, because pytest warns about packages that are imported before it, and without that file's folder on
    sys.path, whose modules have names such as `law`.
    """
    return [place.python, "-P", str(place.package / "lab" / "run" / "pytest_inside.py")]


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
