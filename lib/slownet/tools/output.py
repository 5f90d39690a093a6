"""What a program printed and a parser did not understand, said in one line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from slownet.errors import ToolError


def last_line(text: str, nothing: str = "nothing") -> str:
    """The last line that is not empty: where most programs say what went wrong."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), nothing)


def needed(pattern: re.Pattern[str], text: str, missing: str, command: Sequence[str]) -> re.Match[str]:
    """Where a pattern first stands. Raises ToolError that says what is missing."""
    found = pattern.search(text)
    if found is None:
        raise unread(missing, text, command)
    return found


def unread(what: str, text: str, command: Sequence[str]) -> ToolError:
    """The error of a parser: what is wrong, and the last line, which may say why."""
    return complaint(f"{what}; its last line: {last_line(text)[:200]!r}", text, command)


def complaint(what: str, text: str, command: Sequence[str]) -> ToolError:
    """The error of a parser that knows what is wrong: with the command and the text."""
    return ToolError(what, fix=f"command: {shlex.join(command)}", raw=text)
