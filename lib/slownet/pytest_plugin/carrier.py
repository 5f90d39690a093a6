"""Carries what a lab of pytest's wrote to its places on this machine: regular files of the names that the session keeps."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from slownet.judge.records.samples import RUN, SAMPLES
from slownet.lab.run import outbox
from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.deposit import ALL_BYTES, FILE_BYTES, place_below, remove_below
from slownet.lab.run.outbox import Outbox, RefusedError, shown
from slownet.model.errors import first_of
from slownet.pytest_plugin.exports import Plan

OF_A_RUN = (RUN, SAMPLES)
"""Files that the lab writes into a run directory; it also has folders of them. The rest is made here, from these."""
FOLDERS_OF_A_RUN = ("raw", "services", "captures")
NAMED = 5
"""So many files are named in a line."""


@dataclass
class Carried:
    """The files carried, and the notes for this machine's user."""

    runs: list[Path] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def lines(self, here: Path) -> list[str]:
        """Return one line about what was refused, and one about what was not kept."""
        found = [outbox.complaint(self.refused)] if self.refused else []
        if self.left:
            names = [shown(each.removeprefix(f"{here}/")) for each in sorted(self.left)]
            rule = "files that [tool.slownet] write names are kept"
            found.append(f"written in the lab and not kept: {first_of(names, NAMED)}; {rule}")
        return found


def carry(plan: Plan, out: Path, done: Iterable[PurePosixPath] = ()) -> Carried:
    """Carry what a lab wrote to its places on this machine, but for files that were carried before."""
    carried = Carried()
    carrier = _Carrier(plan, out, carried)
    carrier.deletions()
    carrier.files(range(len(plan.keep)), set(done), everything=True)
    return carried


def carry_coverage(plan: Plan, out: Path, done: set[PurePosixPath]) -> Carried:
    """Carry the coverage data that a lab has written so far, and add its names to what is done."""
    carried = Carried()
    _Carrier(plan, out, carried).files([number for number, keep in enumerate(plan.keep) if keep.coverage], done)
    return carried


def carry_late(plan: Plan, out: Path) -> Carried:
    """Carry what the lab of a killed session wrote, unless there is a newer file by now."""
    carried = Carried()
    _Carrier(plan, out, carried, late=True).files(range(len(plan.keep)), set(), everything=True)
    return carried


