"""Reads the files of recordings."""

from __future__ import annotations

from pathlib import Path

from slownet.errors import TraceError


def text_of(path: str | Path) -> str:
    """Return a file's text. Raises TraceError."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise TraceError(f"cannot read it: {error.strerror}", f"file {path}") from error
    except UnicodeDecodeError:
        raise TraceError("it is not a text file", f"file {path}", "a trace is plain text") from None
