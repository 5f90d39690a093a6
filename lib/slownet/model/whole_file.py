"""Writes files whole or not at all: beside the old one, to the disk, then in its place. So a full disk or a kill costs nothing.

`output` and `append` write what a user names, `place`, `drafted` and `new` slownet's own records; nothing else writes either
(``tests/unit/test_written.py``). What a user names is refused if it is an input of this command, a record of a run, or a file
of a kind that people write by hand or other programs read, and that this writer does not make: see `check`.

A symbolic link stays, and the file behind it is replaced. A pipe, a terminal or a device is written directly, and so is what
the process has open itself (``/dev/stdout``, ``/dev/fd/3``), where it stands. The new file has the old one's mode and owner;
another hard link keeps the old content. In a folder that takes no new file, or where the file is a mount of its own, the space
is reserved before anything is overwritten.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from slownet.model import userfile
from slownet.model.errors import ExperimentError, writing
from slownet.model.options import Option

RECORDS = frozenset(
    {
        "run.json", "samples.jsonl", "samples.damaged.jsonl", "samples.parquet", "experiment.json", "prediction.json",
        "sweep.json", "journal.jsonl", "aside.jsonl", "field.json", "reproduction.json", "session.json", "stderr.txt",
    }
)  # fmt: skip
"""The records of runs, sweeps, hunts and field measurements."""
RUNS = ("run.json", "samples.jsonl", "sweep.json")
"""The files that identify the folder of a run or a sweep."""
_FOLDERS = re.compile(r"(raw|services|captures)(-\d+)?|samples|records|compose|damaged")
"""The folders in it that hold more records."""
_SOURCES = frozenset(
    {
        ".toml", ".yaml", ".yml", ".py", ".ipynb", ".json", ".jsonl", ".parquet", ".pcap", ".pcapng", ".har", ".csv", ".tsv",
        ".env", ".sqlite", ".conf", ".cfg", ".ini",
    }
)  # fmt: skip
"""The ends of names of files that people write, or programs read: a page or a table does not replace them."""
_BY_NAME = re.compile(r"\.env.*|Dockerfile|Makefile|Containerfile")
NONE: Mapping[str, str] = MappingProxyType({})
READER_S = 5.0
"""The time that a named pipe may have no reader."""
_LINKS = 40


def need_folder(path: Path, where: str | Option) -> None:
    """Raise ExperimentError if a folder cannot be made or written in, before something is measured for it.

    path: the folder, which need not exist.
    where: the option that names it.
    """
    nearest = next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
    if not nearest.is_dir():
        raise ExperimentError(f"{nearest} is not a folder", where, "name another folder")
    try:
        with tempfile.TemporaryFile(dir=nearest):  # rights say too little: root has all, and /proc takes no file
            pass
    except OSError as error:
        raise ExperimentError(f"cannot write in {nearest} ({error.strerror})", where, "name another folder") from error


@contextlib.contextmanager
def output(
    path: Path | str, where: str | Option = "", own: Mapping[str, str] = NONE, *, is_input: bool = False
) -> Iterator[BinaryIO]:
    """Give a file to write in, which is at the user's path when the block ends; after an error there is what was before.

    path: what the user named; its folder exists.
    where: the option that named it.
    own, is_input: see `check`.
    Raises ExperimentError: `check` refuses it, or it cannot be written.
    """
    path = Path(path)
    check(path, where, own, is_input=is_input)
    with writing(path, where):
        target = _target(path)
        if isinstance(target, int):
            sys.stdout.flush()
            file: BinaryIO | None = os.fdopen(os.dup(target), "wb")
        elif _is_special(target):
            file = _special(target)
        else:
            file = None
        if file:
            with file:
                yield file
            return
        with _kept(Path(str(target))) as draft:
            yield draft


def write(
    path: Path | str, content: str | bytes, where: str | Option = "", own: Mapping[str, str] = NONE, *, is_input: bool = False
) -> None:
    """Write a user's file: see `output`. A text is written as UTF-8. Raises ExperimentError."""
    with output(path, where, own, is_input=is_input) as file:
        file.write(content.encode(errors="surrogateescape") if isinstance(content, str) else content)


