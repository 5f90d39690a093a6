"""Compiles the project's code for the lab's Python into the `__pycache__` folders next to the sources.

A lab sees the sources read-only, so otherwise every lab would compile what it imports.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slownet.lab.build.cache import LOG_LINES
from slownet.lab.build.distribution import IMAGE
from slownet.lab.build.parts import Parts
from slownet.lab.run.clock import Clock
from slownet.lab.run.excerpt import Excerpt
from slownet.lab.run.lab import Share
from slownet.lab.run.place import Place, checkout
from slownet.model.errors import LabError
from slownet.model.importing import PACKAGE

TAG = f"cpython-{IMAGE.python.replace('.', '')}"


def folders() -> list[Path]:
    """Return the folders of the project's code: the package and, in a checkout, topologies and experiments."""
    home = checkout()
    return [PACKAGE, home / "topologies", home / "experiments"] if home else [PACKAGE]


def stale() -> list[Path]:
    """Return the writable folders with sources that changed since they were compiled."""
    return [folder for folder in folders() if os.access(folder, os.W_OK) and any(map(_is_stale, folder.rglob("*.py")))]


def _is_stale(source: Path) -> bool:
    compiled = source.parent / "__pycache__" / f"{source.stem}.{TAG}.pyc"
    try:
        return compiled.stat().st_mtime < source.stat().st_mtime
    except FileNotFoundError:
        return True


def make(parts: Parts, found: list[Path]) -> None:
    """Compile these folders in a lab of these parts, if another process has not done so meanwhile. Raises LabError."""
    with _alone():
        if left := [folder for folder in stale() if folder in found]:
            _compile(parts, left)


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process compiles this code.

    Python writes to a file beside, which it names by an address in its memory, and two labs have the same addresses: one would
    rename the other's file.
    """
    folder = os.open(PACKAGE, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _compile(parts: Parts, found: list[Path]) -> None:
    output = Excerpt()
    place = Place(Clock("real"), {}, parts)
    shares = [Share(folder, writable=True) for folder in found]
    argv = [place.python, "-m", "compileall", "-q", *map(str, found)]
    if place.run(argv, shares=shares, stdout=output.add, stderr=output.add):
        raise LabError(f"the project's code cannot be compiled: {' | '.join(output.last_lines(LOG_LINES))}")
