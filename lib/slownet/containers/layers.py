"""Reads layers: tar archives, possibly compressed, that describe what one step of an image's build changed."""

from __future__ import annotations

import base64
import contextlib
import tarfile
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, cast

from slownet.containers.headers import LONGEST, Limited, members
from slownet.containers.streams import Chunks, Digested, Forward, Readable, chunks, decompressed
from slownet.containers.tree import Changes, Entry, HardLink, Kind, Node, Path
from slownet.model.errors import ImageError

WHITEOUT, META, OPAQUE = ".wh.", ".wh..wh.", ".wh..wh..opq"
LATEST_MTIME = 2**32 - 1
"""The limits of a squashfs."""
MOST_ID = 2**32 - 2
SCHILY, LIBARCHIVE = "SCHILY.xattr.", "LIBARCHIVE.xattr."
PREFIXES = ("user.", "trusted.", "security.")
"""Extended attributes that a squashfs can hold."""
OVERLAY = ("user.overlay.", "trusted.overlay.")
"""Extended attributes that would mean something to the overlay that a container's root is part of."""


@dataclass(frozen=True)
class Layer:
    """A layer as it is stored."""

    open: Callable[[], AbstractContextManager[Readable]]
    where: str
    """The name in error messages."""
    digest: str = ""
    """Of the bytes as they are stored; empty: not given."""
    size: int | None = None
    diff_id: str = ""
    """The digest of the uncompressed tar; empty: not given."""
    has_whiteouts: bool = True
    """False: a file whose name begins with ``.wh.`` is only that."""


class _Member(tarfile.TarInfo):
    """A member whose bad header is an error: `tarfile` itself takes one for the end of the archive."""

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> _Member:
        try:
            return super().fromtarfile(tar)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            tar.has_end = True  # type: ignore[attr-defined]
            raise
        except tarfile.EmptyHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from error


class Archive:
    """The members of a layer, in order."""

    def __init__(self, stream: Forward, where: str) -> None:
        self._file = Limited(stream, where)
        with self._file.header():
            self._tar = tarfile.TarFile(fileobj=cast("IO[bytes]", self._file), tarinfo=_Member)

    def __iter__(self) -> Iterator[tarfile.TarInfo]:
        return members(self._tar, self._file, keep=False)

    def content(self, member: tarfile.TarInfo) -> IO[bytes]:
        """Return the content of the member that was yielded last."""
        found = self._tar.extractfile(member)
        assert found
        return found

    @property
    def has_end(self) -> bool:
        """True if the archive's end is marked."""
        return getattr(self._tar, "has_end", False)


@contextlib.contextmanager
def opened(layer: Layer) -> Iterator[Archive]:
    """Open a layer to read its members once. At the end everything is verified; raises ImageError."""
    with layer.open() as file:
        stored = Digested(chunks(file), layer.digest, layer.size, layer.where)
        content = Digested(decompressed(stored, layer.where), layer.diff_id, None, f"the content of {layer.where}")
        try:
            yield _archive(content, layer.where)
            content.finish()
        except (tarfile.TarError, ValueError, OverflowError, ImageError) as error:  # tarfile leaves odd numbers to others
            stored.finish()  # that the bytes are other ones says more than what is wrong with them
            if isinstance(error, ImageError):
                raise
            content.finish()
            raise ImageError(f"{layer.where} is not a tar archive, or truncated: {error}") from error
        stored.finish()


def _archive(content: Chunks, where: str) -> Archive:
    return Archive(Forward(content), where)


def changes(layer: Layer, number: int, look: Callable[[Archive, tarfile.TarInfo], None] | None = None) -> Changes:
    """Return what a layer changes. Raises ImageError.

    number: the layer's, for `Node.origin`; look: called with each regular file, which it may read.
    """
    entries: list[Entry] = []
    removed: list[Path] = []
    opaque: list[Path] = []
    with opened(layer) as archive:
        for index, member in enumerate(archive):
            path = _path(member.name, layer.where)
            hidden = next((each for each in path if each.startswith(WHITEOUT)), "") if layer.has_whiteouts else ""
            if hidden == OPAQUE == path[-1]:
                opaque.append(path[:-1])
            elif hidden and not hidden.startswith(META):  # what else begins so is AUFS's own
                removed.append((*path[:-1], _removed(path, layer.where)))
            elif not hidden:
                entries.append((path, _node(member, (number, index), path, layer.where)))
                if look and member.isreg():
                    look(archive, member)
        if not archive.has_end and not layer.diff_id:
            raise ImageError(f"{layer.where} is truncated: it has no end")
    return Changes(entries, removed, opaque, layer.where)


def _path(name: str, where: str) -> Path:
    path = tuple(each for each in name.split("/") if each not in ("", "."))
    if (name.startswith("/") and path) or ".." in path:
        raise ImageError(f"the path {name!r} leaves the image's root", where=where, fix="such an image is not added")
    if len(name.encode("utf-8", "surrogateescape")) > LONGEST or "\0" in name:
        what = f"a path has more than {LONGEST} bytes, or a null byte: {name[:40]!r}..."
        raise ImageError(what, where=where, fix="such an image is not added")
    return path


def _removed(path: Path, where: str) -> str:
    name = path[-1].removeprefix(WHITEOUT)
    if path[-1] == name or name in ("", ".", ".."):
        raise ImageError(f"the whiteout {'/'.join(path)!r} removes nothing that could be", where=where)
    return name


def _node(member: tarfile.TarInfo, origin: tuple[int, int], path: Path, where: str) -> Node | HardLink:
    if member.islnk():
        return HardLink(_path(member.linkname, where))
    if member.ischr() or member.isblk():
        raise ImageError(
            f"{'/'.join(path)} is a device node", where=where,
            fix="leave it out (tar --exclude='./dev/*', mmdebstrap --skip=output/dev): a container gets a /dev of its own",
        )  # fmt: skip
    kinds = {member.isdir(): Kind.FOLDER, member.issym(): Kind.LINK, member.isfifo(): Kind.FIFO, member.isreg(): Kind.FILE}
    if True not in kinds:
        raise ImageError(f"{'/'.join(path)} has an unknown type {member.type!r}", where=where)
    if not (0 <= member.uid <= MOST_ID and 0 <= member.gid <= MOST_ID):
        raise ImageError(f"{'/'.join(path)} has an impossible owner {member.uid}:{member.gid}", where=where)
    return Node(
        kinds[True], member.mode & 0o7777, member.uid, member.gid, max(0, min(int(member.mtime), LATEST_MTIME)),
        _xattrs(member), member.linkname if member.issym() else "", member.size if member.isreg() else 0, origin,
    )  # fmt: skip


def _xattrs(member: tarfile.TarInfo) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in member.pax_headers.items():
        if key.startswith(LIBARCHIVE):
            name = urllib.parse.unquote(key.removeprefix(LIBARCHIVE))
            with contextlib.suppress(ValueError):
                padded = value + "=" * (-len(value) % 4)
                found.setdefault(name, base64.b64decode(padded).decode("utf-8", "surrogateescape"))
        elif key.startswith(SCHILY):
            found[key.removeprefix(SCHILY)] = value
    return {name: found[name] for name in sorted(found) if name.startswith(PREFIXES) and not name.startswith(OVERLAY)}
