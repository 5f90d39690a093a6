"""Which files leave the lab of a session, and where they belong on this machine: fixed before the lab starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slownet import pytest_inside as inside
from slownet.lab import project
from slownet.pytest_plugin.wishes import REPORT
from slownet.userfile import expanded


@dataclass(frozen=True)
class Keep:
    """What leaves the lab: see `slownet.pytest_inside.Entry`."""

    base: Path
    """The folder as the session calls it."""
    pattern: tuple[str, ...] = ()
    always: bool = False
    """Whether it is copied after every test."""
    coverage: bool = False
    """Whether it is coverage data, which the controller of pytest-xdist combines before its workers' labs end."""
    fresh: bool = False
    """Whether what is there goes before the first file comes, as with pytest's folder for temporary files."""

    @classmethod
    def of(cls, path: Path, always: bool = False) -> Keep:
        """Return what keeps one path: a folder that is there with all below it, or a name."""
        return cls(path, always=always) if path.is_dir() else cls(path.parent, (path.name,), always)

    @property
    def entry(self) -> inside.Entry:
        return inside.Entry(str(self.base), self.pattern, self.always)


@dataclass(frozen=True)
class Plan:
    """Where a session's files belong on this machine; the lab has no say in it."""

    root: Path
    records: Path | None = None
    keep: tuple[Keep, ...] = ()
    logs: tuple[Path, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it for the session that finds the folder of a killed one; paths with their links followed."""
        return {
            "root": str(self.root),
            "records": str(self.records.resolve()) if self.records else None,
            "keep": [[str(each.base.resolve()), each.pattern, each.always] for each in self.keep],
        }

    def of_killed(self, found: Mapping[str, Any]) -> Plan:
        """Return the plan of a session that was killed, from its JSON; what this session would not keep is left out."""
        mine = self.to_json()
        if found["root"] != mine["root"]:
            raise ValueError("another project's")
        known = {(base, tuple(pattern)) for base, pattern, _ in mine["keep"]}
        theirs = ((base, tuple(pattern)) for base, pattern, _ in found["keep"])
        keep = (Keep(Path(each[0]), each[1]) if each in known else NOTHING for each in theirs)
        return Plan(self.root, self.records if found["records"] == mine["records"] else None, tuple(keep))


NOTHING = Keep(Path("/"), ("",))
"""Stands for an entry of another session's."""


def planned(config: pytest.Config) -> Plan:
    """Return what leaves the labs of a session. Raises SlownetError."""
    here = config.invocation_params.dir
    report = config.getoption(REPORT)
    keep = [*_of_pytest(config), *_of_coverage(config), *_of_project(config.rootpath)]
    return Plan(
        config.rootpath, here / report if report else None, tuple(dict.fromkeys(keep)), tuple(dict.fromkeys(_logs(config)))
    )  # fmt: skip


def _of_pytest(config: pytest.Config) -> Iterator[Keep]:
    here = config.invocation_params.dir
    if config.pluginmanager.hasplugin("cacheprovider"):
        yield Keep(config.rootpath / expanded(os.path.expandvars(config.getini("cache_dir"))))
    basetemp = config.getoption("basetemp", None)
    if basetemp and not hasattr(config, "workerinput"):
        base = here / basetemp
        yield Keep(base.parent, (base.name,), fresh=True)  # no overlay's own folder: pytest removes and makes it
    if config.pluginmanager.hasplugin("hypothesispytest"):
        yield Keep(here / ".hypothesis")
    for name in ("xmlpath", "htmlpath", "json_report_file"):
        text = config.getoption(name, None)
        if text:
            yield Keep.of(here / expanded(os.path.expandvars(text)))
            if name == "htmlpath":
                yield Keep((here / text).parent / "assets")


def _of_coverage(config: pytest.Config) -> Iterator[Keep]:
    here = config.invocation_params.dir
    coverage = getattr(getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None), "cov", None)
    settings = getattr(coverage, "config", None)
    data = here / (getattr(settings, "data_file", None) or os.environ.get("COVERAGE_FILE") or ".coverage")
    for name in (data.name, f"{data.name}.*"):
        yield Keep(data.parent, (name,), coverage=True)
    reports = getattr(config.option, "cov_report", None)
    stated = {"xml": "xml_output", "html": "html_dir", "json": "json_output", "lcov": "lcov_output"}
    for name, text in reports.items() if isinstance(reports, dict) else ():
        path = text or getattr(settings, stated.get(name, ""), None)
        if path and not name.startswith("term"):
            kept = here / expanded(path)
            yield Keep(kept) if name in ("html", "annotate") else Keep.of(kept)


def _of_project(root: Path) -> Iterator[Keep]:
    found = project.find(root)
    for path in found.write if found else ():
        folder = found.file.parent if found else root
        stated = [part for part in path.parts if not project.PATTERN.search(part)]
        if len(stated) == len(path.parts):
            yield Keep.of(folder / path, always=True)
        else:
            first = next(n for n, part in enumerate(path.parts) if project.PATTERN.search(part))
            yield Keep(folder.joinpath(*path.parts[:first]), path.parts[first:], always=True)


def _logs(config: pytest.Config) -> Iterator[Path]:
    """Yield the files that pytest and pytest-reportlog write while tests run."""
    ini = config.getini("log_file") if config.pluginmanager.hasplugin("logging-plugin") else None
    for text in (config.getoption("log_file", None) or ini, config.getoption("report_log", None)):
        if text and text != os.devnull:
            yield config.invocation_params.dir / text
