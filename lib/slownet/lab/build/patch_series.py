"""The series of patches that make the lab's kernel: the newest is stored whole, an older one as what differs from it.

A series is a folder, named after the first release that it applies to. Its file ``series``, if it has one, lists the patches
that it takes from the newest series, in their order, as quilt's does. ``NAME.diff`` beside it changes the text of that patch:
there the two kernels differ, and the patch reports by itself what it does to each of them.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.model.errors import LabError

LIST = "series"
_CHANGED = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
_PATCH = ["patch", "--forward", "--no-backup-if-mismatch", "--reject-file=-"]


@dataclass(frozen=True)
class Patch:
    """One patch of a series."""

    name: str
    text: str

    @property
    def files(self) -> set[str]:
        """The files of the kernel that it changes, creates or removes."""
        return set(_CHANGED.findall(self.text))

    def apply(self, tree: Path) -> bool:
        """Apply it to a kernel's source if it fits; return whether it did."""
        words = [*_PATCH, "-p1", "--fuzz=3", "--directory", str(tree)]
        return subprocess.run(words, input=self.text.encode(), capture_output=True, check=False).returncode == 0


def folders(root: Path) -> list[Path]:
    """Return the series in a folder, newest first."""
    return sorted((each for each in root.iterdir() if each.is_dir()), key=_release, reverse=True)


def read(series: Path, newest: Sequence[Patch] | None = None) -> Sequence[Patch]:
    """Return the patches of a series in their order, whole.

    `newest`: the series that it differs from, if not the newest one beside it. Raises LabError if a difference does not fit.
    """
    if not (series / LIST).exists():
        return _stored(series)
    whole = {each.name: each for each in newest or _stored(folders(series.parent)[0])}
    return [_as_in(series, whole[name]) for name in listed(series)]


def listed(series: Path) -> list[str]:
    """Return the names of the patches that a series takes from the newest one."""
    return (series / LIST).read_text(encoding="utf-8").split()


def _release(series: Path) -> list[int]:
    return [int(part) for part in series.name.split(".")]


def _stored(folder: Path) -> list[Patch]:
    return [Patch(each.name, each.read_text(encoding="utf-8")) for each in sorted(folder.glob("*.patch"))]


def _as_in(series: Path, patch: Patch) -> Patch:
    """Return a patch of the newest series as another one has it."""
    difference = series / f"{patch.name}.diff"
    if not difference.exists():
        return patch
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / patch.name
        file.write_text(patch.text, encoding="utf-8")
        done = subprocess.run([*_PATCH, "--fuzz=0", file, difference], capture_output=True, check=False)
        if done.returncode:
            fix = "restore that folder as it was installed, or carry what differs over with tests/kernels/carry.py"
            raise LabError(f"{series.name}/{difference.name} does not fit that patch", where=str(series), fix=fix)
        return Patch(patch.name, file.read_text(encoding="utf-8"))