def append(path: Path | str, text: str, where: str | Option = "") -> None:
    """Add a text to the end of a user's file: all of it, or nothing. Raises ExperimentError as `output` does."""
    path = Path(path)
    check(path, where, {path.suffix.lower(): ""}, is_input=True)
    with writing(path, where):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOCTTY, 0o666)
        with os.fdopen(fd, "ab", buffering=0) as file:
            about = os.fstat(fd)
            try:
                left = text.encode(errors="surrogateescape")
                while left:
                    left = left[file.write(left) :]
                if stat.S_ISREG(about.st_mode):
                    os.fsync(fd)
            except BaseException:
                if stat.S_ISREG(about.st_mode):
                    os.ftruncate(fd, about.st_size)
                raise


def check(path: Path | str, where: str | Option = "", own: Mapping[str, str] = NONE, *, is_input: bool = False) -> None:
    """Raise ExperimentError for what must not be overwritten, so before something is measured for it, too.

    path: what the user named.
    where: the option that named it.
    own: how the files begin that this writer makes, by the ends of names (``.csv``) under which people have other files, too.
    is_input: whether it is meant to replace what the command read.
    """
    try:
        target = _target(Path(path))
        if isinstance(target, int):
            return
        about = target.stat() if target.exists() else None
    except OSError:  # writing it says why not
        return
    if about and not stat.S_ISREG(about.st_mode):
        return
    if about and not is_input and userfile.is_input(about):
        raise ExperimentError(f"{path} is an input of this command, and was not overwritten", where, "name another file")
    if _is_record(target, about is not None):
        raise ExperimentError(f"{path} is a record of a run, and was not overwritten", where, "name another file")
    if about and about.st_size and _is_source(target.name) and not _is_own(target, own):
        raise ExperimentError(f"{path} holds something else, and was not overwritten", where, "name another file, or remove it")


def _is_record(target: Path, exists: bool) -> bool:
    folder = Path(os.path.realpath(target.parent))
    if target.name in RECORDS:
        return exists or any((folder / each).exists() for each in RUNS)
    above = [each for each in (folder, *folder.parents)[:3] if _FOLDERS.fullmatch(each.name)]
    return any((each.parent / name).exists() for each in above for name in RUNS)


def _is_source(name: str) -> bool:
    return Path(name).suffix.lower() in _SOURCES or _BY_NAME.fullmatch(name) is not None


def _is_own(target: Path, own: Mapping[str, str]) -> bool:
    """Return whether a file begins as those of this writer do."""
    if (kind := target.suffix.lower()) not in own:
        return False
    head = own[kind].encode()
    try:
        with target.open("rb") as file:
            return file.read(len(head)) == head
    except OSError:  # it cannot be read, and perhaps be written
        return not head


