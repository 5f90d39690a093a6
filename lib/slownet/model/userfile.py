"""Reads files that a user names: within a size, from files and pipes alike, with every failure as an ordinary error.

The caller explains what it wanted. So the functions here raise few kinds of errors: OSError (whose ``strerror``
explains why) and UnicodeDecodeError for a file, ValueError for what it contains.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json as _json
import os
import re
import select
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.options import Option
from slownet.model.shapes import Json

MEBIBYTE = 1 << 20
MOST = 4 * MEBIBYTE
"""Bytes of a file that a person writes; the largest pyproject.toml or compose file is a hundredth of that."""
MOST_RECORD = 64 * MEBIBYTE
"""Bytes of a file that slownet wrote, such as a baseline, and of a line of one."""
MOST_VALUES = 3_000_000
"""Values of a JSON text: three bytes, ``[],``, take sixty in memory."""
MOST_ENTRIES = 100_000
"""Values of a TOML text, which Python reads at a hundredth of the speed of JSON."""
MOST_NUMBER = 1 << 64
_DIGITS = 21
"""The largest number of a JSON text, and its characters with a sign."""
DEEPEST = 50
"""Tables and lists in one another."""
WRITER_S = 5.0
"""The time that a named pipe may have no writer."""
_CHUNK = MEBIBYTE
_inputs: set[tuple[int, int]] | None = None
"""The files that a command has read, by device and inode; None in a program that is not one of slownet's commands."""


@contextlib.contextmanager
def command() -> Iterator[None]:
    """Remember which files are read in this block, so that none of them is overwritten by the same command."""
    global _inputs
    _inputs = set()
    try:
        yield
    finally:
        _inputs = None


def is_input(about: os.stat_result) -> bool:
    """Return whether this command has read that file, under this or another name."""
    return _inputs is not None and (about.st_dev, about.st_ino) in _inputs


def _note(descriptor: int) -> os.stat_result:
    """Remember a file that is read, and return what it is."""
    about = os.fstat(descriptor)
    if _inputs is not None and stat.S_ISREG(about.st_mode):
        _inputs.add((about.st_dev, about.st_ino))
    return about


def read_bytes(path: Path | str, most: int = MOST) -> bytes:
    """Return the content of a file or a pipe, such as ``/dev/stdin`` or ``<(program)``.

    path: the file.
    most: the bytes that it may have; a longer one is not read further.
    Raises OSError: it cannot be read, is a folder, is too large, or is a named pipe that no process writes to.
    """
    try:
        # Without O_NONBLOCK a named pipe without a writer would hold the open() itself, for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except ValueError as error:  # a NUL
        raise OSError(errno.EINVAL, "the name has a null byte", str(path)) from error
    try:
        return _content(descriptor, str(path), most)
    finally:
        os.close(descriptor)


