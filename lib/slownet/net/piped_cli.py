"""Mininet's command line with commands from a pipe, a file or /dev/null.

Mininet's own one reads what comes there while a node's command runs, for that command. From a pipe at its end, or a file, which
are always ready, it asks again and again without a pause. On a clock where computing takes no time such a loop hardly advances
the clock, so that the command would never end; and of a file it gives the command the lines that come next.
"""

from __future__ import annotations

from typing import Any

from mininet.cli import CLI
from mininet.log import output


class PipedCLI(CLI):  # type: ignore[misc]  # Mininet has no types
    """Mininet's CLI: without a terminal, standard input holds the next commands, not input for the node."""

    def waitForNode(self, node: Any) -> None:  # noqa: N802  # Mininet's name
        """Wait until a node's command has ended, and print its output."""
        if self.isatty():
            super().waitForNode(node)
            return
        while node.waiting:
            output(node.monitor())


PipedCLI.__name__ = PipedCLI.__qualname__ = "CLI"  # in messages
