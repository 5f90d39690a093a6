"""The page's libraries: packages of npm, fetched once with npm's own configuration, compared with their sums, and cached."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.build import cache
from slownet.model.errors import LabError

PAGE = Path(__file__).parent / "page"
LIST = PAGE / "libraries.toml"
FOLDER = "page"
FETCH_S = 300
INSTALL = "install npm (Debian: apt-get install npm); it is needed once, to fetch the page's libraries"


@dataclass(frozen=True)
class Library:
    """A package of npm. integrity: its archive's, as npm writes it. files: those that are used, by their names on the page."""

    name: str
    version: str
    integrity: str
    files: Mapping[str, str]


def listed(path: Path = LIST) -> list[Library]:
    """Return the libraries of the page."""
    return [Library(**each) for each in tomllib.loads(path.read_text("utf-8"))["library"]]


def need() -> Path:
    """Return the folder with the libraries' files; fetch those that are not there. Raises LabError."""
    found = listed()
    folder = cache.writable_root() / FOLDER / cache.key(LIST)
    if folder.is_dir():
        return folder
    if not (npm := shutil.which("npm")):
        raise LabError("npm is not installed", "slownet live", INSTALL)
    with cache.scratch(FOLDER, cache.writable_root()) as half:
        made = half / "made"
        made.mkdir()
        for library in found:
            _take(_archive(npm, library, half), library, made)
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
    return folder


def _archive(npm: str, library: Library, folder: Path) -> Path:
    """Return a package's archive, whose sum is right. Raises LabError."""
    what = f"{library.name}@{library.version}"
    words = [npm, "pack", what, "--silent", "--ignore-scripts", "--pack-destination", str(folder)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=FETCH_S, check=False)
    except subprocess.TimeoutExpired:
        raise LabError(
            f"npm has not fetched {what} within {FETCH_S} s", fix="check the network, and npm's configuration"
        ) from None
    names = done.stdout.split()
    if done.returncode or not names:
        said = _last(done.stderr.splitlines())
        raise LabError(f"npm cannot fetch {what}{said}", fix="check the network, and npm's configuration (npm config list)")
    path = folder / names[-1]
    check(path.read_bytes(), library)
    return path


def check(archive: bytes, library: Library) -> None:
    """Raise LabError unless an archive is the one that was reviewed."""
    kind, _, wanted = library.integrity.partition("-")
    found = base64.b64encode(hashlib.new(kind, archive).digest()).decode()
    if found != wanted:
        what = (
            f"{library.name}@{library.version} is not what this version of slownet was made with: its {kind} is {found[:16]}..."
        )
        raise LabError(what, fix="check npm's configuration: another registry may answer")


def _take(archive: Path, library: Library, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        for name, inside in library.files.items():
            file = tar.extractfile(f"package/{inside}")
            assert file
            (folder / name).write_bytes(file.read())


def _last(lines: Sequence[str]) -> str:
    said = [each for each in lines if each.strip()]
    return f": {said[-1].strip()}" if said else ""
