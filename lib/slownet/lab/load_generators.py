"""Load programs that no package of the lab has, used where the caller has them: on the path, or where SLOWNET_WRK2 says.

A lab sees those of whoever starts it, see `slownet.lab.host_programs`.
"""

from __future__ import annotations

import os
import shutil

PROGRAMS = ("wrk2", "oha")
FOLDERS = "/usr/local/bin:/usr/bin:/bin"
"""Where they are looked for even if the caller's PATH has lost these folders."""


def variable(program: str) -> str:
    """The environment variable that says where a program is: ``SLOWNET_WRK2``."""
    return f"SLOWNET_{program.upper()}"


def path(program: str) -> str | None:
    """Where one of these programs is; None if it is not there."""
    return os.environ.get(variable(program)) or shutil.which(program) or shutil.which(program, path=FOLDERS)


def there() -> list[str]:
    """The programs that are there."""
    return [each for each in PROGRAMS if path(each)]
