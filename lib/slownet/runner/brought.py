"""What a topology brings along: the services of a compose project, and the files that these need."""

from __future__ import annotations

import hashlib
import json
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


def fingerprint(topology: Any) -> str:
    """Return a hash of a compose project with its images and the files that it mounts; empty for another topology.

    Of a mounted folder, the names, sizes and dates of its files count. Raises ComposeError.
    """
    if not is_project(topology):
        return ""
    found = images.need(topology.project)
    digest = hashlib.sha256(json.dumps(topology.project.to_json(), sort_keys=True, default=str).encode())
    digest.update(json.dumps({name: each.digest for name, each in found.items()}, sort_keys=True).encode())
    for path in handover.mounted(topology.project):
        digest.update(f"{path}\0".encode(errors="surrogateescape"))
        if path.is_file():
            digest.update(path.read_bytes())
        for each in sorted(path.rglob("*")) if path.is_dir() else ():
            about = each.lstat()
            digest.update(f"{each}\0{about.st_size} {about.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()


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
