"""From where the Pythons of a lab import what their caller has: after their own packages, which are the tested versions."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from slownet.lab.host import native
from slownet.model.importing import PACKAGE_FOLDERS

FILE = "slownet-caller.pth"
LOCAL = Path("/run/slownet-local-packages")
"""Links of a lab to the packages that its caller has installed from this machine's files, not from an index."""
OWN = __package__.partition(".")[0]


def extend(folders: Sequence[str]) -> None:
    """Append folders to the import path of this process and, in a lab, those of code to that of programs that it starts.

    PYTHONPATH would put them before the interpreter's own packages, and before its standard library. Packages from an index are
    left to this process: some are compiled for the caller's Python, and a program's error shows best which the lab lacks.
    """
    sys.path.extend(each for each in folders if each not in sys.path)
    if not native.inside_lab():
        return
    code = [each for each in folders if Path(each).name not in PACKAGE_FOLDERS]
    if _link(each for each in folders if each not in code):
        code.append(str(LOCAL))
    lines = [each for each in code if each.isprintable() and each == each.strip()]  # as Python reads such a file
    if lines:
        with suppress(OSError):
            file().write_text("\n".join(lines), encoding="utf-8")


def file() -> Path:
    """Return what a lab's Pythons read it from."""
    return Path(sysconfig.get_path("purelib"), FILE)


def _link(folders: Iterator[str]) -> bool:
    """Make the links to the packages of `_local`; return whether there are any."""
    for path in (each for folder in folders for each in _local(Path(folder))):
        with suppress(OSError):  # one of this name in a folder before
            LOCAL.mkdir(exist_ok=True)
            (LOCAL / path.name).symlink_to(path)
    return LOCAL.is_dir()


def _local(folder: Path) -> Iterator[Path]:
    """Yield the modules and the metadata of the packages in a folder that came from files of this machine.

    So does a project that tox, nox or `pip install .` has installed, which is its caller's code as an editable one is. The
    metadata is read as text: importlib.metadata takes longer.
    """
    for metadata in sorted(folder.glob("*.dist-info")):
        if metadata.name.startswith(f"{OWN}-") or not _is_of_a_file(_text(metadata / "direct_url.json")):
            continue
        files = [line.partition(",")[0].strip('"') for line in _text(metadata / "RECORD").splitlines()]
        compiled = [os.path.basename(each).partition(".") for each in files if each.endswith(".so")]
        if all(f".{suffix}" in EXTENSION_SUFFIXES for _, _, suffix in compiled):
            tops = dict.fromkeys(each.partition("/")[0] for each in files)
            yield from (folder / each for each in tops if each not in ("", "..", "__pycache__") and (folder / each).exists())


def _is_of_a_file(origin: str) -> bool:
    """Return whether a package's direct_url.json names a file; a damaged one, which pip could not read either, does not."""
    try:
        return '"file:' in origin and str(json.loads(origin)["url"]).startswith("file:")
    except (ValueError, TypeError, LookupError):
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
