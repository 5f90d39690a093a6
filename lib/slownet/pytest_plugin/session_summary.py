"""One summary of a session whose tests ran in several pytests, one for each place.

Each of these pytests prints its failures, and leaves its summary to the session that the user began: it writes the reports that
a summary is made of to a file, and that session prints them as its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slownet.lab.run.events import Event
from slownet.pytest_plugin import session_comment

WARNINGS = "warnings"
PARTS = ("short_test_summary", "summary_stats")
"""The last line of pytest's terminal reporter."""


def _reporter(config: pytest.Config) -> Any:
    return config.pluginmanager.getplugin("terminalreporter")  # -p no:terminal leaves none


def withhold(config: pytest.Config) -> None:
    """Print no summary in this process: another one will."""
    if reporter := _reporter(config):
        for part in PARTS:
            setattr(reporter, part, lambda: None)


def write(config: pytest.Config, file: Path, failed: int) -> None:
    """Write what a summary is made of; failed: how many tests failed."""
    reporter, stats = _reporter(config), {}
    for kind, reports in (reporter.stats if reporter else {}).items():
        if kind == WARNINGS:
            stats[kind] = [None] * len(reports)
        else:
            stats[kind] = [
                config.hook.pytest_report_to_serializable(config=config, report=each)
                for each in reports
                if hasattr(each, "_to_json") and each.count_towards_summary
            ]
    file.write_text(json.dumps({"failed": failed, "stats": stats}, default=lambda value: None), encoding="utf-8")


class Total:
    """The reports of all places."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stats: dict[str, list[Any]] = {}
        self._is_known = False
        self._comment = session_comment.of(config)

    def take(self, text: str) -> int:
        """Add what a place's pytest has written, nothing if it was killed; return how many of its tests failed."""
        if not text:
            return 0
        self._is_known = True
        found = json.loads(text)
        for kind, data in found["stats"].items():
            reports = data if kind == WARNINGS else [self._report(each) for each in data]
            self._stats.setdefault(kind, []).extend(reports)
            for each in reports if kind != WARNINGS else ():
                if self._comment and hasattr(each, "when"):  # a test's, not that of a module that could not be collected
                    self._comment.tests.take(each)
        return int(found["failed"])

    def _report(self, data: Event) -> Any:
        if isinstance(data.get("longrepr"), list):  # of a test that was skipped
            data["longrepr"] = tuple(data["longrepr"])
        return self._config.hook.pytest_report_from_serializable(config=self._config, data=data)

    def show(self) -> None:
        """Print the summary, and write the comment: this process's session ends without pytest's hook for its end."""
        if self._comment:
            self._comment.write()
        if (reporter := _reporter(self._config)) and self._is_known:
            reporter.stats = self._stats
            for part in PARTS:
                getattr(reporter, part)()
