"""The formats of recordings: how a file of one is recognized, and how it is read.

Each format is a file of this folder with `FORMATS`, one or more of them; `trace_summary` finds them, and knows none by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from slownet.model import userfile
from slownet.model.errors import TraceError

PERCENTILES = (5, 25, 50, 75, 95, 99)
HEAD_BYTES = 64
HOW = "give the program's whole output"


class Trace(Protocol):
    """A recording that was read."""

    def facts(self) -> dict[str, object]:
        """Return its kind and numbers about it; the numbers' names end with `_` and the unit."""
        ...


@dataclass(frozen=True)
class Text:
    """A text file whose format is asked for."""

    content: str
    where: str
    """Its name in errors."""

    @cached_property
    def first(self) -> str:
        """The first line that is not empty."""
        return self.content.lstrip().partition("\n")[0].strip()

    @property
    def is_json(self) -> bool:
        """True if it is one JSON object or many."""
        return self.first.startswith("{")

    @cached_property
    def objects(self) -> Sequence[Any]:
        """The JSON of the text, or of each of its lines; the last one may be cut off. Raises TraceError."""
        try:
            return [userfile.json(self.content)]
        except ValueError as error:
            lines = [(number, line) for number, line in enumerate(self.content.splitlines(), 1) if line.strip()]
            found = []
            for number, line in lines:
                try:
                    found.append(userfile.json(line))
                except ValueError:
                    if not found or number != lines[-1][0]:
                        raise TraceError(f"it is not JSON: {str(error)[:80]}", f"{self.where} line {number}", HOW) from error
            return found

    @property
    def object(self) -> Mapping[str, Any]:
        """The first JSON object; empty for another text. Raises TraceError."""
        return self.objects[0] if self.is_json and isinstance(self.objects[0], dict) else {}


class Mark(IntEnum):
    """The test for a format; the surest come first."""

    OWN = 0
    """By a mark that no other format has."""
    NUMBERS = 1
    """By numbers in the first line."""
    REST = 2
    """It takes what no other format took."""


@dataclass(frozen=True)
class TextFormat:
    """A format of text files. ``read`` raises TraceError."""

    fits: Callable[[Text], bool]
    read: Callable[[Text], Trace]
    mark: Mark = Mark.OWN


@dataclass(frozen=True)
class BinaryFormat:
    """A format of other files, recognized by their first 64 bytes. ``read`` raises TraceError."""

    fits: Callable[[bytes], bool]
    read: Callable[[BinaryIO, Path], Trace]


Format = TextFormat | BinaryFormat


def json_format(fits: Callable[[Mapping[str, Any]], bool], read: Callable[[Sequence[Any], str], Trace]) -> TextFormat:
    """Return a format of JSON, recognized by its first object; a field that ``read`` misses becomes a TraceError."""

    def guarded(text: Text) -> Trace:
        try:
            return read(text.objects, text.where)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise TraceError(f"a field is missing or of another kind ({str(error)[:80]})", text.where, HOW) from error

    return TextFormat(lambda text: fits(text.object), guarded)


def quantile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that at least this fraction of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]
