"""The missing parts of a program that cannot be started here, or that ends at once, and their source."""

from __future__ import annotations

import os
import re
from pathlib import Path

from slownet.lab.host import native
from slownet.model.options import SHARE

BUILD = "under [tool.slownet] in pyproject.toml, then run: slownet lab build"
INSTALL = (
    f'install it; in a lab, write packages = ["..."] with its Debian package {BUILD}; or name its whole path in a folder that '
    f"{SHARE} gives"
)
NO_FILE = f"name an existing file; in a lab, in a folder that it sees: the project's, or one that {SHARE} gives"
SHARE_THAT = "share the folder of that too"
MODULE = re.compile(
    r"(?:^|\()ModuleNotFoundError: No module named '(?P<imported>[\w.]+)'|^\S*python[\d.]*: No module named (?P<run>[\w.]+)$",
    re.MULTILINE,
)
"""Python's line for a module that is imported, and for one that -m names."""


def program(name: str) -> tuple[str, str]:
    """Return what is missing, and the fix, if a program cannot be started because a file is not there."""
    path = Path(name)
    if path.is_symlink() and not path.exists():  # a virtual environment's Python, for example
        return f"{name} is a link to {os.path.realpath(name)}, which is not there", SHARE_THAT
    if path.is_file():
        with path.open("rb") as file:
            words = file.readline(256).decode(errors="replace").removeprefix("#!").split()
        return f"{name} needs {os.path.realpath(words[0]) if words else 'another program'}, which is not there", SHARE_THAT
    if "/" in name and not path.exists():
        return f"there is no program {name if path.is_absolute() else path.absolute()}", NO_FILE
    return f"{name} is not installed", INSTALL


def module(log: str) -> tuple[str, str] | None:
    """Return which Python module a program lacks in this lab, from the end of its log, and the fix; None if none."""
    found = list(MODULE.finditer(log)) if native.inside_lab() else []
    if not found:
        return None
    name = found[-1]["imported"] or found[-1]["run"]
    return f"the lab has no module '{name}'", f'if it is a package, write dependencies = ["{name}"] {BUILD}'
