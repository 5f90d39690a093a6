"""An experiment on a compose project without any Python: `slownet run compose.yaml --vary db:rtt=... --tool ab`.

It is written into its run directory as experiment.json, from which the lab and ``--resume`` read it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.compose import extension
from slownet.compose.extension import NAMED
from slownet.compose.model import SWITCH, Project
from slownet.compose.project_topology import Compose
from slownet.hypotheses import project_tools, recorded
from slownet.hypotheses.experiment import VARY, Cell, grid
from slownet.hypotheses.recorded import Recorded
from slownet.judge.records.condition_columns import HOST, NONE
from slownet.judge.records.run_json import MALFORMED
from slownet.links.conditions import other_names
from slownet.links.conditions.link import WORDS
from slownet.links.faults import Faults
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.shapes import Json
from slownet.services.in_files import Page


@dataclass
class Composed(Recorded):
    """An experiment whose tool, options and conditions are words of the command line."""

    @property
    def project(self) -> Project:
        """The contents of the compose files."""
        assert isinstance(self.topology, Compose)
        return self.topology.project


def make(
    files: Sequence[Path], vary: Mapping[str, Sequence[str]], tool: str | None, url: str | None, options: Mapping[str, str],
    command: str | None = None, values: Sequence[str] = (), *, faults: str | None = None,
) -> Composed:  # fmt: skip
    """Return the experiment of a command line, with a tool or a command.

    faults: what breaks while that runs, as text; what the files state, unless given. Raises ComposeError, ExperimentError,
    ConditionError, UnitError."""
    whole = [str(each.absolute()) for each in files]
    record = {
        "files": whole, "vary": {name: list(each) for name, each in vary.items()}, "tool": tool, "url": url,
        "options": dict(options), "command": command, "values": list(values), "faults": faults,
    }  # fmt: skip
    return _of(record)


def read(path: Path) -> Composed:
    """Return the experiment in a file. Raises ExperimentError and what `make` raises."""
    return of(path, recorded.read(path))


def of(path: Path, record: Mapping[str, Json]) -> Composed:
    """Return the experiment of a record that was read from a file. Raises ExperimentError and what `make` raises."""
    try:
        return _of(record)
    except MALFORMED as error:
        raise recorded.unreadable(path, error) from error


def _of(record: Mapping[str, Json]) -> Composed:
    topology = Compose(*record["files"])
    project = topology.project
    tool, options = project_tools.chosen(record, project)
    vary = {name: tuple(texts) for name, texts in record["vary"].items()}
    _check(vary, project)
    broken = _faults(record.get("faults"), project)
    measured = topology if record.get("command") is not None else Page(record["url"] or "")

    def measure(net: Any, **cell: str) -> Any:
        with ExitStack() as stack:
            for host, condition in _conditions(cell, project).items():
                stack.enter_context(net.link(host, SWITCH).set(condition))
            if broken.steps and (running := topology.running):
                stack.callback(running.restore)  # the next cell finds everything as this one did
                stack.enter_context(running.faults(broken))
            return tool.run(net, measured, options)

    what = " ".join(filter(None, (record.get("command") or record["tool"], record["url"])))
    question = f"{what} on the compose project {project.name}" + (f": {broken}" if broken.steps else "")
    one: Sequence[Cell] = [] if vary else [{}]
    return Composed(
        re.sub(r"\W+", "_", project.name), question, measure, topology, vary, listed=one, record=record,
        made_of=(tool.function,), warm_up=tool.warm_up,
    )  # fmt: skip


def _faults(words: str | None, project: Project) -> Faults:
    """Return what is to break. Raises SlownetError for what cannot, in a project."""
    if words is None:
        return project.faults
    chosen = Faults.parse(words)
    try:
        extension.check(project, chosen)
    except SlownetError as error:
        raise type(error)(error.what, f"{VARY} faults, {error.where}", error.fix) from error
    return chosen


def _check(vary: Mapping[str, Sequence[str]], project: Project) -> None:
    """Raise SlownetError for a condition that is not a host's, is unknown, or that no link can have."""
    for name in vary:
        host, colon, word = name.rpartition(HOST)
        if not colon or host not in project.hosts:
            what = f"no host '{host}' in {project.name}" if colon else f"'{name}' names no host"
            fix = nearest(host, project.hosts) if colon else f"write {VARY} {project.services[0].name}:{name}=..."
            raise ExperimentError(what, VARY, fix)
        if word not in WORDS and word != NAMED:
            fix = other_names.field(word, [*WORDS, NAMED])
            raise ExperimentError(f"a condition has no field '{word}'", f"{VARY} {name}", fix)
    for cell in grid(vary):
        try:
            _conditions(cell, project)
        except SlownetError as error:
            where = " ".join(f"{name}={text}" for name, text in cell.items())
            raise type(error)(error.what, f"{VARY} {where}", error.fix) from error


def _conditions(cell: Mapping[str, str], project: Project) -> dict[str, Json]:
    """Return the conditions of a cell by host: what the compose file states, changed by the cell."""
    found: dict[str, dict[str, str | None]] = {}
    for name, text in cell.items():
        host, _, word = name.rpartition(HOST)
        stated = found.setdefault(host, dict(project.conditions.get(host, {})))
        stated[word] = None if text == NONE and word != NAMED else text
    return {
        host: extension.parse({word: text for word, text in each.items() if text is not None}) for host, each in found.items()
    }
