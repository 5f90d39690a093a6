"""Reads squashfs files entry by entry: those of two machines have the same entries, but not the same bytes.

Versions 1.2 and 1.3 of tar2sqfs pack the same files differently.
"""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path

XATTR = "SCHILY.xattr."
VENV = "opt/slownet/venv"


@dataclass(frozen=True)
class Entry:
    """One file, folder, link or device."""

    kind: bytes
    mode: int
    owner: tuple[int, int]
    mtime: float
    size: int
    content: str
    """The SHA-256 of a file, the target of a symbolic link."""
    device: tuple[int, int]
    xattrs: tuple[tuple[str, str], ...]
    """Extended attributes, such as capabilities."""


def read(image: Path) -> dict[str, Entry]:
    """Return the entries of a squashfs, by path. A hard link is as the file that it is another name of."""
    found: dict[str, Entry] = {}
    argv = ["sqfs2tar", "--root-becomes", ".", image]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process, tarfile.open(fileobj=process.stdout, mode="r|") as tar:
        for each in tar:
            path = _path(each.name)
            found[path] = found[_path(each.linkname)] if each.islnk() else _entry(tar, each)
    assert process.returncode == 0, argv
    return found


def _path(name: str) -> str:
    return name.removeprefix("./").rstrip("/")


def _entry(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Entry:
    content = info.linkname
    if info.isreg():
        file = tar.extractfile(info)
        assert file
        digest = hashlib.sha256()
        while data := file.read(1 << 20):
            digest.update(data)
        content = digest.hexdigest()
    xattrs = tuple(sorted((name, value) for name, value in info.pax_headers.items() if name.startswith(XATTR)))
    owner, device = (info.uid, info.gid), (info.devmajor, info.devminor) if info.isdev() else (0, 0)
    return Entry(info.type, info.mode, owner, info.mtime, info.size, content, device, xattrs)


def differences(one: Mapping[str, Entry], other: Mapping[str, Entry]) -> list[str]:
    """Return a line for each path with what the two have of it."""
    paths = sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))
    return [f"{path}: {_said(one.get(path))} | {_said(other.get(path))}" for path in paths]


def _said(entry: Entry | None) -> str:
    return str(astuple(replace(entry, content=entry.content[:16]))) if entry else "nothing"


def python_packages(entries: Mapping[str, Entry]) -> set[str]:
    """Return the Python packages in the image's venv, with their versions: they were PyPI's newest when it was built."""
    names = (path.rpartition("/")[2] for path in entries if path.startswith(VENV))
    return {name for name in names if name.endswith(".dist-info")}


def without_venv(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries outside the image's venv."""
    return {path: each for path, each in entries.items() if not f"{path}/".startswith(f"{VENV}/")}
