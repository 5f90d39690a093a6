"""One-line errors for program output that a parser does not understand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from slownet.model.errors import ToolError

DECIMAL = r"\d{1,15}(?:\.\d{1,15})?(?![\d.])"
"""A number that float reads; damaged output may have two points, or thousands of digits."""
WHOLE = r"\d{1,15}(?!\d)"
"""A number that int reads."""


def last_line(text: str, nothing: str = "nothing") -> str:
    """Return the last line that is not blank, where most programs say what went wrong; ``nothing`` if there is none."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), nothing)


def needed(pattern: re.Pattern[str], text: str, missing: str, command: Sequence[str]) -> re.Match[str]:
    """Return the first match of a pattern. Raises ToolError that names ``missing`` if there is none."""
    found = pattern.search(text)
    if found is None:
        raise unread(missing, text, command)
    return found


def unread(what: str, text: str, command: Sequence[str]) -> ToolError:
    """Return a parser's error that also quotes the output's last line, which may say why."""
    return complaint(f"{what}; its last line: {last_line(text)[:200]!r}", text, command)


def complaint(what: str, text: str, command: Sequence[str]) -> ToolError:
    """Return a parser's error with the command; ``.raw`` is the text."""
    return ToolError(what, fix=f"command: {shlex.join(command)}", raw=text)
