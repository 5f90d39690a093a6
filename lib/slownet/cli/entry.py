"""The program `slownet`: the command line, imported where a failure to do so is one line as well."""

from __future__ import annotations

import gc

from slownet.cli import endings

ALLOCATIONS = 20_000
"""After how many new objects the garbage collector looks for garbage: imports make many, and none is. With Python's own number
it took an eighth of a command's start."""


def main() -> None:
    """Run the command line with the words of this process."""
    gc.set_threshold(ALLOCATIONS)
    with endings.one_line():
        from slownet.cli import app as cli

        cli.run_words()
