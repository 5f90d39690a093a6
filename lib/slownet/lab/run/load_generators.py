"""Load generators that are not in the lab's image: the caller's own, on PATH or named by variables such as SLOWNET_WRK2.

A lab uses those of the user who starts it, see `slownet.lab.run.host_programs`.
"""

from __future__ import annotations

import os
import shutil

PROGRAMS = ("wrk2", "oha")
FOLDERS = "/usr/local/bin:/usr/bin:/bin"
"""The folders searched even if the caller's PATH has lost these folders."""


def variable(program: str) -> str:
    """Return the name of the environment variable that holds a program's path, such as ``SLOWNET_WRK2``."""
    return f"SLOWNET_{program.upper()}"


def path(program: str) -> str | None:
    """Return the path of one of these programs; None if it is not installed."""
    return os.environ.get(variable(program)) or shutil.which(program) or shutil.which(program, path=FOLDERS)


def there() -> list[str]:
    """Return the names of the installed programs."""
    return [each for each in PROGRAMS if path(each)]
