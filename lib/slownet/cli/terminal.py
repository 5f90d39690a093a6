"""Terminal functions that commands share: a console for tables, and how they end after an interrupt."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.text import Text

from slownet.lab.run.place import Interrupts
from slownet.report.screen import Screen

UNLIMITED = 100_000
"""Columns of a pipe or a file, where nothing is wrapped: other programs read it by lines."""


def console() -> Screen:
    """Standard output for tables: as wide as the terminal, unlimited where it is a pipe or a file."""
    return Screen(width=None if sys.stdout.isatty() else UNLIMITED)


def say_records(screen: Screen, path: Path, end: str = "\n", page: str = "") -> None:
    """Print where the records of a run are, and last its page, if it has one of that name."""
    has_page = bool(page) and (path / page).is_file()
    screen.print(Text.assemble(("records", "dim"), f" {path}"), soft_wrap=True, end="\n" if has_page else end)
    if has_page:
        say_page(screen, path / page, end)


def say_page(screen: Screen, page: Path, end: str = "\n") -> None:
    """Print where a page is."""
    screen.print(Text.assemble(("page", "dim"), f" {page}"), soft_wrap=True, end=end)


def interrupted(interrupts: Interrupts) -> int:
    """Say that the command was interrupted; return its exit status, 128 + the signal's number."""
    print("slownet: interrupted", file=sys.stderr)
    return 128 + interrupts.received
