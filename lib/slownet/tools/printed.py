"""What a program printed and a parser did not understand, said in one line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from slownet.errors import ToolError


def last_line(text: str, nothing: str = "nothing") -> str:
    """The last line that is not empty: where most programs say what went wrong."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), nothing)


def unread(what: str, text: str, command: Sequence[str]) -> ToolError:
    """The error of a parser: what is wrong, and the last line, which may say why."""
    return complaint(f"{what}; its last line: {last_line(text)[:200]!r}", text, command)


def complaint(what: str, text: str, command: Sequence[str]) -> ToolError:
    """The error of a parser that knows what is wrong: with the command and the text."""
    return ToolError(what, fix=f"command: {shlex.join(command)}", raw=text)
