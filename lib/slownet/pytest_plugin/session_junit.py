"""JUnit XML of sessions in labs: with this machine's dates and times, in one file if there were several labs.

A lab's pytest knows only the lab's clock. The suite is timed from outside. Each test is timed inside, by the dates of files in
the folder that the lab writes to, a folder of this machine: a new file has this machine's date, whatever the lab's clock shows.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slownet.lab.host import native
from slownet.lab.run.pytest_inside import OUT
from slownet.pytest_plugin.forwarding import is_forwarded

ATTRIBUTE = "slownet_wall_s"
"""Of a test's report: how long it took by this machine's clock."""


def register(config: pytest.Config) -> None:
    """Register what times tests."""
    if native.inside_lab() and not is_forwarded(config):  # the host times those
        config.pluginmanager.register(InLab(config), "slownet times")
    if not hasattr(config, "workerinput"):  # a worker writes no report
        config.pluginmanager.register(Written(), "slownet written times")


@dataclass(frozen=True)
class Span:
    """When a session in a lab began, and how long it takes, by this machine's clock."""

    date: datetime.datetime = field(default_factory=lambda: datetime.datetime.now().astimezone())
    began: float = field(default_factory=time.monotonic)

    def date_of(self, suite: ET.Element) -> None:
        """Write into a suite that has just ended when it ran, how long and where."""
        seconds = time.monotonic() - self.began
        suite.attrib |= {"timestamp": self.date.isoformat(), "time": f"{seconds:.3f}", "hostname": platform.node()}


class Reports:
    """Collects the suites that each place's pytest wrote, and writes them to one file."""

    def __init__(self, path: str | None) -> None:
        self._path = Path(os.path.abspath(os.path.expanduser(os.path.expandvars(path)))) if path else None
        self._suites: list[ET.Element] = []

    def take(self, span: Span) -> None:
        """Read and remove the current file; a pytest that was killed leaves none. One that is no XML stays as it is."""
        if self._path and self._path.is_file():
            try:
                suites = list(ET.parse(self._path).getroot().iter("testsuite"))
            except (ET.ParseError, ValueError, LookupError) as error:  # of an unknown encoding, too
                print(f"slownet: {self._path} is no report: {error}", file=sys.stderr)
                return
            for each in suites:
                span.date_of(each)
            self._suites.extend(suites)
            self._path.unlink()

    def merge(self) -> None:
        """Write all collected suites."""
        if self._path and self._suites:
            root = ET.Element("testsuites", {"name": "pytest tests"})
            root.extend(self._suites)
            ET.ElementTree(root).write(self._path, encoding="utf-8", xml_declaration=True)


class InLab:
    """Times each phase of each test in a lab by this machine's clock, and adds that to the phase's report."""

    def __init__(self, config: pytest.Config, folder: Path | str = OUT) -> None:
        worker: dict[str, object] = getattr(config, "workerinput", {})
        self._file = Path(folder, f".slownet-time-{worker.get('workerid', 'main')}")
        self._last: float | None = None

    def now(self) -> float | None:
        """Return this machine's time: the date of a new file; None without that folder."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)  # of a session that was killed
            self._file.touch(exist_ok=False)
            try:
                return self._file.stat().st_mtime
            finally:
                self._file.unlink()
        return None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._last = self.now()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = self.now()
        if now is not None and self._last is not None:
            setattr(report, ATTRIBUTE, max(0.0, now - self._last))
        self._last = now
        return report


class Written:
    """Gives reports of workers in labs the times of this machine."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        report.duration = getattr(report, ATTRIBUTE, report.duration)
        return (yield)
