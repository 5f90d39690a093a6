"""Files of a lab's at paths that the lab has chosen, below a folder of the host's: placed there, and removed.

The lab does not write to that folder, so nothing there changes meanwhile. But its user may have symbolic links in it, which a
path of the lab's must not pass.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from slownet.lab.run.outbox import LIMIT, MEBI, ObeyedError, RefusedError, kind_of, parts_of, shown

FILE_BYTES, ALL_BYTES = 2**30, 2**32
"""The most bytes of one file, and of all, that leave a lab."""


def place_below(top: Path, name: str | PurePosixPath, file: BinaryIO, limit: int = LIMIT, *, plain: bool = False) -> int:
    """Copy a file of a lab's to a path, which the lab has chosen, below a folder of the host's; return how many bytes.

    It is written whole or not at all, and replaces a file of that name. Folders are made; none is entered by a link, which the
    host's user may have below that folder. plain: whether it may be no program: none is made, and none is replaced.

    Raises
    ------
    RefusedError
        A component is a link, or a file where a folder is needed, the name is a folder's, or the file grew beyond the limit.
    ObeyedError
        With `plain`: the name is a program's.
    OSError
        The host's folder cannot be written.
    """
    *folders, last = parts_of(name)
    top.mkdir(parents=True, exist_ok=True)
    mode = 0o666 | (0o111 if not plain and os.fstat(file.fileno()).st_mode & 0o100 else 0)
    draft = f".slownet-{os.getpid()}.part"
    with _entered(top, folders, make=True) as here:
        with contextlib.suppress(FileNotFoundError):
            about = os.stat(last, dir_fd=here, follow_symlinks=False)
            if not stat.S_ISREG(about.st_mode):
                raise RefusedError(f"{shown(name)} is {kind_of(about.st_mode)} here")
            if plain and about.st_mode & 0o111:
                raise ObeyedError(f"{shown(name)} is a program here")
            mode = stat.S_IMODE(about.st_mode) if plain else mode
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=here)
        try:
            with os.fdopen(fd, "wb") as target:
                size = _copy(file, target, name, limit)
            os.replace(draft, last, src_dir_fd=here, dst_dir_fd=here)
        except BaseException:
            os.unlink(draft, dir_fd=here)
            raise
    return size


def remove_below(top: Path, name: str | PurePosixPath) -> None:
    """Remove a file, or a link itself, at a path, which a lab has chosen, below a folder of the host's, and then empty folders.

    Raises RefusedError or OSError if that is not possible.
    """
    *folders, last = parts_of(name)
    with _entered(top, folders) as here:
        os.unlink(last, dir_fd=here)
    with contextlib.suppress(OSError):  # a folder is not empty
        while folders:
            *folders, last = folders
            with _entered(top, folders) as here:
                os.rmdir(last, dir_fd=here)


@contextlib.contextmanager
def _entered(top: Path, folders: Sequence[str], make: bool = False) -> Iterator[int]:
    """Hold a folder below one of the host's open; no link is followed. Raises RefusedError or OSError."""
    here = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            try:
                deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
            except NotADirectoryError as error:  # so a link, too
                raise RefusedError(f"{shown('/'.join(folders))} is reached by a link or a file here") from error
            os.close(here)
            here = deeper
        yield here
    finally:
        os.close(here)


def _copy(file: BinaryIO, target: BinaryIO, name: str | PurePosixPath, limit: int) -> int:
    size = 0
    while piece := file.read(min(MEBI, limit + 1 - size)):
        size += len(piece)
        if size > limit:
            raise RefusedError(f"{shown(name)} has more than {limit:,} bytes")
        target.write(piece)
    return size
