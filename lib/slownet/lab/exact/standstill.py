"""Snapshots of exact labs in the cache: a machine that stopped itself at an instruction, its memory as a file.

Any number of labs go on from one, each with the memory mapped privately, so that nothing is copied. It holds for one version of
QEMU, one machine, kernel and content of everything that the machine has read: all that is in its key.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.build import cache, digests, shelf
from slownet.lab.build.digests import Part
from slownet.lab.build.shelf import Shelf
from slownet.model.errors import LabError

KIND = "exact-memory"
MEMORY, STATE, SAID = "memory", "state", "said"
"""Files of a snapshot: the machine's memory, what its devices are in, and its output before."""
PART = Part("the snapshot of an exact lab", (MEMORY, STATE, SAID), fix="slownet lab clean")
MOST = 4 << 30
"""Bytes of all snapshots in the cache: beyond, those that were used longest ago go."""


@dataclass(frozen=True)
class Snapshot:
    """A machine that stopped itself."""

    folder: Path

    @property
    def memory(self) -> Path:
        return self.folder / MEMORY

    @property
    def state(self) -> bytes:
        return (self.folder / STATE).read_bytes()

    @property
    def said(self) -> bytes:
        """The bytes that it sent over its channel before."""
        return (self.folder / SAID).read_bytes()


SHELF: Shelf[Snapshot] = Shelf(KIND, PART, Snapshot)
Make = Callable[[Path], None]


class NotKeptError(LabError):
    """A snapshot cannot be kept, so labs boot; where this is the machine's fault, they can."""


@contextlib.contextmanager
def kept(name: str, make: Make, megabytes: int) -> Iterator[Snapshot]:
    """Yield the snapshot of a key, which stays during the block; `make` fills its folder if none exists, or it is damaged.

    megabytes: what there must be room for. Raises NotKeptError, and what `make` raises.
    """
    base = cache.writable_root()
    try:
        with shelf.used(lambda: _made(base, name, make, megabytes), MOST) as folder:
            yield Snapshot(folder)
    except shelf.GoneError as error:
        raise NotKeptError(error.what, error.where, error.fix) from error


def size() -> int:
    """Return how many bytes of disk the snapshots in the cache take."""
    return cache.disk_bytes(cache.writable_root() / KIND)


def content(path: Path) -> str:
    """Return what stands for a file of the cache in a key: what was recorded of its folder when it was made."""
    record = path.parent / digests.RECORD
    with contextlib.suppress(OSError):
        return f"{path.name} {record.read_text()}"
    about = path.stat()
    return f"{path} {about.st_size} {about.st_mtime_ns}"


def _made(base: Path, name: str, make: Make, megabytes: int) -> Path:
    SHELF.say_if_damaged(base / KIND / name)
    failures: list[BaseException] = []

    def fill(half: Path) -> None:
        cache.need_space(half, megabytes, "the snapshot of an exact lab")
        try:
            make(half)
        except OSError:  # most likely there is no more room
            raise
        except BaseException as error:
            failures.append(error)
            raise

    try:
        return SHELF.place(name, fill, base)[0]
    except LabError as error:
        if failures:
            raise
        raise NotKeptError(error.what, error.where, error.fix) from error
