"""What a topology brings along: the services of a compose project, and the files that these need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slownet.compose import handover, images
from slownet.compose.topology import Compose
from slownet.lab.boot import Share

FOLDER = "compose"
"""In the run directory; only its owner may enter it."""


def is_project(topology: Any) -> bool:
    """Return whether a topology is a compose project, whose programs slownet does not know."""
    return isinstance(topology, Compose)


def hand_over(topology: Any, directory: Path) -> dict[str, Any]:
    """Write a project into a run directory, and return the facts that the run records of it. Raises ComposeError."""
    if not is_project(topology):
        return {}
    found = images.need(topology.project)
    handover.write(directory / FOLDER, {topology.key: topology.project})
    return {"compose": {**topology.facts(), "images": {name: each.digest for name, each in found.items()}}}


def check(topology: Any) -> None:
    """Raise ComposeError if an image of a project is not kept."""
    if is_project(topology):
        images.need(topology.project)


def take(directory: Path) -> None:
    """Take the project of an earlier run, whatever its files say by now."""
    if (directory / FOLDER).is_dir():
        handover.use(directory / FOLDER)


def shares(directory: Path) -> list[Share]:
    """Return shares of the folders that the project of a run mounts."""
    folder = directory / FOLDER
    return handover.shares(handover.projects(folder)) if folder.is_dir() else []


def variables(directory: Path) -> Mapping[str, str]:
    """Return the environment variables by which the place finds the project of a run."""
    folder = directory / FOLDER
    return {handover.VARIABLE: str(folder)} if folder.is_dir() else {}
