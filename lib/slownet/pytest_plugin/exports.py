"""Files that leave the lab of a session, with their targets on this machine: fixed before the lab starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from slownet.lab.build import project
from slownet.lab.run import pytest_inside as inside
from slownet.model.shapes import Json
from slownet.model.userfile import expanded
from slownet.pytest_plugin.fixtures import LOGS
from slownet.pytest_plugin.wishes import REPORT


@dataclass(frozen=True)
class Keep:
    """An entry that leaves the lab: see `slownet.lab.run.pytest_inside.Entry`."""

    base: Path
    """The folder as the session calls it."""
    pattern: tuple[str, ...] = ()
    always: bool = False
    """True if it is copied after every test."""
    coverage: bool = False
    """True if it is coverage data, which the controller of pytest-xdist combines before its workers' labs end."""
    but: tuple[str, ...] = ()
    """The beginning of paths that this machine's pytest writes, and reads again in the same session."""
    fresh: bool = False
    """True if what is there goes before the first file comes, as with pytest's folder for temporary files."""

    @classmethod
    def of(cls, path: Path, always: bool = False) -> Keep:
        """Return what keeps one path: an existing folder with all below it, or a name."""
        return cls(path, always=always) if path.is_dir() else cls(path.parent, (path.name,), always)

    def has(self, below: PurePosixPath) -> bool:
        """Return whether a path relative to the base may come from the lab."""
        return self.entry.has(below) and not (self.but and below.parts[: len(self.but)] == self.but)

    @property
    def entry(self) -> inside.Entry:
        return inside.Entry(str(self.base), self.pattern, self.always)


@dataclass(frozen=True)
class Plan:
    """The places of a session's files on this machine; the lab does not decide on it."""

    root: Path
    records: Path | None = None
    keep: tuple[Keep, ...] = ()
    logs: tuple[Path, ...] = ()
    temporary: Path | None = None
    """The lab's folder for temporary files; None leaves it to pytest."""
    adds_to_logs: bool = False
    """True if what the lab logs comes after what is in these files, which this process writes, too."""

    def to_json(self) -> dict[str, Json]:
        """Return it for the session that finds the folder of a killed one; paths with their links followed."""
        return {
            "root": str(self.root),
            "records": str(self.records.resolve()) if self.records else None,
            "keep": [[str(each.base.resolve()), each.pattern, each.always] for each in self.keep],
        }

    def of_killed(self, found: Mapping[str, Json]) -> Plan:
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


def planned(config: pytest.Config, lab: str = "", alone: bool = True) -> Plan:
    """Return what leaves the labs of a session. Raises SlownetError.

    lab: the name of the one whose tests this process reports, none with workers; alone: this process runs no others.
    """
    here = config.invocation_params.dir
    report = config.getoption(REPORT)
    temporary = _temporary(config, lab, alone) if lab else None
    keep = [*_of_pytest(config, temporary), *_of_coverage(config), *_of_project(config.rootpath)]
    return Plan(
        config.rootpath, here / report if report else None, tuple(dict.fromkeys(keep)), tuple(dict.fromkeys(_logs(config))),
        temporary, adds_to_logs=bool(lab),
    )  # fmt: skip


def _temporary(config: pytest.Config, lab: str, alone: bool) -> Path | None:
    """Return the folder for temporary files of a lab: one of this session's, so that a path means the same in both."""
    factory = getattr(config, "_tmp_path_factory", None)
    if factory is None:  # without pytest's plugin for them
        return None
    if alone and config.getoption("basetemp", None):
        return None
    return Path(factory.getbasetemp(), lab)


def _of_pytest(config: pytest.Config, temporary: Path | None) -> Iterator[Keep]:
    here = config.invocation_params.dir
    if config.pluginmanager.hasplugin("cacheprovider"):
        yield Keep(config.rootpath / expanded(os.path.expandvars(config.getini("cache_dir"))), but=("v", "cache"))
    basetemp = config.getoption("basetemp", None)
    if temporary:
        yield Keep(temporary) if basetemp else Keep(temporary, (LOGS,))
    elif basetemp and not hasattr(config, "workerinput"):
        base = here / basetemp
        yield Keep(base.parent, (base.name,), fresh=True)  # no overlay's own folder: pytest removes and makes it
    else:
        yield from _logs_of_workers(config)
    if config.pluginmanager.hasplugin("hypothesispytest"):
        yield Keep(here / ".hypothesis")


def _logs_of_workers(config: pytest.Config) -> Iterator[Keep]:
    factory = getattr(config, "_tmp_path_factory", None)
    if factory is not None:
        yield Keep(Path(factory.getbasetemp()), ("popen-gw*", LOGS))  # the folders that pytest-xdist gives its workers


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
    """Yield the file that pytest writes while tests run."""
    ini = config.getini("log_file") if config.pluginmanager.hasplugin("logging-plugin") else None
    text = config.getoption("log_file", None) or ini
    if text and text != os.devnull:
        yield config.invocation_params.dir / text
