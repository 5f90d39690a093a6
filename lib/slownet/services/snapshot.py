"""The data of services that are set up once: saved when they stop in one boot, and there before they start in others.

Each service has a tar in the snapshot's folder, with owners, holes and extended attributes. Only services that an experiment
starts before its cells take part: what a cell starts is its own.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from slownet.model.errors import ServiceError
from slownet.model.options import COLD

TAR = ("tar", "--numeric-owner", "--xattrs", "--xattrs-include=*", "--xattrs-exclude=trusted.overlay.origin")
"""The origin names a file of the image in that boot's kernel."""
DISK = "disk"
"""The name of what `slownet.runner.inside` saves, which is not a service's."""


@dataclass(frozen=True)
class Data:
    """The part of a snapshot that belongs to one service."""

    path: Path
    saves: bool

    def restore(self, into: Path) -> bool:
        """Unpack it into a folder; return whether there was anything. Raises ServiceError."""
        if self.saves or not self.path.exists():
            return False
        _run([*TAR, "--extract", "--same-permissions", "--file", str(self.path), "--directory", str(into)], self.path.stem)
        return True

    def save(self, folder: Path | str, names: Sequence[str], *options: str, keep_open: Sequence[int] = ()) -> None:
        """Pack these files and folders, if this boot makes the snapshot. Raises ServiceError."""
        if self.saves and names:
            words = ["--create", "--sparse", "--sort=name", *options, "--file", str(self.path), "--directory", str(folder)]
            _run([*TAR, *words, "--null", "--files-from=-"], self.path.stem, "\0".join(names), keep_open)


@dataclass
class _SetUp:
    folder: Path
    saves: bool
    taken: set[str] = field(default_factory=set)


_now: _SetUp | None = None


@contextmanager
def setting_up(folder: Path | None, saves: bool) -> Iterator[None]:
    """Give the services that are launched in this block their data. folder: the snapshot's; None for no snapshot."""
    global _now
    _now = _SetUp(folder, saves) if folder else None
    try:
        yield
    finally:
        _now = None


def of(label: str, shared: bool = False) -> Data | None:
    """Return the data of the service that is being launched; None without a snapshot.

    shared: several services may have it; otherwise, services of one name are distinguished by their order.
    """
    if _now is None:
        return None
    name, number = label, 1
    while not shared and name in (*_now.taken, DISK):
        number += 1
        name = f"{label}-{number}"
    _now.taken.add(name)
    return Data(_now.folder / f"{name}.tar", _now.saves)


def _run(words: Sequence[str], name: str, given: str = "", keep_open: Sequence[int] = ()) -> None:
    done = subprocess.run(
        words, input=given.encode(errors="surrogateescape"), capture_output=True, check=False, pass_fds=keep_open
    )  # fmt: skip
    if done.returncode:
        why = (done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"])[0]
        raise ServiceError(f"the snapshot of {name} failed: {why}", fix=f"free space, or measure with {COLD}")