class _Carrier:
    """Copies the files of one folder, by their names in it."""

    def __init__(self, plan: Plan, out: Path, carried: Carried, late: bool = False) -> None:
        self._plan, self._box, self._carried, self._late = plan, Outbox(out), carried, late
        self._left = ALL_BYTES
        self._runs: dict[str, str] = {}
        self._bases = [each.base.resolve() for each in plan.keep]
        self._begun: set[int] = set()

    def files(self, kept: Sequence[int] | range, done: set[PurePosixPath], everything: bool = False) -> None:
        """Carry the files of these entries, or everything; add their names to those that are done."""
        refuse = self._carried.refused.append if everything else lambda line: None
        for entry in self._box.files(refuse):
            kind, *rest = entry.name.parts
            if entry.name in done or entry.name.name.startswith(".slownet-") or kind in (inside.SEED, inside.GONE):
                continue
            if kind == inside.KEPT and len(rest) > 1 and rest[0].isdecimal() and int(rest[0]) in kept:
                self._kept(entry, int(rest[0]), PurePosixPath(*rest[1:]))
            elif not everything:
                continue
            elif kind == inside.RECORDS and len(rest) > 1 and self._plan.records:
                self._record(entry, rest[0], PurePosixPath(*rest[1:]))
            elif kind == inside.LOGS and len(rest) == 1 and rest[0] in map(str, range(len(self._plan.logs))):
                path = self._plan.logs[int(rest[0])].resolve()
                self._log(entry, path)
            elif kind == inside.LEFT and len(rest) == 1:
                self._carried.left += [each for each in self._names(entry.name) if isinstance(each, str)]
            elif kind != inside.LOGS or not self._late:
                refuse(f"{shown(entry.name)} belongs nowhere")
                continue
            done.add(entry.name)

    def deletions(self) -> None:
        """Delete what was deleted in the lab and is kept."""
        gone = [entry.name for entry in self._box.files() if entry.name.parts[0] == inside.GONE]
        for pair in (each for name in gone for each in self._names(name)):
            match pair:
                case [int(number), str(text)] if 0 <= number < len(self._plan.keep):
                    if self._plan.keep[number].has(PurePosixPath(text)):
                        with contextlib.suppress(OSError, RefusedError):  # it is not there, or is a folder
                            remove_below(self._bases[number], text)

    def _kept(self, entry: outbox.Entry, number: int, below: PurePosixPath) -> None:
        keep = self._plan.keep[number]
        if keep.coverage and (len(below.parts) > 1 or not self._is_coverage(entry)):
            self._carried.refused.append(f"{shown(below)} is not coverage data")
        elif keep.has(below):
            if keep.fresh and number not in self._begun:
                shutil.rmtree(self._bases[number] / keep.pattern[0], ignore_errors=True)  # follows no link
            self._begun.add(number)
            self._place(entry, self._bases[number], below)
        else:
            self._carried.refused.append(f"{shown(below)} is not what is kept")

    def _is_coverage(self, entry: outbox.Entry) -> bool:
        """Return whether pytest-cov can combine a file: one that it cannot read would end the session.

        SQLite takes a file of one byte for an empty database.
        """
        try:
            import coverage
        except ImportError:
            return False
        with tempfile.NamedTemporaryFile(prefix="slownet-coverage-") as copy:
            try:
                copy.write(self._box.read(entry.name, FILE_BYTES))
                copy.flush()
                data = coverage.CoverageData(basename=copy.name)
                data.read()
                for name in data.measured_files():
                    data.contexts_by_lineno(name)
            except Exception:  # whatever a file of a lab's makes it raise
                return False
        return True

    def _record(self, entry: outbox.Entry, name: str, below: PurePosixPath) -> None:
        records = self._plan.records
        assert records
        ours = below.parts[0] in FOLDERS_OF_A_RUN if len(below.parts) > 1 else below.name in OF_A_RUN
        if not ours or not re.fullmatch(r"\w[\w.-]{0,200}", name):
            self._carried.refused.append(f"{shown(entry.name)} is not part of a run directory")
            return
        if name not in self._runs:
            self._runs[name] = _new_name(records, name)
            self._carried.runs.append(records / self._runs[name])
        self._place(entry, records.resolve(), self._runs[name] / below)

    def _place(self, entry: outbox.Entry, base: Path, below: PurePosixPath) -> None:
        if self._late:
            with contextlib.suppress(FileNotFoundError):
                if (base / below).lstat().st_mtime_ns > entry.mtime_ns:
                    return
        try:
            if not str(below).isprintable() or any(each.startswith(".slownet-") for each in below.parts):
                raise RefusedError(f"{shown(below)} is not a name for a file")
            limit = min(FILE_BYTES, self._left)
            with self._box.open(entry.name, limit) as file:
                self._left -= place_below(base, below, file, limit)
        except RefusedError as error:
            self._carried.refused.append(error.what)
        except OSError as error:
            self._carried.refused.append(f"{shown(below)} cannot be written in {base} ({error.strerror})")

    def _log(self, entry: outbox.Entry, path: Path) -> None:
        if not self._plan.adds_to_logs:
            self._place(entry, path.parent, PurePosixPath(path.name))
            return
        limit = min(FILE_BYTES, self._left)
        try:
            with self._box.open(entry.name, limit) as file, path.open("ab") as log:
                content = outbox.read_up_to(file, limit)
                log.write(content)
                self._left -= len(content)
        except RefusedError as error:
            self._carried.refused.append(error.what)
        except OSError as error:
            self._carried.refused.append(f"{path} cannot be written ({error.strerror})")

    def _names(self, name: PurePosixPath) -> list[Any]:
        """Return a list that a lab wrote as JSON; empty if it is not one."""
        try:
            found = json.loads(self._box.read(name, 2**24))
        except (RefusedError, ValueError, RecursionError):
            return []
        return found if isinstance(found, list) else []


def _new_name(folder: Path, name: str) -> str:
    """Make a folder of this name, or with a number behind it, and return its name: every lab has the same dates."""
    number = 1
    while True:
        own = name if number == 1 else f"{name}-{number}"
        try:
            (folder / own).mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return own
