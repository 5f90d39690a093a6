"""Reads the files of recordings."""

from __future__ import annotations

from pathlib import Path

from slownet.model import userfile
from slownet.model.errors import TraceError

MOST = 64 * userfile.MEBIBYTE
"""Bytes of a trace: ten million packets, or days of pings."""
LARGEST_CAPTURE = 256 * userfile.MEBIBYTE


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
