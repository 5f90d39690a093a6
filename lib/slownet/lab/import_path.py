"""From where the Pythons of a lab import what their caller has: after their own packages, which are the tested versions."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from slownet.lab import native
from slownet.model.importing import PACKAGE_FOLDERS

FILE = "slownet-caller.pth"


def extend(folders: Sequence[str]) -> None:
    """Append folders to the import path of this process and, in a lab, those of code to that of programs that it starts.

    PYTHONPATH would put them before the interpreter's own packages, and before its standard library. Installed packages are
    left to this process: some are compiled for the caller's Python, and a program's error says best which the lab lacks.
    """
    sys.path.extend(each for each in folders if each not in sys.path)
    code = [each for each in folders if Path(each).name not in PACKAGE_FOLDERS]
    lines = [each for each in code if each.isprintable() and each == each.strip()]  # as Python reads such a file
    if lines and native.inside_lab():
        with suppress(OSError):
            file().write_text("\n".join(lines), encoding="utf-8")


def file() -> Path:
    """Return what a lab's Pythons read it from."""
    return Path(sysconfig.get_path("purelib"), FILE)
