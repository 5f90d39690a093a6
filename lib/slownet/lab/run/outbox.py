"""The folder that a lab writes to, read by the host without believing or following what lies there.

A program in a lab may be root there, and may leave anything in a folder that is shared with it to be written: a symbolic link
to a file of the host's, a FIFO that never answers, a device, a file of terabytes, or a file that turns into one of these while
the host looks. So the host opens nothing below such a folder by its path. It opens a file once, beneath the folder and without
following links (openat2 of Linux 5.6; where that is missing or forbidden, one folder after the other with O_NOFOLLOW), first
without any effect (O_PATH), makes sure that it is a regular file, and only then opens that same file for reading, to a limit.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from slownet.model.errors import SlownetError, first_of
from slownet.model.whole_file import place

MEBI = 2**20
LIMIT = 256 * MEBI
"""Bytes of one file, unless the caller knows better."""
LARGEST = 64 * 1024 * MEBI
"""Bytes of a file that becomes a part of a lab, such as a layer."""
MOST_FILES = 100_000
"""Files and folders in one outbox, and DEEPEST levels; what is beyond is refused."""
DEEPEST = 64
NAMED = 3
"""So many of the refused files are named in a message."""

_OPENAT2 = 437  # the number is the same on every architecture
_BENEATH = 0x08 | 0x04  # RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, linux/openat2.h
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_openat2_works = True


class RefusedError(SlownetError):
    """A file of a lab's that the host does not touch: what it is instead of a regular file of bounded size."""


class ObeyedError(RefusedError):
    """A file of a lab's that programs of the host would run or obey."""


@dataclass(frozen=True)
class Entry:
    """A regular file in an outbox: its path relative to that, its size in bytes and its date."""

    name: PurePosixPath
    size: int
    mtime_ns: int


@dataclass
class Carried:
    """The files that `Outbox.carry` has copied, and those that it refused: a line for each."""

    files: list[PurePosixPath] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def complaint(self) -> str:
        """One line about all that was refused; empty if nothing was."""
        return complaint(self.refused)


def complaint(refused: list[str]) -> str:
    """Return one line about refused files; empty if none exist."""
    return f"left in the lab: {first_of(refused, NAMED, '; ')}" if refused else ""


def read_up_to(file: BinaryIO, most: int) -> bytes:
    """Return the content of an open file, of at most so many bytes.

    `file.read(most)` first takes memory for all of them, however short the file is; a lab has less than the largest limit.
    """
    content = file.read(min(most, os.fstat(file.fileno()).st_size + 1))
    while len(content) < most and (more := file.read(min(MEBI, most - len(content)))):  # it grew meanwhile
        content += more
    return content


class Outbox:
    """A folder that a lab writes to, or has written to.

    Parameters
    ----------
    folder : Path
        The folder. It and the folders above it are the host's: a lab writes only below it.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def open(self, name: str | PurePosixPath, limit: int = LIMIT) -> BinaryIO:
        """Open a regular file for reading.

        Parameters
        ----------
        name : str or path
            Its path relative to the folder.
        limit : int
            The most bytes that it may have.

        Raises
        ------
        RefusedError
            It is missing, no regular file, larger than that, or reached by a link.
        """
        parts = parts_of(name)
        with _Folder(self.folder) as top:
            return os.fdopen(_regular(top.fd, parts, limit), "rb")

    def version(self, name: str | PurePosixPath, limit: int = LIMIT) -> tuple[int, int, int]:
        """Return a regular file's inode, size in bytes and last change in ns, which identify it for `open`."""
        with self.open(name, limit) as file:
            found = os.fstat(file.fileno())
        return found.st_ino, found.st_size, found.st_mtime_ns

    def read(self, name: str | PurePosixPath, limit: int = LIMIT) -> bytes:
        """Return the content of a regular file; see `open`. A file that grows meanwhile is refused."""
        with self.open(name, limit) as file:
            content = read_up_to(file, limit + 1)
        if len(content) > limit:
            raise RefusedError(f"{shown(name)} has more than {limit:,} bytes", f"in {self.folder}")
        return content

    def text(self, name: str | PurePosixPath, limit: int = LIMIT) -> str:
        """Return the text of a regular file, with replacement characters for what is no UTF-8; see `open`."""
        return self.read(name, limit).decode(errors="replace")

    def files(self, refuse: Callable[[str], object] = lambda line: None) -> Iterator[Entry]:
        """Yield the regular files, in the order of their names, and tell `refuse` of everything else, a line each.

        No link is followed. Raises RefusedError if the folder itself cannot be read.
        """
        left = [MOST_FILES]
        with _Folder(self.folder) as top:
            yield from _walk(top.fd, PurePosixPath(), refuse, left)

    def carry(self, to: Path, limit: int = LIMIT, total: int = 16 * LIMIT) -> Carried:
        """Copy all regular files to a folder of the host's, where none is overwritten halfway.

        Parameters
        ----------
        to : Path
            A folder that no lab writes to; it and those below it are made. A file there is replaced.
        limit, total : int
            The most bytes of one file, and of all.

        Raises
        ------
        OSError
            The host's folder cannot be written.
        """
        done = Carried()
        for entry in self.files(done.refused.append):
            if entry.size > min(limit, total):
                done.refused.append(f"{shown(entry.name)} has {entry.size:,} bytes")
                continue
            try:
                content = self.read(entry.name, min(limit, total))
            except RefusedError as error:
                done.refused.append(error.what)
                continue
            total -= len(content)
            place(to / entry.name, content)
            done.files.append(entry.name)
        return done


