"""The folders of one kind in the caches: found if they are whole, made if none exists or only a damaged one."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from slownet.lab.build import cache, digests
from slownet.lab.build.digests import Digest, Part
from slownet.model.errors import DamagedError, LabError
from slownet.model.options import SYSTEM

TRIES = 3
CHECKS = "checks"
"""The folder of this user's notes on what others own."""

BUILD = Part.fix
FOR_ALL = f"{BUILD} makes one of your own; {SYSTEM.in_command('lab build')}, as root, fixes it for all"

T = TypeVar("T")
Build = Callable[[Path], None]


@dataclass(frozen=True)
class Shelf(Generic[T]):
    """The folders of one kind, such as kernels, each kept under a key."""

    kind: str
    part: Part
    read: Callable[[Path], T]
    """Returns what a folder holds. Raises DamagedError if the files that it reads are damaged."""

    named: Callable[[T], Part] | None = None
    """Returns people's name for one of them, if people distinguish them."""

    def load(self, folder: Path, full: bool = False, daily: bool = True) -> T:
        """Return what a folder holds, if it is whole. Raises DamagedError. full, daily: see `digests.check`."""
        try:
            held = self.read(folder)
            part = self.named(held) if self.named else self.part
            digests.check(folder, part, notes(folder), full=full, daily=daily)
        except DamagedError as error:
            if error.fix == BUILD and cache.system_root() in folder.parents and cache.root() not in folder.parents:
                raise DamagedError(error.what, error.where, FOR_ALL) from error
            raise
        return held

    def find(self, key: str) -> T | None:
        """Return what is kept under a key, in the first cache where it is whole; None if none has it.

        Raises DamagedError if it exists and is whole nowhere.
        """
        errors = []
        for folder in self._folders(key):
            try:
                return self.load(folder)
            except DamagedError as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return None

    def has(self, key: str) -> bool:
        """Return whether what is kept under a key is whole in any cache."""
        return any(map(self.is_whole, self._folders(key)))

    def is_whole(self, folder: Path) -> bool:
        """Return whether a folder is whole."""
        try:
            self.load(folder)
        except DamagedError:
            return False
        return True

    def say_if_damaged(self, folder: Path) -> None:
        """Say that a folder is made anew, if it exists and is damaged."""
        if os.path.isdir(folder):
            try:
                self.load(folder)
            except DamagedError as error:
                sys.stderr.write(f"slownet: {error.what}, {error.where}: making it anew\n")

    def make(
        self, key: str, build: Build, base: Path | None = None, say: Callable[[DamagedError], None] = lambda error: None
    ) -> T:
        """Return what is kept under a key; `build` makes it if it is whole nowhere, see `cache.make`.

        say: called with the error of what is damaged and rebuilt.
        """
        try:
            held = self.find(key)
        except DamagedError as error:
            say(error)
            held = None
        return self.load(self.place(key, build, base)[0]) if held is None else held

    def place(
        self, key: str, build: Build, base: Path | None = None, known: Mapping[str, str] | None = None
    ) -> tuple[Path, bool]:
        """Return the folder of a key in one cache, and whether `build` had to make it there. known: see `digests.record`."""
        recorded: list[dict[str, Digest]] = []

        def fill(half: Path) -> None:
            build(half)
            recorded.append(digests.record(half, known, self.part.changing))

        folder = cache.make(self.kind, key, fill, base, self.is_whole)
        for each in recorded:
            digests.checked(folder, each, notes(folder))
        return folder, bool(recorded)

    def every(self) -> Iterator[Path]:
        """Yield all finished folders of this kind, of any version."""
        for base in cache.bases():
            with contextlib.suppress(OSError):
                yield from sorted(each for each in (base / self.kind).iterdir() if each.name[0] != "." and each.is_dir())

    def _folders(self, key: str) -> Iterator[Path]:
        paths = (base / self.kind / key for base in cache.bases())
        return (path for path in paths if os.path.isdir(path))  # False, too, where another user's folder is closed


def notes(folder: Path) -> list[Path]:
    """Return where notes of checks of a folder may be: beside it if this user may write there, else among the user's own."""
    beside = folder.with_name(f".{folder.name}.checked")
    is_installed = cache.BUNDLE in folder.parents  # what a wheel brought stays as pip made it
    if not is_installed and os.access(folder.parent, os.W_OK):
        return [beside]
    return [cache.writable_root() / CHECKS / f"{cache.key(str(folder))}.json", *([] if is_installed else [beside])]


def forget(folder: Path) -> None:
    """Remove the note on a folder that is gone."""
    with contextlib.suppress(OSError):
        notes(folder)[0].unlink()


class GoneError(LabError):
    """A folder goes as soon as it is made."""


@contextlib.contextmanager
def used(place: Callable[[], Path], most: int) -> Iterator[Path]:
    """Yield a folder that is only kept for speed, which stays during the block; others that were used long ago go.

    place: makes it, or returns it if it exists; most: bytes of all that lies beside it, and of it. Raises GoneError, and what
    `place` raises.
    """
    for _ in range(TRIES):  # another process may remove it just before it is used here
        folder = place()
        with cache.in_use(folder) as there:
            if there:
                os.utime(folder)
                trim(folder.parent, most)
                yield folder
                return
    what = f"the snapshot {folder} goes as soon as it is made"
    raise GoneError(what, fix="see whether slownet lab clean runs again and again")


def trim(home: Path, most: int) -> None:
    """Remove the folders in one that were used longest ago, by their times, until the others fit; those in use stay.

    Other processes may do the same at the same time.
    """
    total, folders = 0, []
    for each in home.glob("[!.]*"):
        with contextlib.suppress(FileNotFoundError):
            folders.append((each.stat().st_mtime, each))
    for _, each in sorted(folders, reverse=True):
        total += cache.disk_bytes(each)
        with contextlib.suppress(FileNotFoundError):
            if total > most and cache.remove_unused(each):
                forget(each)