def opened(path: Path | str, buffering: int = -1) -> BinaryIO:
    """Open a file or a pipe for reading it piece by piece.

    Raises OSError, also for a device, which might never end, and for a named pipe that no process writes to.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        mode = _note(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            raise OSError(errno.EINVAL, "it is a device", str(path))
        if stat.S_ISFIFO(mode):
            _await_writer(descriptor, str(path))
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb", buffering)
    except BaseException:
        os.close(descriptor)
        raise


def _await_writer(descriptor: int, path: str) -> None:
    """Wait until a pipe has something to read. Raises OSError if no process writes to it for some time."""
    while not select.select([descriptor], [], [], WRITER_S)[0]:
        try:
            if os.read(descriptor, 1):
                raise OSError(errno.EPIPE, "its writer came too late", path)
            raise OSError(errno.EPIPE, "it is a pipe that no program writes to", path)
        except BlockingIOError:  # a writer that has nothing to say yet
            continue


def read_record(path: Path | str) -> bytes:
    """Return the content of a file that slownet itself wrote.

    Raises OSError, also for what is not a regular file and might never end, and for more than `MOST_RECORD` bytes.
    """
    with opened_record(path) as file:
        return _content(file.fileno(), str(path), MOST_RECORD)


def opened_record(path: Path | str) -> BinaryIO:
    """Open a file that slownet itself wrote. Raises OSError, also for what is not a regular file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(_note(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def record_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a file that slownet itself wrote, with their ends; what is no UTF-8 is replaced.

    Raises OSError as `opened_record`, and for a line of more than `MOST_RECORD` bytes.
    """
    with opened_record(path) as file:
        while line := file.readline(MOST_RECORD + 1):
            if len(line) > MOST_RECORD:
                raise OSError(errno.EFBIG, f"a line of it is longer than {MOST_RECORD // MEBIBYTE} MiB", str(path))
            yield line.decode(errors="replace")


def _content(descriptor: int, path: str, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    about = _note(descriptor)
    is_pipe = stat.S_ISFIFO(about.st_mode)
    if stat.S_ISREG(about.st_mode) and about.st_size > most:
        raise _too_large(path, most)
    while True:
        part = _next(descriptor)
        if not part and not size and is_pipe:
            if not select.select([descriptor], [], [], WRITER_S)[0]:
                raise OSError(errno.EPIPE, "it is a pipe that no program writes to", path)
            part = _next(descriptor)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > most:
            raise _too_large(path, most)


def _too_large(path: str, most: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most // MEBIBYTE} MiB", path)


def _next(descriptor: int) -> bytes:
    """Return the next bytes; none at the end."""
    while True:
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:  # a pipe with a writer that has nothing to say yet
            select.select([descriptor], [], [])


def read_text(path: Path | str, most: int = MOST) -> str:
    """Return a file's text, without a byte order mark and with Unix's line ends. Raises OSError, UnicodeDecodeError."""
    return decoded(read_bytes(path, most))


def decoded(content: bytes) -> str:
    """Return a file's content as text, without a byte order mark and with Unix's line ends. Raises UnicodeDecodeError."""
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def reason(error: OSError | ValueError) -> str:
    """Return why a file could not be read, in a few words: for what the functions of this module raise."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8, at byte {error.start}"
    return str(getattr(error, "strerror", None) or error)


def toml(text: str) -> dict[str, Json]:
    """Return the content of a TOML text. Raises tomllib.TOMLDecodeError, also for what would exceed Python's limits."""
    import tomllib  # not at the top: a lab's processes import this module, and rarely read such a file

    if sum(text.count(each) for each in ",[{=") > MOST_ENTRIES:  # it takes as long as a person waits for any command
        raise tomllib.TOMLDecodeError(f"it has more than {MOST_ENTRIES:,} entries")
    if _DOTTED.search(text):
        raise tomllib.TOMLDecodeError(_too_deep())
    try:
        found = tomllib.loads(text)
    except RecursionError as error:
        raise tomllib.TOMLDecodeError(_too_deep()) from error
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # e.g. a number of 5000 digits, a time of 99 o'clock
        raise tomllib.TOMLDecodeError(_number(error)) from error
    if not is_shallow(found):
        raise tomllib.TOMLDecodeError(_too_deep())
    return found


_DOTTED = re.compile(rf"""(?<![\w"'.-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{DEEPEST + 1}}}""")
"""A key of more parts than tables may be in one another, of which tomllib's time is the square."""


def toml_text(text: str) -> str:
    """Return a text as TOML has it, in quotes."""
    return _json.dumps(text, ensure_ascii=False)


def json(text: str | bytes) -> Any:
    """Return the content of a JSON text.

    Raises ValueError, also for what would exceed Python's limits, for more than `MOST_VALUES` values, and for a number beyond
    64 bits, which no program prints: its square would overflow.
    """
    if _values(text) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values")
    try:
        found = _json.loads(text, parse_int=_whole, parse_float=_real)
    except RecursionError as error:
        raise ValueError(_too_deep()) from error
    except (_json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:
        raise ValueError(_number(error)) from error
    if not is_shallow(found):
        raise ValueError(_too_deep())
    return found


def _values(text: str | bytes) -> int:
    """Return how many values a JSON text has at most, from what begins or parts them."""
    if isinstance(text, bytes):
        found = sum(text.count(each) for each in (b",", b"[", b"{"))
    else:
        found = sum(text.count(each) for each in ",[{")
    if found <= MOST_VALUES:
        return found
    shown = text.decode(errors="replace") if isinstance(text, bytes) else text
    marks = (each for each in _MARKS.finditer(shown) if each[0] in ",[{")  # not those in texts, such as a program's output
    return sum(1 for _ in itertools.islice(marks, MOST_VALUES + 1))


_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{,]')


def _whole(text: str) -> int:
    if len(text) > _DIGITS or abs(value := int(text)) > MOST_NUMBER:
        raise ValueError("a number has too many digits")
    return value


def _real(text: str) -> float:
    if abs(value := float(text)) > MOST_NUMBER:
        raise ValueError("a number is too large")
    return value


def is_shallow(value: Any, deepest: int = DEEPEST) -> bool:
    """Return whether no more than so many tables and lists are in one another."""
    level = _inner([value])
    for _ in range(deepest):
        level = [each for outer in level for each in _inner(outer)]
    return not level


def _inner(value: Any) -> list[Any]:
    """Return the tables and lists in one."""
    return [each for each in (value.values() if isinstance(value, dict) else value) if isinstance(each, (dict, list))]


def _too_deep() -> str:
    return f"tables and lists are nested deeper than {DEEPEST}"


def _number(error: ValueError) -> str:
    return "a number has too many digits" if "digits" in str(error) else str(error)


LONGEST_NAME, LONGEST_PATH = 255, 4095
"""Bytes of a file's name and of a whole path that Linux takes (``limits.h``: NAME_MAX, and PATH_MAX without its null byte)."""
_SHOWN = 60


def expanded(path: Path | str, where: str | Option = "", error: type[SlownetError] = ExperimentError) -> Path:
    """Return a path whose ``~`` or ``~user`` is that user's home. where: what names the path.

    Raises `error`, also for what no file can be named: so whoever asks whether there is one gets an answer.
    """
    text = str(path)
    if "\0" in text:
        raise error(f"a null byte in the path {text[:_SHOWN]!r}", where, "correct the path")
    if len(text.encode(errors="replace")) > LONGEST_PATH or any(
        len(part.encode(errors="replace")) > LONGEST_NAME for part in text.split("/")
    ):
        raise error(
            f"the path {text[:_SHOWN]}... is too long",
            where,
            f"a path has at most {LONGEST_PATH} bytes, each name in it at most {LONGEST_NAME}",
        )
    try:
        return Path(path).expanduser()
    except RuntimeError as problem:
        who = text.partition("/")[0].removeprefix("~")
        what = f"there is no user '{who}'" if who else "there is no home directory: HOME is not set"
        raise error(f"{what}, for {path}", where, "write the whole path, or ./ before a name that begins with ~") from problem


def beside(folder: Path, given: Path | str, where: str | Option = "", error: type[SlownetError] = ExperimentError) -> Path:
    """Return a path that a file in `folder` names, whole or relative to it, as `expanded` does. Raises `error`."""
    return expanded(folder / expanded(given, where, error), where, error)
