"""Commands and output of the project's own client programs (`slownet.tools.programs`)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from slownet.model import userfile
from slownet.model.errors import ToolError
from slownet.model.shapes import Json
from slownet.net.output import complaint, last_line


def python(module: str, *words: object, package: str = "slownet.tools.programs") -> list[str]:
    """Return the command that runs a module of a package of programs."""
    return [sys.executable, "-m", f"{package}.{module}", *map(str, words)]


def read_json(text: str, command: Sequence[str], *names: str) -> dict[str, Json]:
    """Parse the last line as a JSON object that has all of ``names``. Raises ToolError that quotes the line."""
    last = last_line(text)
    try:
        record = userfile.json(last)
        missing = [name for name in names if name not in record]
    except (ValueError, TypeError):
        missing = list(names)
        record = {}
    if missing or not isinstance(record, dict):
        shown = last if len(last) <= 200 else f"{last[:200]}..."
        raise complaint(f"no {' and '.join(names)} in the line {shown!r}", text, command)
    return record


def nanoseconds(record: dict[str, Json], name: str, text: str, least: int = 0) -> tuple[float, ...]:
    """Return a list of times, given in ns, in ms. Raises ToolError if it is not a list of at least ``least`` numbers."""
    values = record[name]
    numbers = isinstance(values, list) and all(isinstance(value, (int, float)) for value in values)
    if not numbers or len(values) < least:
        raise ToolError(f"{name} is not a list of times: {str(values)[:100]!r}", raw=text)
    return tuple(value / 1e6 for value in values)
