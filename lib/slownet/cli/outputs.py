"""Files that a command writes besides its text: `--out KIND=FILE`, for CI services, monitoring and other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.model import whole_file
from slownet.model.errors import ExperimentError, nearest
from slownet.model.version import __version__

if TYPE_CHECKING:  # most commands write neither
    from slownet.comparison.runs import Comparison
    from slownet.judge.records.result import RunData
    from slownet.model.shapes import Json

OUT = "--out"
STDOUT = Path("-")
JSON, JUNIT, MARKDOWN, OPENMETRICS, COMMENT, HISTORY = "json", "junit", "markdown", "openmetrics", "comment", "history"
OF_RUNS = (JSON, JUNIT, MARKDOWN, OPENMETRICS)
OF_COMPARISONS = (JSON, JUNIT, MARKDOWN, COMMENT, HISTORY)
PICTURES = ("svg", "png", "pdf")
"""`slownet.report.figure.KINDS`, whose import is not worth it to complete or refuse a word."""
OWN = {
    JSON: {".json": '{"slownet": "'},
    HISTORY: {".jsonl": "", ".json": ""},  # which is added to
    "speedscope": {".json": '{"exporter": "slownet"'},
    "chrome-trace": {".json": '{"otherData": {"exporter": "slownet"'},
}
"""The begins of files that may be overwritten, by kind and the ends of their names; see `whole_file.check`."""


def need_place(path: Path, option: str, own: Mapping[str, str] = whole_file.NONE) -> None:
    """Raise ExperimentError if a file cannot or must not be written, before something is measured for it.

    Its folder does not exist, it is a folder itself or not to be written, or `whole_file.check` refuses it. own: see there.
    """
    if not path.absolute().parent.is_dir():
        raise ExperimentError(f"no folder {path.absolute().parent}", option, "make it, or name another file")
    if path.is_dir():
        raise ExperimentError(f"{path} is a folder", option, "name a file in it")
    if not path.exists():
        whole_file.need_folder(path.absolute().parent, option)
    elif not os.access(path, os.W_OK):
        raise ExperimentError(f"{path} cannot be written", option, "name another file")
    whole_file.check(path, option, own)


def pairs(texts: Sequence[str], kinds: Sequence[str], alone: Collection[str] = ()) -> dict[str, Path | None]:
    """Parse the values of ``--out``, KIND=FILE. Raises ExperimentError.

    kinds: those that the command writes; alone: those that need no file, which is then None.
    """
    files: dict[str, Path | None] = {}
    for text in texts:
        kind, equals, name = text.partition("=")
        if kind not in kinds:
            raise ExperimentError(f"unknown output '{kind}'", OUT, nearest(kind, kinds))
        if not (equals and name) and (equals or kind not in alone):
            raise ExperimentError(f"no file for '{kind}'", OUT, f"write {OUT} {kind}=FILE")
        if kind in files:
            raise ExperimentError(f"two files for '{kind}'", OUT, "name one")
        files[kind] = Path(name) if name else None
    return files


@dataclass(frozen=True)
class Outputs:
    """The files that the caller wants, by kind. JSON may go to standard output, in place of the text.

    Raises ExperimentError before anything is measured or printed, if a file cannot be written or the history is damaged.
    """

    files: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def read(cls, texts: Sequence[str], kinds: Sequence[str]) -> Outputs:
        """Return the outputs that ``--out`` names. kinds: those that the command writes. Raises ExperimentError."""
        return cls({kind: path for kind, path in pairs(texts, kinds).items() if path})

    def __post_init__(self) -> None:
        for kind, path in self.files.items():
            if path == STDOUT and kind != JSON:
                raise ExperimentError(f"only {JSON} goes to standard output", _where(kind), "name a file")
            if path != STDOUT:
                need_place(path, _where(kind), OWN.get(kind, whole_file.NONE))
        if history := self.files.get(HISTORY):
            from slownet.comparison import comment

            comment.read(history)

    def write_json(self, record: Callable[[], Json]) -> bool:
        """Write the result, with the version of slownet, as one JSON object; return whether that was on standard output."""
        path = self.files.get(JSON)
        if path is None:
            return False
        text = json.dumps({"slownet": __version__, **record()}, allow_nan=False)
        if path == STDOUT:
            print(text)
        else:
            whole_file.write(path, f"{text}\n", _where(JSON), OWN[JSON])
        return path == STDOUT

    def write(self, runs: Sequence[RunData]) -> None:
        """Write the results of runs. Raises ExperimentError."""
        if self.files.keys() & {JUNIT, MARKDOWN}:
            from slownet.report import junit, summary

            self._write(junit.write(map(junit.of_run, runs)), "\n".join(map(summary.of_run, runs)))
        if path := self.files.get(OPENMETRICS):
            from slownet.report import openmetrics

            whole_file.write(path, openmetrics.write(runs), _where(OPENMETRICS))

    def write_comparison(self, found: Comparison) -> None:
        """Write the results of a comparison. Raises ExperimentError."""
        if self.files.keys() & {JUNIT, MARKDOWN}:
            from slownet.comparison import field_tables
            from slownet.report import junit

            self._write(junit.write([field_tables.suite(found)]), field_tables.markdown(found))
        if self.files.keys() & {COMMENT, HISTORY}:
            from slownet.comparison import comment

            history = self.files.get(HISTORY)
            before = comment.read(history) if history else []
            if path := self.files.get(COMMENT):
                whole_file.write(path, comment.comment(found, before), _where(COMMENT))
            if history and (entry := comment.Entry.of(found)) not in before:
                comment.append(history, entry)

    def _write(self, junit: str, markdown: str) -> None:
        if path := self.files.get(JUNIT):
            whole_file.write(path, junit, _where(JUNIT))
        if path := self.files.get(MARKDOWN):
            whole_file.append(path, markdown, _where(MARKDOWN))


def _where(kind: str) -> str:
    return f"{OUT} {kind}"
