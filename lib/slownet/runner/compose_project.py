"""Additions of a topology: the services of a compose project, and the files that these need."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slownet.hypotheses.uses import is_project
from slownet.lab.run.caller import disguised
from slownet.lab.run.lab import Share
from slownet.model.errors import ComposeError
from slownet.model.facts import Facts
from slownet.model.options import CLOCK, TDF

FOLDER = "compose"
"""In the run directory; only its owner may enter it."""
REMOVE = "it may hold secrets: remove it yourself"


def not_on_the_exact_clock() -> ComposeError:
    """Return the error for a project that is to run where its images are not."""
    what = "a compose project's containers do not run on the exact clock"
    return ComposeError(what, CLOCK.set("exact"), f"leave it out, or use {TDF.set('inf')}")


def hand_over(topology: Any, directory: Path) -> dict[str, object]:
    """Write a project into a run directory, and return what the run records of it, if anything. Raises ComposeError."""
    if not is_project(topology):
        return {}
    from slownet.compose import handover, project_images

    found = project_images.need(topology.project)
    handover.write(directory / FOLDER, {topology.key: topology.project})
    digests = {name: each.digest for name, each in found.items()}
    return {**topology.facts(), "images": digests, "hash": disguised(fingerprint(topology))}


def check(topology: Any) -> None:
    """Raise ComposeError if an image of a project is not kept."""
    if is_project(topology):
        from slownet.compose import project_images

        project_images.need(topology.project)


def fingerprint(topology: Any) -> str:
    """Return a hash of a compose project with its images and the files that it mounts; empty for another topology.

    Of a mounted folder, the names, sizes and dates of its files count. Raises ComposeError.
    """
    if not is_project(topology):
        return ""
    from slownet.compose import handover, project_images

    found = project_images.need(topology.project)
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
    """Take the project of an earlier run, even if its files have changed since."""
    if (directory / FOLDER).is_dir():
        from slownet.compose import handover

        handover.use(directory / FOLDER)


def take_again(topology: Any, directory: Path, facts: Facts) -> None:
    """Write the project of a finished run, whose files ended with it, into its directory again.

    Raises ComposeError if it is no longer the same.
    """
    if not is_project(topology) or (directory / FOLDER).is_dir():
        return
    from slownet.compose import handover

    project = topology.project
    if (facts.get("compose") or {}).get("hash") != disguised(fingerprint(topology)):
        what = "the project, its images or the files that it mounts are not what the run was given"
        raise ComposeError(what, ", ".join(project.files), "start a new run")
    handover.write(directory / FOLDER, {topology.key: project})


def end(directory: Path) -> None:
    """Remove what a run was given, once it is finished: secrets, mounted files."""
    folder = directory / FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise ComposeError(f"cannot remove {error.filename}: {error.strerror}", fix=REMOVE) from error


def shares(directory: Path) -> list[Share]:
    """Return shares of the folders that the project of a run mounts."""
    if not (folder := directory / FOLDER).is_dir():
        return []
    from slownet.compose import handover

    return handover.shares(handover.projects(folder))


def variables(directory: Path) -> Mapping[str, str]:
    """Return the environment variables with the location of a run's project."""
    if not (folder := directory / FOLDER).is_dir():
        return {}
    from slownet.compose import handover

    return {handover.VARIABLE: str(folder)}
