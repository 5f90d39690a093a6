"""The members of a tar archive, read within limits: `tarfile` itself reads whatever length a header states into memory."""

from __future__ import annotations

import contextlib
import tarfile
from collections.abc import Iterator, Mapping
from typing import Protocol

from slownet.model.errors import ImageError

MOST_HEADER = 1 << 20
"""Bytes of all headers of one member: its long names, extended attributes, and the map of a sparse file."""
MOST_ENTRIES = 500_000
"""Files, folders and links of an image; the largest ones have half as many."""
MOST_NAMES = 1 << 28
"""Bytes of the names and extended attributes of an archive."""
LONGEST = 4096
"""Bytes of a path, as in Linux."""


class Seekable(Protocol):
    """The interface that `tarfile` needs."""

    def read(self, size: int, /) -> bytes:
        """Return that many bytes, or fewer at the end."""

    def seek(self, position: int, /) -> int:
        """Go to a position."""

    def tell(self) -> int:
        """Return the position."""


class Limited:
    """A file for `tarfile` that returns at most `MOST_HEADER` bytes while the next member is looked for."""

    def __init__(self, file: Seekable, where: str) -> None:
        self._file, self.where = file, where
        self._left: int | None = None

    @contextlib.contextmanager
    def header(self) -> Iterator[None]:
        """Read one member's headers in this block. Raises ImageError if they are too long."""
        self._left = MOST_HEADER
        try:
            yield
        except RecursionError as error:  # each header that belongs to the next one is a call
            raise self._too_long() from error
        finally:
            self._left = None

    def read(self, size: int) -> bytes:
        """Return that many bytes, or fewer at the end. Raises ImageError."""
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise self._too_long()
        return self._file.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        """Go to a position from the beginning, which is all that `tarfile` asks for."""
        assert not whence
        return self._file.seek(position)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def _too_long(self) -> ImageError:
        what = f"a member of it has more than {MOST_HEADER >> 20} MiB of headers"
        return ImageError(what, where=self.where, fix="the archive is damaged, or made to attack")


def members(tar: tarfile.TarFile, file: Limited, *, keep: bool) -> Iterator[tarfile.TarInfo]:
    """Yield the members of an archive that was opened on that file, in order.

    keep: whether `tar` keeps them, to find what its links point to. Raises ImageError beyond a limit, and `tarfile.TarError`.
    """
    count = size = 0
    while True:
        with file.header():
            member = tar.next()
        if member is None:
            return
        count += 1
        size += len(member.name) + len(member.linkname) + _length(member.pax_headers)
        if count > MOST_ENTRIES:
            raise too_many(file.where)
        if size > MOST_NAMES or _length(tar.pax_headers) > MOST_HEADER:
            what = f"it has more than {MOST_NAMES >> 20} MiB of names and attributes"
            raise ImageError(what, where=file.where, fix="the archive is damaged, or made to attack")
        if not keep:
            tar.members.clear()  # type: ignore[attr-defined]
        yield member


def too_many(where: str) -> ImageError:
    """Return the error of an image with too many files."""
    return ImageError(
        f"it has more than {MOST_ENTRIES} files", where=where, fix="so large an image is not added: leave files out"
    )


def _length(headers: Mapping[str, str]) -> int:
    return sum(len(key) + len(value) for key, value in headers.items())
