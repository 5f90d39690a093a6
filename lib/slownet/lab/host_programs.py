"""The caller's own load programs in a lab: the folder of each, read-only, and the variable that says where it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from slownet.lab import load_generators
from slownet.lab.boot import Share

AT = "/opt/slownet/brought"


def shares() -> list[Share]:
    """The folders of the programs that are there."""
    return [Share(path.parent, at=f"{AT}/{program}") for program, path in _found()]


def environment() -> dict[str, str]:
    """``{"SLOWNET_OHA": "/opt/slownet/brought/oha/oha"}``"""
    return {load_generators.variable(program): f"{AT}/{program}/{path.name}" for program, path in _found()}


def _found() -> Iterator[tuple[str, Path]]:
    for program in load_generators.there():
        path = Path(load_generators.path(program) or "").resolve()
        if path.is_file():
            yield program, path