def place(path: Path, content: bytes, mode: int = 0o666, durable: bool = False) -> None:
    """Write a record whole or not at all; what was there, a link too, is replaced.

    path: the file; its folder is made.
    content: what it is to have.
    mode: of the file, less the caller's umask.
    durable: whether it must be on the disk when this returns.
    Raises OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with drafted(path, mode, durable) as file:
        file.write(content)


def new(path: Path, content: bytes) -> None:
    """Write a record that is not there yet, whole or not at all. Raises OSError: FileExistsError if it exists."""
    with _draft(path, 0o666) as draft:
        draft.file.write(content)
        draft.whole()
        os.link(draft.name(), path, follow_symlinks=False)


@contextlib.contextmanager
def drafted(path: Path, mode: int = 0o666, durable: bool = True) -> Iterator[BinaryIO]:
    """Give a file to write in, which takes the place of a record, or of a link, when the block ends. Raises OSError."""
    with _draft(path, mode) as draft:
        yield draft.file
        draft.whole(durable)
        os.replace(draft.name(), path)
    if durable:
        _settle(path.parent)


@contextlib.contextmanager
def _kept(path: Path) -> Iterator[BinaryIO]:
    """As `drafted`, with the mode and owner of a regular file that exists, and also where the folder takes no other one."""
    about = path.stat() if path.exists() else None
    if about and stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if about and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with contextlib.ExitStack() as stack:
        try:
            draft = stack.enter_context(_draft(path, 0o666))
        except OSError as error:
            if not about or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            with tempfile.TemporaryFile() as file:
                yield file
                _overwrite(path, file)
            return
        yield draft.file
        draft.whole()
        if about:
            _like(draft.file.fileno(), about)
        try:
            os.replace(draft.name(), path)
        except OSError as error:
            if error.errno != errno.EBUSY:  # a mount of its own, such as a file that a container is given
                raise
            _overwrite(path, draft.file)
    _settle(path.parent)


class _Draft:
    """A file beside another one, without a name where the file system can do that: a kill leaves nothing."""

    def __init__(self, path: Path, mode: int) -> None:
        self._named = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
        self._is_named = False
        try:
            fd = os.open(path.parent, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, mode)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                raise
            self._named.unlink(missing_ok=True)
            fd = os.open(self._named, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
            self._is_named = True
        self.file: BinaryIO = os.fdopen(fd, "w+b")

    def whole(self, durable: bool = True) -> None:
        self.file.flush()
        if durable:
            os.fsync(self.file.fileno())

    def name(self) -> Path:
        """Return its path; it gets one now if it has none."""
        if not self._is_named:
            self._named.unlink(missing_ok=True)
            fd = self.file.fileno()
            os.link(
                f"/proc/self/fd/{fd}", self._named, src_dir_fd=fd
            )  # a whole path; Python follows its link only with a folder
            self._is_named = True
        return self._named

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what was not flushed is not wanted
            self.file.close()
        if self._is_named:
            with contextlib.suppress(OSError):
                self._named.unlink(missing_ok=True)


@contextlib.contextmanager
def _draft(path: Path, mode: int) -> Iterator[_Draft]:
    draft = _Draft(path, mode)
    try:
        yield draft
    finally:
        draft.close()


def _like(fd: int, about: os.stat_result) -> None:
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (about.st_uid, about.st_gid):
        with contextlib.suppress(OSError):  # somebody else's file in a folder of ours
            os.fchown(fd, about.st_uid, about.st_gid)
    os.fchmod(fd, stat.S_IMODE(about.st_mode))


def _overwrite(path: Path, source: BinaryIO) -> None:
    """Overwrite a file where it is, with its space reserved first."""
    source.flush()
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    with path.open("r+b") as file:
        before = os.fstat(file.fileno()).st_size
        try:
            if size:
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError:
            file.truncate(before)
            raise
        shutil.copyfileobj(source, file)
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Have the folder's new entry on the disk, where the file system supports that."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _target(path: Path) -> Path | int:
    """Return the path behind links, or the number of a descriptor of this process that it stands for. Raises OSError."""
    for _ in range(_LINKS):
        if not path.is_symlink():
            return path
        folder = os.path.realpath(path.parent)
        if re.fullmatch(rf"/proc/{os.getpid()}(/task/\d+)?/fd", folder):
            return int(path.name)
        if folder.startswith("/proc/"):
            return path
        path = Path(folder, path.readlink())
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _is_special(path: Path) -> bool:
    if not path.exists():
        return False
    mode = path.stat().st_mode
    return path.is_symlink() or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _special(path: Path) -> BinaryIO:
    """Open a pipe, a terminal or a device for writing. Raises OSError, also for a pipe that no program reads from."""
    end = time.monotonic() + READER_S
    while True:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO or not path.is_fifo():
                raise
            if time.monotonic() > end:
                raise OSError(errno.ENXIO, "no program reads from this pipe", str(path)) from error
            time.sleep(0.02)
            continue
        os.set_blocking(fd, True)
        return os.fdopen(fd, "wb")
