"""What commands share of the terminal: a console for tables, and how they end after an interrupt."""

from __future__ import annotations

import sys

from rich.console import Console

from slownet.lab.place import Interrupts


def console(piped: int = 160) -> Console:
    """Standard output for tables: as wide as the terminal, or `piped` columns where it is a pipe or a file."""
    return Console(width=None if sys.stdout.isatty() else piped)


def interrupted(interrupts: Interrupts) -> int:
    """Say that the command was interrupted; return its exit status, 128 + the signal's number."""
    print("slownet: interrupted", file=sys.stderr)
    return 128 + interrupts.received
