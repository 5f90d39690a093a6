"""Changes of a boot to the lab's disk, as a part of a snapshot: the upper layer of the lab's overlay."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from slownet.lab.run import import_path
from slownet.model.errors import LabError
from slownet.model.options import COLD
from slownet.services.snapshot import DISK, Data

REMOVED = "removed.json"
OPAQUE = "trusted.overlay.opaque"


def save(folder: Path) -> None:
    """Write what was added, changed and removed since the boot into a snapshot's folder. Raises SlownetError."""
    upper = _upper()
    mounted = set(_mounts())
    above = {parent for each in mounted for parent in each.parents}
    removed, kept = [], []
    of_this_boot = PurePosixPath(import_path.file()).relative_to("/")
    for path, is_removed in _changes(upper, mounted):
        if path == of_this_boot:
            continue
        if is_removed:
            removed.append(str(path))
        if path not in above and not _is_mark(upper / path):  # a folder above a mount may be of the host in another boot
            kept.append(str(path))
    (folder / REMOVED).write_text(json.dumps(removed))
    Data(folder / f"{DISK}.tar", saves=True).save(upper, kept, "--no-recursion", f"--xattrs-exclude={OPAQUE}")


def restore(folder: Path, root: Path = Path("/")) -> None:
    """Make the disk what it was when it was saved. Raises SlownetError."""
    for name in json.loads((folder / REMOVED).read_text()):
        path = root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    Data(folder / f"{DISK}.tar", saves=False).restore(root)


def _upper() -> Path:
    """Return the upper layer, whose parent the lab's first process keeps open (see init.c)."""
    for each in Path("/proc/1/fd").iterdir():
        if (each / "upper").is_dir() and (each / "work").is_dir():
            return each / "upper"
    raise LabError("the changes of this lab's disk cannot be read", fix=f"measure with {COLD}")


def _mounts() -> Iterator[PurePosixPath]:
    """Yield where other file systems are mounted, relative to the root."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        place = line.split()[1].encode().decode("unicode_escape")  # a space is \040 there
        if place != "/":
            yield PurePosixPath(place[1:])


def _changes(upper: Path, mounted: set[PurePosixPath]) -> Iterator[tuple[PurePosixPath, bool]]:
    """Yield the paths that the upper layer has, and whether it hides what is at that path below it; folders come first."""
    for parent, folders, files in os.walk(upper):
        here = PurePosixPath(parent).relative_to(upper)
        folders[:] = sorted(each for each in folders if here / each not in mounted)
        for name in (*folders, *sorted(files)):
            whole = Path(parent, name)
            yield here / name, _is_mark(whole) or _is_opaque(whole)


def _is_mark(path: Path) -> bool:
    """Return whether a path is overlayfs's mark of a removed one: a character device with the number 0."""
    found = os.lstat(path)
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _is_opaque(path: Path) -> bool:
    """Return whether a folder has replaced one of the image."""
    try:
        return os.getxattr(path, OPAQUE, follow_symlinks=False) == b"y"
    except OSError:
        return False
