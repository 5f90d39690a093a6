"""In a lab: sends what happens in this pytest to the session on the host, which alone reports it.

The lab's pytest is a worker, in the sense of pytest-xdist: it has `config.workerinput`, so that plugins which write reports,
caches or totals leave that to the host's session. It runs the tests that the host names, in the host's order.
"""

from __future__ import annotations

import gc
import io
import json
import os
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from slownet.lab.run import pytest_inside as inside
from slownet.pytest_plugin import missing, other_plugins

TESTS = Path(inside.OUT, inside.SEED, "tests.json")
"""The file with the names of the tests to run, beside what else the host puts there."""
FORWARDED = "slownet_forwarded"
TEXT_CHARACTERS = 4 << 20
"""The most characters of a captured output in a report."""
TEXTS = ("user_properties",)
"""The attributes of a report with values of any type: they are sent as texts."""


def is_forwarded(config: pytest.Config) -> bool:
    """Return whether this is the pytest of a lab whose events the host reports."""
    return FORWARDED in getattr(config, "workerinput", {})


def prepare(config: pytest.Config) -> None:
    """Make this session a worker of the host's, before other plugins look."""
    here = os.getcwd()
    config.workerinput = {  # type: ignore[attr-defined]
        FORWARDED: True,
        "workerid": "master",  # as where nothing is distributed
        "workercount": 1,
        "testrunuid": "slownet",
        "cov_master_host": socket.gethostname(),
        "cov_master_topdir": here,
        "cov_master_rsync_roots": [],
    }
    config.workeroutput = {}  # type: ignore[attr-defined]


class Silent:
    """Stands for the terminal reporter, which others ask for its writer: its hooks are never called."""

    def __init__(self, reporter: Any) -> None:
        self._reporter = reporter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reporter, name)

    def writing_to(self, config: pytest.Config, stream: io.StringIO) -> Any:
        """Return a reporter of the same kind whose text is kept. Its class is not public in each pytest."""
        return type(self._reporter)(config, stream)


def silence(config: pytest.Config) -> None:
    """Take the terminal reporter's hooks away."""
    manager = config.pluginmanager
    reporter = manager.get_plugin("terminalreporter")
    if reporter is not None:
        manager.unregister(reporter)
        manager.register(Silent(reporter), "terminalreporter")


class Forwarder:
    """Sends the events of a session; see `slownet.pytest_plugin.relayed_reports` for the other end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._collected: list[pytest.Item] = []

    def pytest_sessionstart(self) -> None:
        if text := missing.left_out():
            inside.send({"event": "left_out", "text": text})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, object, object]:
        """Select the tests that the host named, whatever other plugins deselected or reordered."""
        collected = list(items)
        result = yield
        wanted = json.loads(TESTS.read_text(encoding="utf-8"))
        by_name: dict[str, list[pytest.Item]] = {}
        for item in collected:
            by_name.setdefault(item.nodeid, []).append(item)
        items[:] = [by_name[name].pop(0) for name in wanted if by_name.get(name)]
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Take what is imported by now out of the garbage collections at pytest's end, which look at all there is."""
        gc.freeze()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self._report("collected", report)

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        kind = warning_message.category
        inside.send({
            "event": "warning", "text": str(warning_message.message), "module": kind.__module__, "name": kind.__name__,
            "file": warning_message.filename, "line": warning_message.lineno, "when": when, "test": nodeid,
            "location": list(location) if location else None,
        })  # fmt: skip

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        inside.send({"event": "start", "test": nodeid})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # pytest fails a test whose subtests have failed as it asks for the status, which nobody else does here
        self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        self._report("report", report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        inside.send({"event": "finish", "test": nodeid})

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        value = excinfo.value
        inside.send({
            "event": "interrupt", "kind": type(value).__name__, "reason": str(getattr(value, "msg", None) or value),
            "status": getattr(value, "returncode", None),
        })  # fmt: skip

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: Any) -> bool:
        inside.send({"event": "internal", "text": str(excrepr)[-TEXT_CHARACTERS:]})
        return True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        for plugin, text in summaries(self._config, exitstatus):
            inside.send({"event": "summary", "plugin": plugin, "text": _shortened(text)})
        inside.send({"event": "end", "failed": str(session.shouldfail or "")})

    def _report(self, event: str, report: pytest.CollectReport | pytest.TestReport) -> None:
        report.sections = [(name, _shortened(text)) for name, text in report.sections]
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        # What a plugin adds and JSON would change is left out: testmon gets no lines of code rather than the names of lines.
        inside.send({"event": event, "report": {name: each for name, each in data.items() if name in TEXTS or _is_json(each)}})


def summaries(config: pytest.Config, exitstatus: int) -> Iterator[tuple[str, str]]:
    """Yield the output of plugins at the end of a session, such as pytest-benchmark's table, by their names.

    pytest's own and slownet's say it on the host; those that know of workers, such as pytest-cov, say nothing here.
    """
    silent = config.pluginmanager.get_plugin("terminalreporter")
    if not isinstance(silent, Silent):
        return
    other_plugins.leave_out(config)
    for each in config.hook.pytest_terminal_summary.get_hookimpls():
        module = getattr(each.function, "__module__", "")
        if each.wrapper or each.hookwrapper or module.partition(".")[0] in ("_pytest", "pytest", "slownet", "xdist"):
            continue
        stream = io.StringIO()
        given = {"terminalreporter": silent.writing_to(config, stream), "exitstatus": exitstatus, "config": config}
        try:
            each.function(*(given[name] for name in each.argnames))
        except Exception as error:
            stream.write(f"{type(error).__name__}: {error}\n")
        if stream.getvalue().strip():
            yield each.plugin_name, stream.getvalue()


def _is_json(value: Any) -> bool:
    """Return whether JSON gives a value back as it was, but for tuples."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_json(each) for name, each in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int | float)


def _shortened(text: str) -> str:
    if len(text) <= TEXT_CHARACTERS:
        return text
    return f"[{len(text) - TEXT_CHARACTERS} characters are left out here]\n{text[-TEXT_CHARACTERS:]}"
