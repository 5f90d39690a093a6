"""The numbers that tests compare, as a comment of at most 20 lines for a pull request: what changed since the last session.

Where a test runs, its report gets the numbers that it compared, with their intervals. The process that reports the session
collects them, and at its end writes the comment and adds the numbers to the file of history, as `slownet compare` does.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from slownet.lab.run import pytest_inside as inside
from slownet.model import whole_file
from slownet.model.control_characters import visible
from slownet.model.errors import SlownetError
from slownet.pytest_plugin.messages import say
from slownet.pytest_plugin.several_boots import COMPARISONS
from slownet.pytest_plugin.wishes import COMMENT, HISTORY, option_names_here
from slownet.theory.stats import DECIDING, Summary

ATTRIBUTE = "slownet_compared"
"""Of a test's report: a list for each number that it compared, in order: metric, mean and the ends of the interval."""
FAILED, PASSED, SKIPPED = "failed", "passed", "skipped"
WORST_FIRST = (FAILED, SKIPPED, PASSED)
MARKS = {FAILED: "❌", PASSED: "✅", SKIPPED: "❔"}
LONGEST = 120
"""Characters of a number's name."""
MOST = 1000
"""Numbers of one test that are taken."""
LEAST_PERCENT = 0.05
"""A change that rounds to less does not count."""


def attach(item: pytest.Item, report: pytest.TestReport) -> pytest.TestReport:
    """Add the numbers that a test compared in its last boot to the report of its call."""
    if report.when == "call" and COMPARISONS in item.stash:
        setattr(report, ATTRIBUTE, [[name, *map(_finite, numbers)] for name, *numbers in _compared(item)])
    return report


def _compared(item: pytest.Item) -> Iterator[tuple[str, float, float, float]]:
    for name, summary in item.stash[COMPARISONS].compared:
        yield name, summary.mean, summary.low, summary.high


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Number:
    """A number that a test compared; or, without a metric, a test that failed before it compared any."""

    test: str
    metric: str = ""
    value: Summary | None = None
    outcome: str = PASSED
    again: int = 1
    """The number of this comparison among those of the metric in the test."""

    @property
    def name(self) -> str:
        """The name in the file of history."""
        return f"{self.test}: {self.metric}{f' ({self.again})' if self.again > 1 else ''}" if self.metric else self.test


class Tests:
    """The outcomes and numbers of a session's tests, by name."""

    def __init__(self) -> None:
        self._outcomes: dict[str, str] = {}
        self._numbers: dict[str, list[Number]] = {}

    def take(self, report: Any) -> None:
        """Add a phase of a test. Numbers in a lab's report are taken if they have the right shape."""
        test = visible(report.nodeid)[:LONGEST]
        if report.outcome in WORST_FIRST:  # not "rerun", nor another one of a plugin that tries again
            self._outcomes[test] = min(self._outcomes.get(test, PASSED), report.outcome, key=WORST_FIRST.index)
        if report.when == "call":
            self._numbers[test] = _numbers(test, getattr(report, ATTRIBUTE, None))

    def all(self) -> list[Number]:
        """Return the numbers, each with its test's outcome, and the tests that failed without one."""
        found = []
        for test, outcome in self._outcomes.items():
            numbers = self._numbers.get(test) or ([Number(test)] if outcome == FAILED else [])
            found += [replace(each, outcome=outcome) for each in numbers]
        return found

    def __str__(self) -> str:
        counts = Counter(self._outcomes.values())
        return ", ".join(f"{counts[each]} {each}" for each in (FAILED, PASSED, SKIPPED) if counts[each]) or "none ran"


def _numbers(test: str, found: Any) -> list[Number]:
    counts, numbers = Counter[str](), []
    for each in found[:MOST] if isinstance(found, list) else ():
        if not (isinstance(each, list) and len(each) == 4 and isinstance(each[0], str) and _is_number(each[1])):
            continue
        metric, mean, low, high = visible(each[0])[:LONGEST], *each[1:]
        counts[metric] += 1
        known = _is_number(low) and _is_number(high)
        value = Summary(float(mean), float(low) if known else -math.inf, float(high) if known else math.inf, 1)
        numbers.append(Number(test, metric, value, again=counts[metric]))
    return numbers


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


