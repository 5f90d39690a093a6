"""The program `slownet`: the command line, imported where a failure to do so is one line as well."""

from __future__ import annotations

from slownet.cli import endings


def main() -> None:
    """Run the command line with the words of this process."""
    with endings.one_line():
        from slownet.cli import app as cli

        cli.run_words()
