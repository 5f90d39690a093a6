"""One-line errors for program output that a parser does not understand."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence

from slownet.model import userfile
from slownet.model.errors import ToolError
from slownet.model.shapes import Json

_ENDS = r"(?!\d|[.,]\d|[eE][+-]?\d)"
"""A number ends before the next character: no digit follows: 1.5e-05 is not 1.5, 16,75 is not 16."""
DECIMAL = rf"\d{{1,15}}(?:\.\d{{1,15}})?(?!\.){_ENDS}"
"""A number that float reads; damaged output may have two points, or thousands of digits."""
WHOLE = rf"\d{{1,15}}{_ENDS}"
"""A number that int reads."""


def last_line(text: str, nothing: str = "nothing") -> str:
    """Return the last line that is not blank, where most programs explain what went wrong; ``nothing`` if none exists."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), nothing)


def needed(pattern: re.Pattern[str], text: str, missing: str, command: Sequence[str]) -> re.Match[str]:
    """Return the first match of a pattern. Raises ToolError that names ``missing`` if none exists."""
    found = pattern.search(text)
    if found is None:
        raise unread(missing, text, command)
    return found


def document(text: str) -> Json:
    """Return the JSON object that a program printed among warnings. Raises ValueError if it is not one object."""
    try:
        return userfile.json(text)
    except ValueError:
        lines = text.splitlines()
        begins = [number for number, line in enumerate(lines) if line.startswith("{")]
        ends = [number for number, line in enumerate(lines) if line.rstrip().endswith("}") and not line[:1].isspace()]
        if len(begins) != 1 or len(ends) != 1:
            raise
    return userfile.json("\n".join(lines[begins[0] : ends[0] + 1]))


def figure(value: Json, name: str) -> float:
    """Return a number of a program's JSON. Raises ValueError that names it unless it is a finite one of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"a number for {name}, but {value!r}")
    return value


def unread(what: str, text: str, command: Sequence[str]) -> ToolError:
    """Return a parser's error that also quotes the output's last line, which may explain why."""
    return complaint(f"{what}; its last line: {last_line(text)[:200]!r}", text, command)


def complaint(what: str, text: str, command: Sequence[str]) -> ToolError:
    """Return a parser's error with the command; ``.raw`` is the text."""
    return ToolError(what, fix=f"command: {shlex.join(command)}", raw=text)