def appending(path: Path) -> BinaryIO:
    """Open a file of the host's to add to its end, and make it if it is missing; a link is not followed.

    Raises OSError, also for what is not a regular file.
    """
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(fd, "ab")


def discard(folder: Path) -> None:
    """Remove a folder where a lab may have left anything: deeper than Python's own function goes, and closed ones."""
    quiet = partial(subprocess.run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if quiet(["rm", "-rf", "--", folder]).returncode:
        quiet(["chmod", "-R", "u+rwX", "--", folder])
        quiet(["rm", "-rf", "--", folder])


def shown(name: str | PurePosixPath) -> str:
    """Return a name that a lab chose as text for a person: control characters and what is no UTF-8 escaped."""
    text = os.fsencode(str(name)).decode(errors="backslashreplace")
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class _Folder:
    """A folder of the host's, held open."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> _Folder:
        try:
            self.fd = os.open(self._path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise RefusedError(f"{self._path} cannot be read ({error.strerror})") from error
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.fd)


def parts_of(name: str | PurePosixPath) -> tuple[str, ...]:
    """Return the components of a relative path. Raises RefusedError for one that leads out, or to nothing."""
    parts = PurePosixPath(name).parts
    if not parts or "\0" in str(name) or parts[0] == "/" or ".." in parts or len(parts) > DEEPEST:
        raise RefusedError(f"'{shown(name)}' is not a path below the lab's folder")
    return parts


def _regular(top: int, parts: tuple[str, ...], limit: int) -> int:
    """Return a descriptor, for reading, of the regular file at this path beneath an open folder."""
    name = shown("/".join(parts))
    try:
        found = _beneath(top, parts)
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.EXDEV, errno.ENOTDIR)
        what = f"{name} is reached by a link" if link else f"{name} cannot be read ({error.strerror})"
        raise RefusedError(what) from error
    try:
        about = os.fstat(found)
        if not stat.S_ISREG(about.st_mode):
            raise RefusedError(f"{name} is {kind_of(about.st_mode)}")
        if about.st_size > limit:
            raise RefusedError(f"{name} has {about.st_size:,} bytes, more than {limit:,}")
        try:  # through /proc, so that it is the file which was looked at, whatever has that name by now
            return os.open(f"/proc/self/fd/{found}", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError as error:
            raise RefusedError(f"{name} cannot be read ({error.strerror})") from error
    finally:
        os.close(found)


def _beneath(top: int, parts: tuple[str, ...]) -> int:
    """Return a descriptor (O_PATH) of what is at this path; no link is followed. Raises OSError."""
    global _openat2_works
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    if _openat2_works:
        fd, number = _openat2()(top, os.fsencode("/".join(parts)), flags)
        if fd >= 0:
            return fd
        if number not in (errno.ENOSYS, errno.EPERM):  # an old kernel; a container's filter that does not know it
            raise OSError(number, os.strerror(number))
        _openat2_works = False
    return _step_by_step(top, parts, flags)


@functools.cache
def _openat2() -> Callable[[int, bytes, int], tuple[int, int]]:
    """Return a function (folder, path, flags) that returns a descriptor, or -1, and the error's number."""
    import ctypes  # a lab imports this module too, and opens nothing by it

    class How(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    libc: Any = ctypes.CDLL(None, use_errno=True)

    def call(folder: int, path: bytes, flags: int) -> tuple[int, int]:
        how = How(flags, 0, _BENEATH)
        fd = libc.syscall(_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
        return int(fd), ctypes.get_errno()

    return call


def _step_by_step(top: int, parts: tuple[str, ...], flags: int) -> int:
    """As `_beneath`, without openat2: no component is "..", and none that is a link is entered."""
    here = os.dup(top)
    try:
        for part in parts[:-1]:
            deeper = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = deeper
        return os.open(parts[-1], flags, dir_fd=here)
    finally:
        os.close(here)


def _walk(top: int, below: PurePosixPath, refuse: Callable[[str], object], left: list[int]) -> Iterator[Entry]:
    try:
        here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    except OSError as error:
        refuse(f"{shown(below)} cannot be read ({error.strerror})")
        return
    try:
        for name in _names(here, below, refuse, left):
            path = below / name
            try:
                about = os.stat(name, dir_fd=here, follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode) and len(path.parts) < DEEPEST:
                    inner = os.open(name, _FOLDER, dir_fd=here)
                    try:
                        yield from _walk(inner, path, refuse, left)
                    finally:
                        os.close(inner)
                elif stat.S_ISREG(about.st_mode):
                    yield Entry(path, about.st_size, about.st_mtime_ns)
                else:
                    refuse(f"{shown(path)} is {kind_of(about.st_mode)}")
            except OSError as error:  # it was removed or replaced meanwhile
                refuse(f"{shown(path)} cannot be read ({error.strerror})")
    finally:
        os.close(here)


def _names(folder: int, below: PurePosixPath, refuse: Callable[[str], object], left: list[int]) -> list[str]:
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if left[0] <= 0:
                refuse(f"{shown(below)} has too many files: more than {MOST_FILES:,}")
                break
            left[0] -= 1
            names.append(entry.name)
    return sorted(names)


def kind_of(mode: int) -> str:
    kinds = {
        stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device",
        stat.S_IFCHR: "a device", stat.S_IFDIR: "a folder",
    }  # fmt: skip
    return kinds.get(stat.S_IFMT(mode), "no regular file")
