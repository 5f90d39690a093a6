"""Which folders of this machine a session's lab can see, and how reports get out of the lab."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from slownet.lab.boot import Share
from slownet.lab.caller import import_path, outermost, within
from slownet.pytest_plugin import projects
from slownet.pytest_plugin.wishes import REPORT
from slownet.userfile import expanded

AT = "/run/slownet-reports"


class Shares:
    """The folders of a session. A report whose folder cannot be shared with the lab (/tmp) goes through a staging folder."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._writable = outermost([config.rootpath, config.invocation_params.dir, *_folders_of_reports(config)])
        self._readable = [each for each in outermost(_read(config)) if not within(each, self._writable)]
        self._apart = [each for each in _reports(config) if not within(each, self._writable)]
        self._staging: Path | None = None

    def all(self) -> list[Share]:
        """Return the shares of the lab."""
        given = [Share(each) for each in self._readable] + [Share(each, writable=True) for each in self._writable]
        return (
            given
            + projects.shares(self._config)
            + ([Share(self._staging, writable=True, at=AT)] if self._staging and self._apart else [])
        )

    def links(self) -> list[str]:
        """Return the arguments of `pytest_inside` for reports that go through the staging folder."""
        return [word for n, path in enumerate(self._apart) for word in ("--link", f"{path}={AT}/{n}")]

    @contextlib.contextmanager
    def staged(self) -> Generator[None]:
        """Provide the staging folder while the lab runs, then move the reports to their paths."""
        if not self._apart:
            yield
            return
        with tempfile.TemporaryDirectory(prefix="slownet-") as folder:
            self._staging = Path(folder)
            try:
                yield
            finally:
                for number, path in enumerate(self._apart):
                    if (self._staging / str(number)).is_file():
                        path.parent.mkdir(parents=True, exist_ok=True)
                        shutil.move(self._staging / str(number), path)
                self._staging = None


def _read(config: pytest.Config) -> Iterator[Path]:
    yield from import_path(config.invocation_params.dir)
    for text in config.args:
        path = (config.invocation_params.dir / text.partition("::")[0]).absolute()
        yield path if path.is_dir() else path.parent
    if config.inipath:
        yield config.inipath.parent


def _reports(config: pytest.Config) -> list[Path]:
    """Return the report files that pytest and its plugins will write."""
    coverage = getattr(config.option, "cov_report", None)
    texts = [config.getoption("xmlpath", None), config.getoption("log_file", None), config.getoption("report_log", None)]
    texts += coverage.values() if isinstance(coverage, dict) else []
    return [config.invocation_params.dir / expanded(text) for text in texts if text]


def _folders_of_reports(config: pytest.Config) -> Iterator[Path]:
    yield from (each.parent for each in _reports(config))
    if config.getoption(REPORT):
        folder = config.invocation_params.dir / config.getoption(REPORT)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    if config.pluginmanager.hasplugin("cacheprovider"):
        folder = config.rootpath / config.getini("cache_dir")
        if not folder.is_relative_to(config.rootpath):
            folder.mkdir(parents=True, exist_ok=True)
            yield folder
