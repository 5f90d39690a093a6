"""Files that a program of a lab wrote to its folders, copied to the same folders of this machine.

The lab reads the folders (`slownet.cli.in_folder`) and writes to one of its own, whose contents are not trusted: regular
files alone, to a size and a number, are taken out, without following a link on either side. What other programs of this machine
would run or obey stays in the lab: names that begin with a dot, Python modules, makefiles, and files that are programs here.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Self

from slownet.lab.run import outbox
from slownet.lab.run.deposit import ALL_BYTES, FILE_BYTES, place_below
from slownet.lab.run.lab import Share
from slownet.lab.run.outbox import Entry, ObeyedError, Outbox, RefusedError, discard, shown
from slownet.lab.run.pytest_inside import GONE, KEPT, LEFT, LINK, OTHER, OUT
from slownet.model.errors import LabError, first_of

NAMED = 10
"""So many files are named in a line."""
LIST_BYTES = 2**24
ODD = (LINK, OTHER)
OBEYED = (".py", ".pyc", ".pyo", ".pth", ".so")
OBEYED_NAMES = ("makefile", "gnumakefile")


@dataclass
class Taken:
    """The files that were copied from a lab, and those that were not."""

    written: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why a file that was written is not here, a line each."""
    withheld: list[str] = field(default_factory=list)
    """Files that this machine would execute or obey, a line each: they stay in the lab by design; the program did not fail."""
    odd: list[str] = field(default_factory=list)
    """Files that are not regular, and are not results."""
    deleted: list[str] = field(default_factory=list)
    """Files that the program deleted in the lab, and that are here still."""
    lost: list[str] = field(default_factory=list)
    """Files in folders of the lab's own."""
    fix: str = "let the program write to its working directory"
    """The reason why those stay."""

    def lines(self) -> list[str]:
        """Return what a person is to know of it, one line for each kind."""
        found = [f"written: {first_of(self.written, NAMED)}"] if self.written else []
        if left := [*self.refused, *self.withheld, *self.odd]:
            found.append(f"slownet: {outbox.complaint(left)}")
        if self.deleted:
            found.append(f"slownet: deleted in the lab, and here still: {first_of(self.deleted, NAMED)}")
        if self.lost:
            found.append(f"slownet: written in the lab's own folders and not kept: {first_of(self.lost, NAMED)}: {self.fix}")
        return found


class Results:
    """A context manager: a folder for what a lab writes, while it runs. trees: the lab's writable folders, in order."""

    def __init__(self, trees: Sequence[Path], here: Path | None) -> None:
        self._trees = list(trees)
        self._here = here

    def __enter__(self) -> Self:
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="slownet-results-"))
        except OSError as error:
            raise LabError(f"no folder for the lab's output ({error.strerror})", "in the folder for temporary files") from error
        return self

    def __exit__(self, *error: object) -> None:
        discard(self._folder)

    @property
    def share(self) -> Share:
        """The lab's share of the folder."""
        return Share(self._folder, writable=True, at=OUT)

    def take(self) -> Taken:
        """Take the files to their places; the lab has ended."""
        taken, box, left = Taken(), Outbox(self._folder), ALL_BYTES
        if self._here is None:
            taken.fix = "run it in a folder of yours: a lab has its own of this one"
        for entry in box.files(taken.refused.append):
            kind, *rest = entry.name.parts
            if kind != KEPT:
                continue
            if len(rest) < 2 or not rest[0].isdecimal() or int(rest[0]) >= len(self._trees):
                taken.refused.append(f"{shown(entry.name)} belongs nowhere")
                continue
            left -= self._place(box, entry, self._trees[int(rest[0])], PurePosixPath(*rest[1:]), min(FILE_BYTES, left), taken)
        for number, text, what in _listed(box, LEFT, (int, str, str)):
            if 0 <= number < len(self._trees) and _is_below(text):
                lines = taken.odd if what in ODD else taken.refused
                lines.append(f"{self._shown(self._trees[number], text)} ({shown(what)})")
        for number, path in _listed(box, GONE, (int, str)):
            if 0 <= number < len(self._trees) and _is_below(path) and (self._trees[number] / path).is_file():
                taken.deleted.append(self._shown(self._trees[number], path))
        taken.lost = [shown(text) for (text,) in _listed(box, "own", (str,))]
        return taken

    def _place(self, box: Outbox, entry: Entry, tree: Path, below: PurePosixPath, limit: int, taken: Taken) -> int:
        if _hidden(below):  # histories and caches: of no use outside, and obeyed by shells and tools
            return 0
        name = self._shown(tree, str(below))
        try:
            if not str(below).isprintable():
                raise RefusedError(f"{name} is not a name for a file")
            if below.suffix in OBEYED or below.name.lower() in OBEYED_NAMES:
                raise ObeyedError(f"{name} is what other programs here would run")
            with box.open(entry.name, limit) as file:
                size = place_below(tree, below, file, limit, plain=True)
        except ObeyedError as error:
            taken.withheld.append(error.what)
        except RefusedError as error:
            taken.refused.append(error.what)
        except OSError as error:
            taken.refused.append(f"{name} cannot be written ({error.strerror})")
        else:
            taken.written.append(name)
            return size
        return 0

    def _shown(self, tree: Path, below: str) -> str:
        path = tree / below
        return shown(str(path.relative_to(self._here)) if self._here and path.is_relative_to(self._here) else str(path))


def _hidden(below: PurePosixPath) -> bool:
    return any(each.startswith(".") for each in below.parts)


def _is_below(text: str) -> bool:
    """Return whether a path that a lab wrote down is one of a file below a folder that is not hidden there."""
    try:
        return not _hidden(PurePosixPath(*outbox.parts_of(text)))
    except RefusedError:
        return False


def _listed(box: Outbox, name: str, kinds: tuple[type, ...]) -> list[Any]:
    """Return the rows of a list that a lab wrote as JSON, those of these types; a row of one type is not a list there."""
    try:
        found = json.loads(box.read(f"{name}.json", LIST_BYTES))
    except (RefusedError, ValueError, RecursionError):
        return []
    rows = [each if len(kinds) > 1 else [each] for each in found] if isinstance(found, list) else []
    return [each for each in rows if isinstance(each, list) and tuple(map(type, each)) == kinds]


def job(trees: Sequence[Path], elsewhere: Mapping[Path, str], here: Path | None, absent: str) -> str:
    """Return the job of `slownet.cli.in_folder`. here: the working directory; absent: absent.so, in the lab."""
    own = {str(path): at for path, at in elsewhere.items()}
    return json.dumps({"trees": [str(each) for each in trees], "elsewhere": own, "here": str(here or ""), "absent": absent})
