"""A project's own packages as a layer: a squashfs on top of the image, built once in a lab, kept by its content."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import time
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.lab.build import cache, debian, digests, distribution, wheels
from slownet.lab.build.digests import NUMBER, TABLE, TEXT, TEXTS, Part
from slownet.lab.build.image import COMPRESSOR, PROGRAMS, Image, requirements, squash
from slownet.lab.build.project import Project
from slownet.lab.build.shelf import Shelf
from slownet.lab.run import excerpt
from slownet.lab.run.lab import Lab, Share
from slownet.lab.run.outbox import LARGEST, Outbox
from slownet.model.errors import LabError

INSTALL = Path(__file__).with_name("install-layer")
MEGABYTES = 1024
"""Disk that a layer needs while it is built, apart from the packages themselves."""
LEAST_MEMORY, UNPACKED = 2048, 10
"""Memory of the lab that installs: that many MB, and that many times the packages' size."""
KIT, OUT = "/run/kit", "/run/out"
WHAT = "building the project's layer"
HASHES = {
    r"^ERROR: THESE PACKAGES DO NOT MATCH THE HASHES.*\n\s+(\S+)": " does not match the hashes that the file names",
    r"^ERROR: Hashes are required.*\n\s+(\S+)": " has no hash; if one package has a hash, all need one",
    r"^ERROR: In --require-hashes mode.*\n\s+(\S+)": " is not pinned with ==; if one package has a hash, all need that",
}
"""Messages of pip about the hashes of a requirements file, and their meaning."""

PROJECTS = "projects"
"""The folder of the cache with a note of each project that uses layers."""


class NotBuiltError(LabError):
    """A project's layer was not built on this machine, or not for this version."""


Boot = Callable[[int, Sequence[Share]], Lab]
"""Makes a lab of the base image from its memory in MB and its shares."""


@dataclass(frozen=True)
class Layer:
    """A built layer: one squashfs file."""

    path: Path
    key: str
    asked: Sequence[str]
    """The packages that the project names."""
    versions: dict[str, str] = field(default_factory=dict)
    """All that was added: {Debian package: version}, {Python package (Python): version}."""
    built: int = 0  # seconds since 1970
    project: str = ""
    """The file of the project that built it."""

    @property
    def description(self) -> str:
        """Its key and what the project asked for."""
        return f"layer {self.key} ({', '.join(self.asked)})"


def key(project: Project, image_key: str) -> str:
    """Return the key of a project's layer on an image: of everything that it is made of."""
    parts = [project.packages, project.requirements, project.constraints, requirements()]
    return cache.key(image_key, COMPRESSOR, INSTALL, json.dumps([list(each) for each in parts]))


def find(project: Project, image: Image) -> Layer | None:
    """Return a project's layer, or None if it was not built on this machine. Raises DamagedError."""
    return SHELF.find(key(project, image.key))


def need(project: Project, image: Image) -> Layer:
    """Return a project's layer. Raises NotBuiltError."""
    found = find(project, image)
    remember(project)
    if not found:
        raise NotBuiltError("this project's packages are not in the lab", where=str(project.file), fix="slownet lab build")
    return found


def build(project: Project, image: Image, boot: Boot) -> Layer:
    """Return a project's layer; build it if necessary. Raises LabError."""
    remember(project)
    return SHELF.make(key(project, image.key), lambda half: _build(half, project, image, boot), cache.writable_root())


def remember(project: Project) -> None:
    """Note that a project of this user's uses layers, for `known`."""
    note = cache.writable_root() / PROJECTS / cache.key(str(project.file))
    with contextlib.suppress(OSError):
        if not note.exists():
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(str(project.file))


def known() -> dict[Path, Path]:
    """Return the files of the projects that have used layers, by the note of each; a file may be gone."""
    notes = (cache.writable_root() / PROJECTS).glob("[!.]*")
    return {note: Path(note.read_text(errors="surrogateescape").replace("\0", "")) for note in sorted(notes) if note.is_file()}


def load(folder: Path) -> Layer:
    """Return the layer of a folder of the cache, as far as its facts show. Raises DamagedError."""
    facts = digests.facts(folder / FACTS, PART, {"asked": TEXTS, "versions": TABLE, "built": NUMBER}, {"project": TEXT})
    return Layer(folder / SQUASHFS, folder.name, facts["asked"], facts["versions"], facts["built"], facts.get("project", ""))


SQUASHFS, FACTS = "layer.squashfs", "layer.json"
PART = Part("the layer of a project's packages", (SQUASHFS, FACTS))
SHELF = Shelf("layer", PART, load)


