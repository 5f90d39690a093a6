"""A built lab in a folder or at an address, which is taken instead of building one, and trusted by its sum.

The sums of published labs are part of the source (`SUMS`); `make release` adds that of the lab which it makes. Whoever sets the
variable may state another one: ``https://files.example/lab.tar#sha256=...``. A project's file may not: its lab would be the lab
of all projects of this account.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.build import parts
from slownet.lab.build.project import Project
from slownet.lab.run import place
from slownet.model import whole_file
from slownet.model.errors import LabError, SlownetError
from slownet.model.userfile import expanded
from slownet.transfer import lab_download
from slownet.transfer.lab_download import Source

VARIABLE = "SLOWNET_LAB_FROM"
SUMS = Path(__file__).parents[1] / "data" / "lab-sums.txt"
LINE = re.compile(r"(?P<sha256>[0-9a-f]{64})  slownet-lab-(?P<key>[\w-]+)\.tar")
HEAD = """\
# Labs that are trusted: the SHA-256 of the file, and its name with the lab's key (slownet lab key). make release writes this,
# sha256sum -c reads it. A lab of another key is of another version of the lab, and is not taken.
"""
INSTEAD = f"correct it, or build a lab here: {VARIABLE}= slownet lab build"

Report = Callable[[str], None]


@dataclass(frozen=True)
class Published:
    """One line of the sums."""

    key: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.sha256}  {name(self.key)}"


@dataclass(frozen=True)
class Offer:
    """A place where a lab may be found."""

    place: str
    """A folder or a file, or the URL of one; a URL that ends with a slash is that of a folder."""
    sha256: str
    """Of the file; empty if the sums have it."""
    where: str
    """The variable, or a project's file: for messages."""

    @property
    def is_url(self) -> bool:
        """True if it comes over HTTP."""
        return bool(lab_download.URL.match(self.place))

    def file(self, its: str) -> str:
        """Return where the lab's file is, if it is called ``its`` in a folder."""
        if self.is_url:
            return self.place + its if self.place.endswith("/") else self.place
        return str(Path(self.place) / its) if Path(self.place).is_dir() else self.place


def name(key: str) -> str:
    """Return what a release calls the file of the lab that has this key."""
    return f"slownet-lab-{key}.tar"


def sums(path: Path = SUMS) -> list[Published]:
    """Return the published labs that the source names. Raises LabError if the file cannot be understood."""
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines() if path.is_file() else [], 1):
        if line.strip() and not line.startswith("#"):
            parsed = LINE.fullmatch(line)
            if not parsed:
                raise LabError(
                    "not the SHA-256 and the name of a lab", f"{path}, line {number}", "make release writes this file"
                )
            found.append(Published(**parsed.groupdict()))
    return found


def publish(key: str, sha256: str, path: Path = SUMS) -> None:
    """Add a lab to the sums, in place of an earlier one of the same key. Raises LabError, OSError."""
    others = [each for each in sums(path) if each.key != key]
    kept = sorted([*others, Published(key, sha256)], key=lambda each: each.key)
    whole_file.place(path, (HEAD + "".join(f"{each}\n" for each in kept)).encode())


def stated(project: Project | None) -> Offer | None:
    """Return the offer of the variable, or else of the project's file; None if the variable is empty. Raises LabError."""
    if (text := os.environ.get(VARIABLE)) is not None:
        return _offer(text, VARIABLE, Path.cwd()) if text else None
    if not (project and project.lab):
        return None
    found = _offer(project.lab, f"{project.file}, lab", project.file.parent)
    if found.sha256:
        raise LabError(
            "a project's file does not decide which lab this account trusts",
            found.where,
            f"leave #sha256= out; to trust that lab yourself: {VARIABLE}={project.lab}",
        )
    return found


def _offer(text: str, where: str, base: Path) -> Offer:
    found = lab_download.BY_HASH.fullmatch(text)
    at, sha256 = (found["place"], found["sha256"]) if found else (text, "")
    return Offer(at if lab_download.URL.match(at) else str(base / expanded(at, where, LabError)), sha256, where)


def take(project: Project | None, report: Report) -> bool:
    """Put the lab that is offered into the cache unless one is built; return whether that was done.

    report: gets a line on what is taken and from where, or why nothing is. Raises LabError if what is offered is damaged, does
    not have its sum, or cannot be read.
    """
    offer = stated(project)
    if not offer or _is_built():
        return False
    key = parts.key(None)
    sha256 = offer.sha256 or next((each.sha256 for each in sums() if each.key == key), "")
    if not sha256:
        stating = f", and {offer.place} is named without #sha256=" if offer.where == VARIABLE else ""
        report(f"{SUMS.name} has no sum for this version's lab{stating}, {offer.where}: building one")
        return False
    source = Source(offer.file(name(key)), sha256)
    if not offer.is_url and Path(offer.place).is_dir() and not Path(source.place).is_file():
        report(f"{offer.place} has no {name(key)}, {offer.where}: building one")
        return False
    report(f"taking the lab of {source.place}, {offer.where}")
    try:
        new = lab_download.take(source)
    except LabError as error:
        named = offer.where if source.place in error.what else f"{source.place}, {offer.where}"
        raise LabError(error.what, named, INSTEAD) from error
    origin = "given there" if offer.sha256 else f"of {SUMS.name}"
    report(f"{', '.join(each.partition('/')[0] for each in new)} taken, SHA-256 {source.sha256[:16]}... {origin}")
    return True


def _is_built() -> bool:
    with contextlib.suppress(LabError):
        return parts.find() is not None
    return False


def main() -> int:
    """Take the lab that is offered; return 0 if one is built now, and 1 if it has to be."""

    def report(line: str) -> None:
        sys.stderr.write(f"lab: {line}\n")

    take(place.here(), report)
    return 0 if _is_built() else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SlownetError as problem:
        sys.stderr.write(f"slownet: {problem}\n")
        sys.exit(2)
