"""Reads the files of recordings."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from slownet.model import userfile
from slownet.model.errors import TraceError

MOST = 64 * userfile.MEBIBYTE
"""Bytes of a trace: ten million packets, or days of pings."""


def opened(path: str | Path) -> BinaryIO:
    """Open a file or a pipe for reading it piece by piece. Raises TraceError."""
    try:
        return userfile.opened(path)
    except (OSError, ValueError) as error:
        raise TraceError(f"cannot read it: {userfile.reason(error)}", f"file {path}") from error


def bytes_of(path: str | Path, most: int = MOST) -> bytes:
    """Return a file's content. Raises TraceError."""
    try:
        return userfile.read_bytes(path, most)
    except OSError as error:
        raise TraceError(f"cannot read it: {userfile.reason(error)}", f"file {path}") from error


def decoded(content: bytes, path: str | Path) -> str:
    """Return a content as text. Raises TraceError."""
    try:
        return userfile.decoded(content)
    except UnicodeDecodeError:
        raise TraceError("it is not a text file", f"file {path}", "a trace is plain text") from None


def text_of(path: str | Path) -> str:
    """Return a file's text. Raises TraceError."""
    return decoded(bytes_of(path), path)


def bounded(file: BinaryIO, path: str | Path, most: int = MOST) -> bytes:
    """Return the rest of an open file. Raises TraceError if it cannot be read, or is too large."""
    try:
        found = file.read(most + 1)
    except OSError as error:
        raise TraceError(f"cannot read it: {userfile.reason(error)}", f"file {path}") from error
    if len(found) > most:
        raise TraceError(f"cannot read it: it is larger than {most // userfile.MEBIBYTE} MiB", f"file {path}")
    return found