def _build(folder: Path, project: Project, image: Image, boot: Boot) -> None:
    cache.need_programs(PROGRAMS, WHAT)
    cache.need_space(cache.writable_root(), MEGABYTES, WHAT)
    work, log = folder / "work", folder / "work" / "layer.log"
    kit, out = work / "kit", work / "out"
    for each in (kit / "wheels", out):
        each.mkdir(parents=True)
    log.touch()
    shutil.copy(INSTALL, kit)
    debs = _debian_packages(project, image, kit, log) if project.packages else []
    if project.requirements:
        _wheels(project, kit, log)
    size = sum(path.stat().st_size for path in kit.rglob("*")) // 2**20
    _install(project, boot(LEAST_MEMORY + UNPACKED * size, [Share(kit, at=KIT), Share(out, writable=True, at=OUT)]), log)
    written = Outbox(out)  # by the packages' own scripts, which are root in that lab
    _squash(written, folder / SQUASHFS, log)
    versions = {**dict(map(_version, debs)), **dict(map(_python_version, written.text("python").split()))}
    asked = [*project.packages, *map(_name, project.requirements)]
    what = {"project": str(project.file), "asked": asked, "versions": versions}
    facts = {"format": digests.FORMAT, "built": int(time.time()), **what}
    (folder / FACTS).write_text(json.dumps(facts, indent=1) + "\n")
    shutil.rmtree(work)


def _debian_packages(project: Project, image: Image, kit: Path, log: Path) -> list[Path]:
    status = kit / "status"
    with status.open("wb") as output:
        argv: list[str | Path] = ["rdsquashfs", "--cat", "/var/lib/dpkg/status", image.path]
        if subprocess.run(argv, stdout=output, check=False).returncode:
            raise LabError("the image's package list cannot be read", where=str(image.path))
    try:
        return debian.download_missing(project.packages, status, kit, log)
    except LabError as error:
        pattern = r"^E: ((?:Unable to locate|Package|Version|Unable to correct) .*)"
        raise _told_by(log, pattern, project, "packages") or error from None


def _wheels(project: Project, kit: Path, log: Path) -> None:
    (kit / "requirements.txt").write_text("\n".join(project.requirements) + "\n")
    # What slownet itself needs in the lab must stay possible.
    (kit / "constraints.txt").write_text("\n".join([*project.constraints, *requirements()]) + "\n")
    try:
        wheels.fetch(kit / "requirements.txt", kit / "wheels", log, ["--constraint", kit / "constraints.txt"])
    except LabError as error:
        pattern = r"^ERROR: ((?:No matching distribution|Cannot install|Invalid requirement).*)"
        told = _told_by(log, pattern, project, "dependencies", f" (wheels for Python {distribution.IMAGE.python})")
        for pattern, more in HASHES.items():
            told = told or _told_by(log, pattern, project, "requirements", more)
        raise told or error from None


def _told_by(log: Path, pattern: str, project: Project, key: str, more: str = "") -> LabError | None:
    """Return an error of the program's own words if they are about what the project asks for, not about the network."""
    text = log.read_text(errors="replace")
    found = re.search(pattern, text, re.MULTILINE)
    if not found or any(sign in text for sign, _ in (*wheels.HINTS, *debian.HINTS)):
        return None
    return LabError(found[1].rstrip(".") + more, where=str(project.file), fix=f"correct `{key}`; nothing unfinished was kept")


def _install(project: Project, lab: Lab, log: Path) -> None:
    with excerpt.appended(log) as output:
        status = lab.run(["sh", f"{KIT}/{INSTALL.name}", KIT, OUT], stdout=output.add, stderr=output.add)
    if status:
        pattern = r"^ERROR: (No matching distribution found for .*)"  # pip on another Python reads conditions for that one
        more = f", which Python {distribution.IMAGE.python} needs besides: name it too"
        raise _told_by(log, pattern, project, "dependencies", more) or cache.failure(WHAT, status, log, debian.HINTS)


def _squash(written: Outbox, squashfs: Path, log: Path) -> None:
    with contextlib.ExitStack() as files:
        output, content = files.enter_context(log.open("ab")), files.enter_context(written.open("layer.tar", LARGEST))
        status = files.enter_context(cache.start(squash(squashfs), stdin=content, stdout=output, stderr=output)).wait()
    if status:
        raise cache.failure(WHAT, status, log, debian.HINTS)


def _version(deb: Path) -> tuple[str, str]:
    name, version, _ = urllib.parse.unquote(deb.name).split("_", 2)
    return name, version


def _python_version(text: str) -> tuple[str, str]:
    name, _, version = text.rpartition("-")
    return f"{name} (Python)", version


def _name(requirement: str) -> str:
    return re.split(r"\s*(?:;|--|@|\s#)", requirement)[0].replace(" ", "")
