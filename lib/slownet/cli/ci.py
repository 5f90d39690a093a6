"""Writes results for CI services and monitoring: JUnit XML, a Markdown summary, OpenMetrics, a comment for a pull request."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.model import whole_file
from slownet.model.errors import ExperimentError

if TYPE_CHECKING:  # most commands write neither
    from slownet.judge.records.result import RunData
    from slownet.trials.field.runs import Comparison

HISTORIES = {".jsonl": "", ".json": ""}
"""The ends of names of a history, which is added to."""


def need_place(path: Path, option: str, own: Mapping[str, str] = whole_file.NONE) -> None:
    """Raise ExperimentError if a file cannot or must not be written, before something is measured for it.

    Its folder does not exist, it is a folder itself or not to be written, or `whole_file.check` refuses it. own: see there.
    """
    if not path.absolute().parent.is_dir():
        raise ExperimentError(f"no folder {path.absolute().parent}", option, "make it, or name another file")
    if path.is_dir():
        raise ExperimentError(f"{path} is a folder", option, "name a file in it")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise ExperimentError(f"{path} cannot be written", option, "name another file")
    whole_file.check(path, option, own)


@dataclass(frozen=True)
class ForCi:
    """The files that the caller wants, None for none.

    Raises ExperimentError if their folder does not exist, one is a folder itself or not to be written, or the history is
    damaged, before anything is measured or said.
    """

    junit: Path | None = None
    summary: Path | None = None
    comment: Path | None = None
    history: Path | None = None
    """Where a comparison adds its second run, and where its comment takes the runs before from."""
    prometheus: Path | None = None

    def __post_init__(self) -> None:
        for option, path in (
            ("--junit", self.junit),
            ("--summary", self.summary),
            ("--comment", self.comment),
            ("--history", self.history),
            ("--prometheus", self.prometheus),
        ):
            if path:
                need_place(path, option, HISTORIES if path == self.history else whole_file.NONE)
        if self.history:
            from slownet.trials.field import comment

            comment.read(self.history)

    def write(self, runs: Sequence[RunData]) -> None:
        """Write the results of runs. Raises ExperimentError."""
        if self.junit or self.summary:
            from slownet.report import junit, summary

            self._write(junit.write(map(junit.of_run, runs)), "\n".join(map(summary.of_run, runs)))
        if self.prometheus:
            from slownet.report import openmetrics

            whole_file.write(self.prometheus, openmetrics.write(runs), "--prometheus")

    def write_comparison(self, found: Comparison) -> None:
        """Write the results of a comparison. Raises ExperimentError."""
        if self.junit or self.summary:
            from slownet.report import junit
            from slownet.trials.field import field_tables

            self._write(junit.write([field_tables.suite(found)]), field_tables.markdown(found))
        if self.comment or self.history:
            from slownet.trials.field import comment

            before = comment.read(self.history) if self.history else []
            if self.comment:
                whole_file.write(self.comment, comment.comment(found, before), "--comment")
            if self.history and (entry := comment.Entry.of(found)) not in before:
                comment.append(self.history, entry)

    def _write(self, junit: str, summary: str) -> None:
        if self.junit:
            whole_file.write(self.junit, junit, "--junit")
        if self.summary:
            whole_file.append(self.summary, summary, "--summary")
