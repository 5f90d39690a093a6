"""The project's own code compiled for the lab's Python, where Python looks for it: `__pycache__` beside the sources.

A lab sees them read-only, so without this each one would compile what it imports.
"""

from __future__ import annotations

import os
from pathlib import Path

from slownet.errors import LabError
from slownet.lab.boot import Share
from slownet.lab.cache import LOG_LINES
from slownet.lab.clock import Clock
from slownet.lab.image import PYTHON
from slownet.lab.parts import Parts
from slownet.lab.place import PACKAGE, Place, checkout

TAG = f"cpython-{PYTHON.replace('.', '')}"


def folders() -> list[Path]:
    """Where the project's code is: the package and, in a checkout, its two other rooms."""
    home = checkout()
    return [PACKAGE, home / "topologies", home / "experiments"] if home else [PACKAGE]


def stale() -> list[Path]:
    """The folders with sources that were not compiled since they changed, of those that can be written to."""
    return [folder for folder in folders() if os.access(folder, os.W_OK) and any(map(_is_stale, folder.rglob("*.py")))]


def _is_stale(source: Path) -> bool:
    compiled = source.parent / "__pycache__" / f"{source.stem}.{TAG}.pyc"
    try:
        return compiled.stat().st_mtime < source.stat().st_mtime
    except FileNotFoundError:
        return True


def make(parts: Parts, found: list[Path]) -> None:
    """Compiles these folders in a lab of these parts. Raises LabError."""
    said = bytearray()
    place = Place(Clock("real"), {}, parts)
    shares = [Share(folder, writable=True) for folder in found]
    argv = [place.python, "-m", "compileall", "-q", *map(str, found)]
    if place.run(argv, shares=shares, stdout=said.extend, stderr=said.extend):
        lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
        raise LabError(f"the project's code cannot be compiled: {' | '.join(lines[-LOG_LINES:])}")
