"""What commands share of the terminal: a console for tables, progress bars, and how they end after an interrupt."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from slownet.lab.place import Interrupts


def console(piped: int = 160) -> Console:
    """Standard output for tables: as wide as the terminal, or `piped` columns where it is a pipe or a file."""
    return Console(width=None if sys.stdout.isatty() else piped)


def bars() -> Progress:
    """Return progress bars on standard error, shown only on a terminal; each has a field `now` for the current activity."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
    )
    errors = Console(stderr=True)
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


def interrupted(interrupts: Interrupts) -> int:
    """Say that the command was interrupted; return its exit status, 128 + the signal's number."""
    print("slownet: interrupted", file=sys.stderr)
    return 128 + interrupts.received
