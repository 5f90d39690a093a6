"""Reads a recording of a network in any of the formats of this folder."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from slownet.links import traces
from slownet.links.traces.recording_file import bounded, decoded, opened
from slownet.links.traces.trace_format import HEAD_BYTES, BinaryFormat, Format, Text, TextFormat, Trace
from slownet.model.errors import TraceError


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats of all files of the folder, the surest to recognize first."""
    names = sorted(each.name for each in iter_modules(traces.__path__))
    found = [each for name in names for each in getattr(import_module(f"{traces.__name__}.{name}"), "FORMATS", ())]
    return tuple(sorted(found, key=lambda each: each.mark if isinstance(each, TextFormat) else 0))


def load(path: Path) -> Trace:
    """Read a recording in the first format that fits. Raises TraceError."""
    with opened(path) as file:  # once: it may be a pipe
        head = file.peek(HEAD_BYTES)[:HEAD_BYTES]  # type: ignore[attr-defined]
        for each in formats():
            if isinstance(each, BinaryFormat) and each.fits(head):
                return each.read(file, path)
        text = Text(decoded(bounded(file, path), path), str(path))
    for each in formats():
        if isinstance(each, TextFormat) and each.fits(text):
            return each.read(text)
    raise TraceError("its JSON was not written by a program that slownet can read", str(path), "see docs/howto/traces.md")
