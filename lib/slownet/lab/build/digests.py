"""Integrity of finished folders of the cache: its files' sizes and SHA-256 are recorded in it.

To read a whole image takes a second or more. A check therefore reads everything only if it is asked to, if a file's size or
time of change is not that of the last complete check, or if that was more than a day ago. The note of that check is outside the
folder, where no lab can write. A folder that was made before there were records is taken as it is, and recorded.

This detects accidents: a full disk, a copy that was broken off, bits that flipped. It is not a defence against someone who may
write to the cache, and so to the record.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from slownet.lab.build import cache
from slownet.lab.run.outbox import Outbox, RefusedError
from slownet.model.errors import DamagedError
from slownet.model.shapes import Json
from slownet.model.whole_file import place

RECORD = "digests.json"
FORMAT = 1
"""Of records and of what is written beside parts; a file that states none is of the first."""
DAY_S = 86_400
LOG = ".log"
MOST_JSON = 1 << 26
"""Bytes of a file beside a part."""
MOST = 1 << 50
"""Bytes of a part: whatever fits on a disk."""

TEXT, NUMBER, RATIO, TEXTS, TABLE = "a text", "a whole number", "a number above 0", "a list of texts", "a table of texts"
LISTS = "a table of lists of texts"
FITS: Mapping[str, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    NUMBER: lambda value: type(value) is int and 0 <= value < 1 << 53,
    RATIO: lambda value: type(value) in (int, float) and 0 < value < 1 << 53,
    LISTS: lambda value: isinstance(value, dict) and all(map(FITS[TEXTS], value.values())),
    TEXTS: lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    TABLE: lambda value: isinstance(value, dict) and all(isinstance(each, str) for each in value.values()),
}


@dataclass(frozen=True)
class Part:
    """A kind of folder: its name for messages, and its required contents."""

    what: str
    """Such as "the lab's kernel"."""
    needs: Sequence[str] = ()
    """Files without which it is of no use."""
    fix: str = "slownet lab build"
    """The command that makes it anew."""
    changing: Sequence[str] = ()
    """Files that are rewritten after it was made, and are not recorded."""

    def damaged(self, path: Path, how: str, fix: str = "") -> DamagedError:
        """Return the error for one file."""
        return DamagedError(f"{self.what} is damaged: {path.name} {how}", str(path), fix or self.fix)


@dataclass(frozen=True)
class Digest:
    """The record of a file."""

    size: int
    sha256: str
    executable: bool = False


@dataclass(frozen=True)
class Note:
    """The last complete check of a folder."""

    at: float = 0.0
    """In seconds since 1970; 0 if it failed."""
    times: Mapping[str, int] = field(default_factory=dict)
    """When each file changed, in nanoseconds since 1970."""
    files: Mapping[str, Digest] = field(default_factory=dict)
    """The state of the files, for a folder without a record."""
    inode: int = 0
    """Of the folder: one that was made since is another."""

    def fits(self, seen: Mapping[str, os.stat_result]) -> bool:
        """Return whether files have the times and sizes that they had."""
        return seen.keys() == self.files.keys() and all(
            (status.st_mtime_ns, status.st_size) == (self.times.get(name), self.files[name].size)
            for name, status in seen.items()
        )


def record(folder: Path, known: Mapping[str, str] | None = None, changing: Sequence[str] = ()) -> dict[str, Digest]:
    """Record the files of a folder that was just made, and return what was recorded. Raises OSError.

    known: SHA-256 of files that were checked a moment ago. changing: files to leave out. What is not a regular file is not
    recorded: a lab may have made it.
    """
    made, found = Outbox(folder), {}
    for name in sorted(os.listdir(folder)):
        if not _is_covered(name, changing):
            continue
        with contextlib.suppress(RefusedError), made.open(name, MOST) as file:
            status = os.fstat(file.fileno())
            found[name] = Digest(status.st_size, (known or {}).get(name) or _sha256(file), bool(status.st_mode & 0o111))
    _write(folder / RECORD, {"format": FORMAT, "files": {name: asdict(each) for name, each in found.items()}})
    return found


def check(folder: Path, part: Part, notes: Sequence[Path], *, full: bool = False, daily: bool = True) -> None:
    """Raise DamagedError unless a folder is what was recorded.

    Parameters
    ----------
    folder : Path
        A finished folder.
    part : Part
        What it is.
    notes : sequence of Path
        Where notes of complete checks may be: the first is written, the first that there is holds. A folder beside which none
        is written gets no record either.
    full : bool
        Whether to read everything in any case.
    daily : bool
        Whether to read everything once a day.
    """
    stated, note = _recorded(folder, part), _last(folder, notes)
    files = note.files if stated is None and note and note.files else stated
    names = _names(folder, part) if files is None else [*files]
    for lacking in (each for each in part.needs if each not in names):
        raise part.damaged(*((folder / RECORD, f"does not name {lacking}") if files else (folder / lacking, "is missing")))
    seen = {name: _seen(folder / name, part) for name in names}
    for name, digest in (files or {}).items():
        if seen[name].st_size != digest.size:
            raise part.damaged(folder / name, f"has {seen[name].st_size} bytes, and {digest.size} were written")
        if digest.executable and not seen[name].st_mode & 0o111:
            raise part.damaged(folder / name, "is no longer executable", f"chmod +x {folder / name}")
    if note and not full and note.at and note.fits(seen):
        age = time.time() - note.at
        if 0 <= age < DAY_S or not daily or not cache.may_write(notes[0].parent):
            return
    now = {name: Digest(seen[name].st_size, _read(folder / name, part), bool(seen[name].st_mode & 0o111)) for name in names}
    for name, digest in (files or {}).items():
        if now[name].sha256 != digest.sha256:
            # so that the next one, which may look at sizes and times only, reads everything
            keep_note(notes, Note(files=files or {}, inode=folder.stat().st_ino))
            raise part.damaged(folder / name, "has changed since it was written: its SHA-256 differs from the recorded one")
    if stated is None and notes and notes[0].parent == folder.parent:
        with contextlib.suppress(OSError):
            _write(folder / RECORD, {"format": FORMAT, "files": {name: asdict(each) for name, each in now.items()}})
    checked(folder, now, notes, {name: status.st_mtime_ns for name, status in seen.items()})


def checked(folder: Path, files: Mapping[str, Digest], notes: Sequence[Path], times: Mapping[str, int] | None = None) -> None:
    """Note that the files of a folder, which were just read, need not be for a day. times: those of before they were read."""
    with contextlib.suppress(OSError):
        changed = times or {name: (folder / name).stat().st_mtime_ns for name in files}
        keep_note(notes, Note(time.time(), changed, files, folder.stat().st_ino))


def keep_note(notes: Sequence[Path], note: Note) -> None:
    """Keep the note of a check; it is not written without room or permission, and the next check reads everything again."""
    with contextlib.suppress(OSError):
        for path in notes[:1]:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, asdict(note))


def facts(path: Path, part: Part, wanted: Mapping[str, str], optional: Mapping[str, str] | None = None) -> dict[str, Json]:
    """Return the contents of a JSON file beside a part. Raises DamagedError, also for a file of a newer version.

    wanted, optional: what each of its entries is, such as `TEXT`.
    """
    data = _json(path, part)
    stated = data.get("format", FORMAT)
    if stated != FORMAT:
        newer = FITS[NUMBER](stated) and stated > FORMAT
        raise part.damaged(path, "was written by a newer version of slownet" if newer else f"has the format {stated!r:.40}")
    for name, kind in {**wanted, **(optional or {})}.items():
        if name in wanted and name not in data:
            raise part.damaged(path, f"lacks '{name}'")
        if name in data and not FITS[kind](data[name]):
            raise part.damaged(path, f"has a '{name}' that is not {kind}")
    return data


def _json(path: Path, part: Part) -> dict[str, Json]:
    try:
        with open(_opened(path), "rb") as file:
            text = file.read(MOST_JSON)
    except OSError as error:
        raise part.damaged(path, _why(error)) from error
    if not text.strip(b"\0 \t\r\n"):
        raise part.damaged(path, "is empty")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise part.damaged(path, "is not JSON, or was cut short") from error
    if not isinstance(data, dict):
        raise part.damaged(path, "is not a JSON object")
    return data


def _recorded(folder: Path, part: Part) -> dict[str, Digest] | None:
    """Return the record of a folder; None if it has none."""
    path = folder / RECORD
    if not os.path.lexists(path):
        return None
    files = facts(path, part, {}).get("files")
    if not isinstance(files, dict) or (found := _digests(files)) is None:
        raise part.damaged(path, "cannot be understood")
    return found


def _digests(files: Mapping[str, Json]) -> dict[str, Digest] | None:
    """Return digests from JSON; None if they are of wrong types."""
    try:
        found = {name: Digest(**each) for name, each in files.items()}
    except TypeError:
        return None
    is_sound = all(
        FITS[NUMBER](each.size) and FITS[TEXT](each.sha256) and isinstance(each.executable, bool) and _is_covered(name)
        for name, each in found.items()
    )
    return found if is_sound else None


def _last(folder: Path, notes: Sequence[Path]) -> Note | None:
    """Return the first readable note for a folder, or None."""
    for path in notes:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            with open(_opened(path), "rb") as file:
                data = json.loads(file.read(MOST_JSON))
            files = _digests(data["files"])
            if files is not None and type(data["at"]) in (int, float) and data["inode"] in (0, folder.stat().st_ino):
                return Note(data["at"], dict(data["times"]), files, data["inode"])
    return None


def _names(folder: Path, part: Part) -> list[str]:
    """Return the files of a folder without a record."""
    try:
        return sorted(each.name for each in os.scandir(folder) if _is_covered(each.name, part.changing) and not each.is_dir())
    except OSError as error:
        raise part.damaged(folder, _why(error)) from error


def _is_covered(name: str, changing: Sequence[str] = ()) -> bool:
    is_plain = name == os.path.basename(name) and not name.startswith(".") and not name.endswith(LOG)
    return is_plain and name != RECORD and name not in changing


def _seen(path: Path, part: Part) -> os.stat_result:
    """Return a file's status, if it can be read. Raises DamagedError."""
    try:
        status = path.stat()
    except OSError as error:
        raise part.damaged(path, _why(error)) from error
    if not stat.S_ISREG(status.st_mode):
        raise part.damaged(path, "is a folder" if stat.S_ISDIR(status.st_mode) else "is not a regular file")
    if not os.access(path, os.R_OK, effective_ids=True):
        raise part.damaged(path, "cannot be read (Permission denied)")
    return status


def _read(path: Path, part: Part) -> str:
    try:
        with open(_opened(path), "rb") as file:
            return _sha256(file)
    except OSError as error:
        raise part.damaged(path, _why(error)) from error


def _sha256(file: Any) -> str:
    import hashlib  # loads OpenSSL, which is not needed when this module is imported inside a lab

    return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> int:
    """Open a regular file; a pipe would not answer. Raises OSError."""
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        is_folder = stat.S_ISDIR(os.fstat(number).st_mode)
        os.close(number)
        raise OSError(None, "is a folder" if is_folder else "is not a regular file", str(path))
    return number


def _why(error: OSError) -> str:
    """Return what is wrong with a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return "is missing"
    return str(error.strerror) if error.errno is None else f"cannot be read ({error.strerror})"


def _write(path: Path, data: Mapping[str, Json]) -> None:
    """Write JSON whole or not at all, and not through a link that a lab may have left. Raises OSError."""
    place(path, (json.dumps(data, indent=1, sort_keys=True) + "\n").encode())
    path.chmod(0o644)  # whatever the umask: who may read the part must be able to check it
