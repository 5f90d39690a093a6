"""Writes to the host what changed in the writable shares of an exact lab: they are copies, and changes are sent at the end.

A lab may write whatever it likes into a writable share, and nothing outside: a path leads through folders of the share alone,
never through a link, wherever that may point.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from slownet.lab.run.channel import ProtocolError
from slownet.lab.run.outbox import parts_of, shown
from slownet.model.errors import LabError

FOLDER, FILE, LINK, REMOVED = "d", "f", "l", "r"
FIELDS = {FOLDER: 4, FILE: 4, LINK: 5, REMOVED: 4}
_INSIDE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = re.compile("[0-7]{1,4}")


class Returned:
    """The receiver of files from one lab. `close` ends the last file.

    Parameters
    ----------
    folders : mapping
        The host's folder of each writable share, by its number.
    """

    def __init__(self, folders: Mapping[int, Path]) -> None:
        self._folders = folders
        self._file: int | None = None
        self._name = ""

    def change(self, payload: bytes) -> None:
        """Make one change. Raises ProtocolError for what init.c never sends, LabError if the host cannot write it."""
        self.close()
        what, number, mode, name, *target = self._fields(payload)
        top = self._folders[int(number)]
        parts = parts_of(name)
        try:
            with self._inside(top, parts[:-1]) as above:
                self._make(what, above, parts[-1], int(mode, 8), *target)
        except OSError as error:
            raise self._failed(f"{top}/{shown(name)}", error) from error
        self._name = f"{top}/{shown(name)}"

    def content(self, data: bytes) -> None:
        """Write more of the last file. Raises ProtocolError, LabError."""
        if self._file is None:
            raise ProtocolError.of("a frame of type C without a file")
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise self._failed(self._name, error) from error

    def close(self) -> None:
        """End the last file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _fields(self, payload: bytes) -> Sequence[str]:
        fields = payload.decode(errors="surrogateescape").split("\0")
        what = fields[0]
        if fields.pop() or FIELDS.get(what) != len(fields):
            raise ProtocolError.of("a frame of type S that is unclear")
        if not re.fullmatch("[0-9]{1,2}", fields[1]) or int(fields[1]) not in self._folders:
            raise ProtocolError.of("a frame of type S for a folder that is not writable")
        if not _MODE.fullmatch(fields[2]):
            raise ProtocolError.of("a frame of type S with an unclear mode")
        return fields

    @contextlib.contextmanager
    def _inside(self, top: Path, parts: Sequence[str]) -> Iterator[int]:
        here = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                deeper = os.open(part, _INSIDE, dir_fd=here)
                os.close(here)
                here = deeper
            yield here
        finally:
            os.close(here)

    def _make(self, what: str, above: int, name: str, mode: int, target: str = "") -> None:
        there = _mode(above, name)
        if what == FOLDER and there is not None and stat.S_ISDIR(there):
            os.chmod(name, mode, dir_fd=above)
            return
        if there is not None:
            _remove(above, name, there)
        if what == FOLDER:
            os.mkdir(name, mode, dir_fd=above)
        elif what == LINK:
            os.symlink(target, name, dir_fd=above)
        elif what == FILE:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(name, flags, 0o600, dir_fd=above)
            os.fchmod(self._file, mode)

    def _failed(self, path: str, error: OSError) -> LabError:
        return LabError(f"cannot be written back from the lab ({error.strerror})", path, "free space, or share another folder")


def _mode(above: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _remove(above: int, name: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        shutil.rmtree(name, dir_fd=above)
    else:
        os.unlink(name, dir_fd=above)
