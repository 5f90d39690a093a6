"""Files by name, in a folder or in a tar archive: what layouts and archives of images are made of."""

from __future__ import annotations

import contextlib
import io
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, cast

from slownet.containers import store
from slownet.containers.headers import Limited, members
from slownet.containers.streams import CHUNK, Readable, chunks, compression, decompressed
from slownet.lab.build import cache
from slownet.model import userfile
from slownet.model.errors import ImageError

MOST_JSON = 1 << 22
"""Bytes of a manifest, index or configuration, as many as registries allow."""
ROOT_FOLDERS = frozenset(
    ("bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "root", "run", "sbin", "srv", "sys", "usr", "var")
)
MARKS = frozenset(("manifest.json", "index.json", "oci-layout", "repositories", "blobs"))
"""The top-level names in archives of images."""


class BlobSource(Protocol):
    """Files by name."""

    @property
    def where(self) -> str:
        """The name in error messages."""

    def has(self, name: str) -> bool:
        """True if there is a file of that name."""

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """Open a file. Raises ImageError if it is missing."""


class Folder:
    """The files of a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.where = str(path)

    def has(self, name: str) -> bool:
        """True if there is a file of that name."""
        return (self._path / name).is_file()

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file. Raises ImageError if it is missing."""
        try:
            return (self._path / name).open("rb")
        except OSError as error:
            raise ImageError(
                f"{name} cannot be read ({error.strerror})", where=self.where, fix="save the image again"
            ) from error


class Tar:
    """The files of an uncompressed tar archive."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self.where = where
        try:
            limited = Limited(file, where)
            with limited.header():
                self._tar = tarfile.open(fileobj=cast("IO[bytes]", limited), mode="r:")
            self._members = {each.name.removeprefix("./"): each for each in members(self._tar, limited, keep=True)}
        except (tarfile.TarError, ValueError, OverflowError) as error:
            raise truncated(where, error) from error

    def has(self, name: str) -> bool:
        """True if there is a file of that name."""
        return name in self._members

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[Readable]:
        """Open a file. Raises ImageError if it is missing."""
        found = None
        with contextlib.suppress(KeyError):  # of a link to nowhere: Docker once linked equal layers
            found = self._tar.extractfile(self._members[name]) if name in self._members else None
        if found is None:
            raise ImageError(f"{name} is missing", where=self.where, fix="save the image again")
        with found:
            yield found


def truncated(where: str, error: object) -> ImageError:
    """Return the error for an archive that `tarfile` cannot read."""
    return ImageError(f"it is truncated or not an archive of an image or a root ({error})", where=where, fix="save it again")


def read(box: BlobSource, name: str, size: int | None = None) -> bytes:
    """Return a small file's content. Raises ImageError. size: how much it should be."""
    with box.open(name) as file:
        data = b""
        while len(data) <= MOST_JSON and (part := file.read(CHUNK)):
            data += part
    if len(data) > MOST_JSON:
        raise ImageError(
            f"{name} is larger than {MOST_JSON >> 20} MiB", where=box.where, fix="no manifest or configuration is so large"
        )
    if size is not None and len(data) != size:
        raise ImageError(f"{name} has {len(data)} bytes instead of {size}", where=box.where, fix="fetch or save it again")
    return data


def parsed(text: bytes, kind: type, what: str, where: str) -> Any:
    """Return JSON of that type. Raises ImageError."""
    try:
        value = userfile.json(text)
    except ValueError as error:
        raise ImageError(f"{what} is not JSON: {error}", where=where) from error
    if not isinstance(value, kind):
        raise ImageError(f"{what} is not a JSON {'object' if kind is dict else 'list'}", where=where)
    return value


def uncompressed(path: Path, stack: ExitStack) -> IO[bytes]:
    """Open an archive for reading anywhere; if it is compressed or a pipe, a copy without a name that goes with the process."""
    is_file = path.is_file()
    try:
        # A pipe unbuffered: a signal between two reads of a buffered file is not handled before the next one ends.
        file = stack.enter_context(userfile.opened(path, buffering=-1 if is_file else 0))
        start = file.read(CHUNK) or b""
    except OSError as error:
        raise ImageError(f"cannot read {path} ({error.strerror})") from error
    if is_file and not compression(start):
        file.seek(0)
        return file
    return spooled(lambda copy: copy.writelines(decompressed(chain([start], chunks(file)), str(path))), stack)


def spooled(fill: Callable[[IO[bytes]], None], stack: ExitStack) -> IO[bytes]:
    """Return a file without a name, on the disk of the kept images, after `fill` wrote to it."""
    try:
        store.root().mkdir(parents=True, exist_ok=True)
        copy = stack.enter_context(tempfile.TemporaryFile(dir=store.root()))
        fill(cast("IO[bytes]", copy))
        copy.seek(0)
    except OSError as error:
        raise cache.not_writable(error, store.root()) from error
    return cast("IO[bytes]", copy)


def marks(file: IO[bytes], where: str) -> set[str]:
    """Return which of `MARKS` an archive has; stops at the first folder of a root file system. Raises ImageError."""
    found = set()
    try:
        limited = Limited(file, where)
        with limited.header():
            tar = tarfile.open(fileobj=cast("IO[bytes]", limited), mode="r:")
        with tar:
            for member in members(tar, limited, keep=False):
                top = member.name.removeprefix("./").partition("/")[0]
                if top in ROOT_FOLDERS:
                    break
                found |= {top} & MARKS
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise truncated(where, error) from error
    file.seek(0, io.SEEK_SET)
    return found