class Comment:
    """The plugin of the process that reports a session and writes its comment or its history."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self.tests = config, Tests()
        here = config.invocation_params.dir
        comment, history = config.getoption(COMMENT), config.getoption(HISTORY)
        self._comment, self._history = here / comment if comment else None, here / history if history else None
        for name, path in ((COMMENT, self._comment), (HISTORY, self._history)):
            if path and not path.parent.is_dir():
                raise pytest.UsageError(f"slownet: no folder {path.parent}, {name}: make it, or name another file")
            if path and path.is_dir():
                raise pytest.UsageError(f"slownet: {path} is a folder, {name}: name a file in it")
        self._before = self._read()

    def _read(self) -> Sequence[Any]:
        from slownet.comparison import comment

        try:
            return comment.read(self._history) if self._history else []
        except SlownetError as error:
            with option_names_here():
                raise pytest.UsageError(f"slownet: {error}") from error

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tests.take(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self.write()

    def write(self) -> None:
        """Write the comment, and add to the history; what cannot be written is a line."""
        from slownet.comparison import comment

        numbers = self.tests.all()
        now = {each.name: each.value.mean for each in numbers if each.value}
        entry = comment.Entry(datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), now)
        try:
            if self._comment:
                whole_file.write(self._comment, text(str(self.tests), numbers, [*self._before, entry]), COMMENT)
            if self._history and now:
                comment.append(self._history, entry)
        except SlownetError as error:
            with option_names_here():
                say(self._config, [str(error)])


def register(config: pytest.Config, reports: bool) -> None:
    """Register what writes the comment of a session, if one is asked for. reports: this process reports the session."""
    wanted = (config.getoption(COMMENT) or config.getoption(HISTORY)) and not config.option.collectonly
    is_part = (inside.handed_over().get("only") or {}).get("summary")  # then the session that began this one writes it
    if reports and wanted and not is_part:
        config.pluginmanager.register(Comment(config), NAME)


NAME = "slownet comment"


def of(config: pytest.Config) -> Comment | None:
    """Return the plugin of a session that writes a comment."""
    found: Comment | None = config.pluginmanager.get_plugin(NAME)
    return found


def text(outcomes: str, numbers: Sequence[Number], entries: Sequence[Any]) -> str:
    """Return the comment.

    outcomes: how many tests failed and passed, as text.
    numbers: of this session.
    entries: the sessions' numbers, oldest first; the last one is this session's.
    returns: markdown of at most 20 lines.
    """
    from slownet.comparison import comment
    from slownet.report import summary
    from slownet.report.text import confidence

    last = entries[-2].numbers if len(entries) > 1 else {}
    shown = entries[-comment.RUNS :]
    changed = [each for each in numbers if each.outcome == FAILED or _percent(each, last)]
    listed = sorted(changed, key=lambda each: _order(each, last))[: comment.SHOWN] or numbers[:1]
    rows = []
    for each in listed:
        percent, name = _percent(each, last), each.name
        before, now = _quantity(each.metric, last.get(name)), _quantity(each.metric, each.value)
        course = comment.course([entry.numbers.get(name) for entry in shown])
        rows.append((f"{MARKS[each.outcome]} {name}", before, now, f"{percent:+.1f} %" if percent else "", course))
    lines = [f"### Tests: {summary.cell(outcomes)}", ""]
    if rows:
        lines += [*summary.table(("compared by", "last run", "now", "change", comment.last(len(shown))), rows), ""]
    rest = len(numbers) - len(listed)
    new = sum(each.value is not None and each.name not in last for each in numbers) if last else 0
    parts = [
        f"{rest} other number{'s' * (rest != 1)}" if rest else "",
        f"{new} not in the last run" if new else "",
        f"intervals are {confidence(DECIDING)}",
    ]
    return "\n".join([*lines, f"_{'; '.join(filter(None, parts))}._", ""])


def _percent(number: Number, last: Mapping[str, float]) -> float:
    """Return by how much a number changed since the last run; 0 if that is not known."""
    before = last.get(number.name)
    if not number.value or not before:
        return 0.0
    percent = 100 * (number.value.mean / before - 1)
    return percent if abs(percent) >= LEAST_PERCENT else 0.0


def _order(number: Number, last: Mapping[str, float]) -> tuple[bool, float]:
    """Order numbers: those of tests that failed first, and larger changes before smaller ones."""
    ratio = 1 + _percent(number, last) / 100
    return number.outcome != FAILED, -abs(math.log(ratio)) if ratio > 0 else -math.inf


def _quantity(metric: str, value: Summary | float | None) -> str:
    """Format a number of a metric; nothing if none exists."""
    from slownet.judge.records.quantity import quantity

    if value is None:
        return ""
    return quantity(value if isinstance(value, Summary) else Summary(value, value, value, 1), metric)
