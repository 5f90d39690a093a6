"""Reads the files of recordings."""

from __future__ import annotations

from pathlib import Path

from slownet.model import userfile
from slownet.model.errors import TraceError

MOST = 64 * userfile.MEBIBYTE
"""Bytes of a trace: ten million packets, or days of pings."""


def text_of(path: str | Path) -> str:
    """Return a file's text. Raises TraceError."""
    try:
        return userfile.read_text(path, MOST)
    except OSError as error:
        raise TraceError(f"cannot read it: {userfile.reason(error)}", f"file {path}") from error
    except UnicodeDecodeError:
        raise TraceError("it is not a text file", f"file {path}", "a trace is plain text") from None
