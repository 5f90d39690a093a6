"""Loggers of tests and of what they test stay Python's own beside Mininet.

Mininet makes its own class that of every logger which is made after its import: such a logger writes to standard error itself
and drops what is below a warning, whatever `caplog`, `log_cli_level` or the program state.
"""

from __future__ import annotations

import logging
from contextlib import suppress


def keep() -> None:
    """Import Mininet's log, if there is one, without its claim on later loggers."""
    before = logging.getLoggerClass()
    with suppress(ImportError):
        import mininet.log  # noqa: F401
    now = logging.getLoggerClass()
    if now.__module__ == "mininet.log":
        logging.setLoggerClass(logging.Logger if before is now else before)
