"""Other plugins of pytest beside a lab (pytest-benchmark, Hypothesis'), and Python's own loggers beside Mininet's.

It measures a round of calls that is long beside the clock's precision, and finds how many that are by multiplying their number
by ten. What only computes takes no time there, however many calls, so that it would never end: a test that measures such a
function fails in one line. What waits, for a network above all, is measured as elsewhere.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from slownet.lab.host import native
from slownet.lab.run import pytest_inside as inside
from slownet.model.errors import LabError
from slownet.pytest_plugin.timeouts import has_plugin
from slownet.pytest_plugin.wishes import CLOCK, TDF

# Mininet makes its own class that of every logger which is made after its import: such a logger writes to standard error
# itself and drops what is below a warning, whatever `caplog`, `log_cli_level` or the program state.


def keep() -> None:
    """Import Mininet's log, if there is one, without its claim on later loggers."""
    before = logging.getLoggerClass()
    with suppress(ImportError):
        import mininet.log  # noqa: F401
    now = logging.getLoggerClass()
    if now.__module__ == "mininet.log":
        logging.setLoggerClass(logging.Logger if before is now else before)


# At a session's end it imports all of Hypothesis, which took a third of the time of a session with one test. Where its
# compiled module is for another Python than a lab's, each lab found that out anew. It has nothing to report unless a test has
# used Hypothesis, in this process or in a lab, whose reports carry its marks.

NAME = "hypothesispytest"
MARK = "_hypothesis"
"""The prefix of its attributes of a report."""


def is_idle(config: pytest.Config) -> bool:
    """Return True if Hypothesis is installed, but neither a module of this session nor an option uses it."""
    options = (value for name, value in vars(config.option).items() if name.startswith("hypothesis"))
    return config.pluginmanager.get_plugin(NAME) is not None and "hypothesis" not in sys.modules and not any(options)


def leave_out(config: pytest.Config) -> None:
    """Unregister Hypothesis' plugin if it has nothing to report."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    found: dict[str, list[Any]] = getattr(reporter, "stats", {})
    names = (name for reports in found.values() for each in reports for name in getattr(each, "__dict__", ()))
    if is_idle(config) and not any(name.startswith(MARK) for name in names):
        config.pluginmanager.unregister(name=NAME)


PLUGIN = "pytest_benchmark.plugin"
FIXTURE = "benchmark"
CALIBRATE = "_calibrate_timer"
"""pytest-benchmark has no public name for it. A version that lacks it is left as it is."""
READING_S = 5e-5
"""More than it takes to read the clock twice, a microsecond each (``tdf=inf`` of the lab's kernel), and what other programs of
the lab read meanwhile."""
CALL_S = 1e-7
"""Less than a call takes that waits for anything, or that reads the clock itself."""
CALLS = 1000
"""So many calls are enough to know that one takes no time."""
REAL_S = 2.0
"""Fewer are, if they took so long on the host: those that compute for seconds would take hours."""


def register(config: pytest.Config) -> None:
    """Watch the calibration of pytest-benchmark, if the session has it and computing is free."""
    if has_plugin(config, PLUGIN) and native.inside_lab() and native.cpu_is_free():
        config.pluginmanager.register(Benchmarks(native.RealTime(Path(inside.OUT))), "slownet benchmarks")


class Benchmarks:
    """Watches each test's fixture ``benchmark``."""

    def __init__(self, real: Callable[[], float]) -> None:
        self._real = real

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        fixture = getattr(item, "funcargs", {}).get(FIXTURE)
        if calibrate := getattr(fixture, CALIBRATE, None):
            setattr(fixture, CALIBRATE, lambda runner: calibrate(self._watched(runner, item)))
        return (yield)

    def _watched(self, runner: Callable[..., Any], item: pytest.Item) -> Callable[..., Any]:
        """Return the function that calls what is measured so many times, with a check of what that took. It raises LabError."""

        def run(calls: range | None, *more: Any, **named: Any) -> Any:
            began = self._real()
            took = runner(calls, *more, **named)
            of_all = took[0] if isinstance(took, tuple) else took  # a single call comes with its result
            count = len(calls or "1")
            if of_all > max(READING_S, count * CALL_S):
                return took
            if count >= CALLS or self._real() - began >= REAL_S:
                calls_take = "a call takes" if count == 1 else f"{count} calls take"
                what = f"{calls_take} no time, because computing is free here: nothing can be measured"
                raise LabError(what, where=f"benchmark in {item.nodeid}", fix=f"charge it with {TDF} auto, or use {CLOCK} real")
            # Too little to calibrate with: it may be the clock's readings alone, so the number of calls goes on growing.
            return (0.0, *took[1:]) if isinstance(took, tuple) else 0.0

        return run
