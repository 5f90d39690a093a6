"""Completes what `make wheel` put into a folder to all that is published: lab file, notes and checksums. See `make release`.

The same sources on a machine with the same lab give the same bytes.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from pathlib import Path

from slownet.lab.build import parts
from slownet.model.errors import LabError, SlownetError
from slownet.model.version import __version__
from slownet.model.whole_file import place
from slownet.transfer import export, offered

CHECKOUT = Path(__file__).parents[3]
SUMS = "SHA256SUMS"
NOTES = "NOTES.md"
INSTALL = """\
## Install

    python -m pip install ./{wheel}
    SLOWNET_LAB_FROM={lab} slownet lab build

The wheel is for Linux on x86-64, and has the sum of the lab file. Without the lab file, `slownet lab build` makes the same lab
from Debian's packages. `sha256sum -c {sums}` checks the files.
"""


def complete(folder: Path, changes: Path = CHECKOUT / "CHANGELOG.md") -> list[Path]:
    """Write the lab's file, the notes and the checksums beside a wheel and a source archive; return all files of the release.

    Raises LabError if the lab is not built, or the folder holds something else than the two of this version.
    """
    wheel, archive = _one(folder, f"slownet-{__version__}-*.whl"), _one(folder, f"slownet-{__version__}.tar.gz")
    lab = folder / offered.name(parts.key(None))
    made = (lab, folder / NOTES, folder / SUMS)
    if others := sorted({each.name for each in folder.iterdir()} - {each.name for each in (wheel, archive, *made)}):
        raise LabError(f"{folder / others[0]} is not part of a release of {__version__}", fix="remove it, or run make release")
    text = notes(changes.read_text("utf-8"))
    export.write(lab, None, images=False, only_base=True)
    place(folder / NOTES, f"{text}\n{INSTALL.format(wheel=wheel.name, lab=lab.name, sums=SUMS)}".encode())
    summed = (wheel, archive, lab, folder / NOTES)
    place(folder / SUMS, "".join(f"{_sum(each)}  {each.name}\n" for each in summed).encode())
    return [*summed, folder / SUMS]


def notes(changes: str) -> str:
    """Return what has changed in this version, or is not released yet, as CHANGELOG.md has it. Raises LabError."""
    sections = dict(re.findall(r"^## \[?([^\s\]]+).*\n((?:(?!## ).*\n?)*)", changes, re.MULTILINE))
    found = str(sections.get(__version__) or sections.get("Unreleased") or "").strip()
    if not found:
        raise LabError(
            f"CHANGELOG.md has no section {__version__} or Unreleased with changes", fix="write what has changed there"
        )
    return f"# slownet {__version__}\n\n{found}\n"


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise LabError(f"{len(found) or 'no'} files {folder / pattern}", fix="make release, which makes it first")
    return found[0]


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish(path: Path = offered.SUMS) -> None:
    """Write the sum of this machine's lab into the source, for the wheel and for clones. Raises LabError, OSError."""
    with tempfile.TemporaryDirectory(prefix="slownet-release-") as name:
        lab = Path(name) / "lab.tar"
        export.write(lab, None, images=False, only_base=True)
        offered.publish(parts.key(None), _sum(lab), path)


if __name__ == "__main__":
    try:
        if len(sys.argv) == 1:
            publish()
        for each in complete(Path(sys.argv[1])) if sys.argv[1:] else [offered.SUMS]:
            print(each)
    except SlownetError as error:
        sys.exit(f"slownet: {error}")
