"""Shares the caller's own load generators with a lab: each one's folder, read-only, and a variable with its path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from slownet.lab.run import load_generators
from slownet.lab.run.lab import Share

AT = "/opt/slownet/brought"


def shares() -> list[Share]:
    """Return shares of the folders of installed load generators."""
    return [Share(path.parent, at=f"{AT}/{program}") for program, path in _found()]


def environment() -> dict[str, str]:
    """Return their paths in the lab: ``{"SLOWNET_OHA": "/opt/slownet/brought/oha/oha"}``."""
    return {load_generators.variable(program): f"{AT}/{program}/{path.name}" for program, path in _found()}


def _found() -> Iterator[tuple[str, Path]]:
    for program in load_generators.there():
        path = Path(load_generators.path(program) or "").resolve()
        if path.is_file():
            yield program, path
