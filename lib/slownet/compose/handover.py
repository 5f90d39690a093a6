"""Hands projects over to the place where they run: compose files, variables and paths are the host's.

A folder that the place sees holds the projects as JSON, and a copy of each single file that they mount. Mounted folders are
shared themselves.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from slownet.compose.model import Content, Project, Record, of_json
from slownet.lab.host import native
from slownet.lab.run.lab import Share
from slownet.model.errors import ComposeError

AT = "/opt/slownet/compose"
"""The path in a lab of the folders that projects mount."""
VARIABLE = "SLOWNET_COMPOSE"
"""The environment variable that names the folder with the projects."""
PROJECTS, FILES = "projects.json", "files"
ERROR = "error"
TEXTS = "text"

_taken: dict[str, tuple[Path, Record]] = {}
"""The projects that this process was handed, by their keys, with the folder of their files."""


def key(files: Sequence[str | Path], profiles: Sequence[str]) -> str:
    """Return what a project is known by on both sides: its files and profiles as they are named."""
    return json.dumps([[str(each) for each in files], sorted(profiles)])


def write(folder: Path, projects: Mapping[str, Project | ComposeError]) -> None:
    """Write projects, or why they cannot be read, into a new folder that only its owner may enter: it holds secrets."""
    folder.mkdir(mode=0o700)
    (folder / FILES).mkdir()
    records: dict[str, Record] = {}
    for name, each in projects.items():
        if isinstance(each, ComposeError):
            records[name] = {ERROR: [each.what, each.where, each.fix]}
            continue
        records[name] = each.to_json()
        for path in _single_files(each):
            copy = folder / FILES / _digest(path)
            if not copy.exists():  # of a config or secret, whose owner and mode in a container are the container's own
                shutil.copyfile(path, copy)
                copy.chmod(os.stat(path).st_mode & 0o777)
        for content in _texts(each):
            (folder / FILES / _digest(f"{TEXTS}{content.text}")).write_text(content.text or "")
    (folder / PROJECTS).write_text(json.dumps(records, indent=1) + "\n")


def use(folder: Path) -> None:
    """Take the projects of a folder; from now on `find` knows them."""
    for name, record in _records(folder).items():
        _taken[name] = (folder, record)


def projects(folder: Path) -> list[Project]:
    """Return the projects of a folder, without those that could not be read."""
    return [of_json(record) for record in _records(folder).values() if ERROR not in record]


def mounted(project: Project) -> list[Path]:
    """Return the files and folders of this machine that a project mounts, each once."""
    files = set(_single_files(project))
    return sorted(Path(each) for each in files | {str(share.path) for share in shares([project])})


def _records(folder: Path) -> dict[str, Record]:
    found: dict[str, Record] = json.loads((folder / PROJECTS).read_text())
    return found


def use_environment() -> None:
    """Take the projects of the folder that the environment names, if it names one."""
    folder = os.environ.get(VARIABLE)
    if folder and Path(folder, PROJECTS).is_file():
        use(Path(folder))


def find(name: str) -> tuple[Project, Path] | None:
    """Return a project that was handed over, with the folder of its files. Raises ComposeError if it could not be read."""
    if name not in _taken:
        return None
    folder, record = _taken[name]
    error = record.get(ERROR)
    if isinstance(error, list):
        raise ComposeError(*error)
    return of_json(record), folder


def shares(projects: Iterable[Project]) -> list[Share]:
    """Return read-only shares of the folders that projects mount."""
    folders = {
        each.source for project in projects for service in project.services for each in service.volumes if _is_folder(each)
    }
    return [Share(Path(each), at=_at(each)) for each in sorted(folders)]


def place_of(source: str, folder: Path) -> Path:
    """Return where a file or folder of the host is in this place. folder: that of `find`."""
    copy = folder / FILES / _digest(source)
    if copy.is_file():
        return copy
    return Path(_at(source)) if native.inside_lab() else Path(source)


def content(each: Content, folder: Path) -> Path:
    """Return the file with the content of a config or secret."""
    return folder / FILES / _digest(f"{TEXTS}{each.text}" if each.text is not None else each.path)


def _is_folder(volume: object) -> bool:
    return getattr(volume, "kind", "") == "bind" and Path(getattr(volume, "source", "")).is_dir()


def _single_files(project: Project) -> Iterable[str]:
    for service in project.services:
        for volume in service.volumes:
            if volume.kind == "bind" and Path(volume.source).is_file():
                yield volume.source
        for each in service.contents:
            if each.text is None:
                yield each.path


def _texts(project: Project) -> Iterable[Content]:
    return (each for service in project.services for each in service.contents if each.text is not None)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _at(source: str) -> str:
    return f"{AT}/{_digest(source)}"
