"""Packs what an exact lab is shared into a squashfs, which is in the machine's memory before it starts.

A lab whose clock counts instructions must find the same bytes at the same addresses each time. So the content alone is packed:
times and owners are left out, names are sorted, and what programs leave beside the files (compiled Python, a version control's
database, virtual environments, the records of earlier runs) stays outside, and so do packages that the image has.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from slownet.lab.build import image
from slownet.lab.run.lab import Share
from slownet.model.errors import LabError
from slownet.model.options import Option

MOST_BYTES = 1 << 30
"""Of all files that are packed for one lab: they are in memory, and are compressed before it starts."""
AT_EASE = 50_000
"""Files that are packed without being asked whether that is worth it."""
MOST_SHARES = 64
LEFT_OUT = {"__pycache__", ".git", ".hg", ".svn", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "node_modules"}
"""Folders that are not packed, wherever they are."""
MARKS = ("pyvenv.cfg", "run.json")
"""Files that mark a folder which is not packed: a virtual environment, the record of a run."""
PROGRAM, PACKAGE = "tar2sqfs", "squashfs-tools-ng"
DATE = 1767225600  # 2026-01-01
"""The date of all packed files, in seconds since 1970: that of the image's."""


def pack(shares: Sequence[Share], into: BinaryIO) -> None:
    """Write a squashfs of the content of shares, share N in folder N. Raises LabError."""
    if len(shares) > MOST_SHARES:
        raise LabError(f"an exact lab can have {MOST_SHARES} shares, not {len(shares)}", Option("share"), "share fewer folders")
    words = [PROGRAM, "--quiet", "--force", "--compressor", "lz4", "--num-jobs", "1", f"/proc/self/fd/{into.fileno()}"]
    with open(os.memfd_create("said"), "w+b") as said:
        try:
            packer = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=said, stderr=said, pass_fds=[into.fileno()],
                env={**os.environ, "SOURCE_DATE_EPOCH": str(DATE)},
            )  # fmt: skip
        except FileNotFoundError as error:
            raise LabError(f"an exact lab needs {PROGRAM}", fix=f"apt-get install {PACKAGE}") from error
        assert packer.stdin
        try:
            with contextlib.suppress(BrokenPipeError), packer.stdin:  # what it says is why it reads no more
                _write(shares, packer.stdin)
        except BaseException:
            packer.kill()
            raise
        finally:
            packer.wait()
        said.seek(0)
        lines = said.read().decode(errors="replace").split("\n")
    if packer.returncode:
        last = next((each for each in reversed(lines) if each.strip()), f"status {packer.returncode}")
        raise LabError(f"the shares of the lab cannot be packed: {last}", fix="check whether there is room in /tmp")


def fits(folders: Sequence[Path]) -> bool:
    """Return whether the files of folders are small and few enough to be packed for one lab; it takes a second at most."""
    left = MOST_BYTES
    for number, path in enumerate(chain.from_iterable(map(_walk, folders))):
        if path.is_file():
            left -= path.lstat().st_size
        if left < 0 or number >= AT_EASE:
            return False
    return True


@cache
def in_the_image() -> Mapping[Path, frozenset[str]]:
    """Return what lies in folders of installed packages that a lab's image has itself: {folder: names}.

    In a lab the image's packages come first, so that nothing would import these. They are most of what a virtual environment
    has, some 400 MB.
    """
    found: dict[Path, frozenset[str]] = {}
    for each in image.requirements():
        with contextlib.suppress(metadata.PackageNotFoundError):
            installed = metadata.distribution(re.split(r"[^A-Za-z0-9_-]", each)[0])
            names = frozenset(path.parts[0] for path in installed.files or () if path.parts[0] != "..")
            folder = Path(str(installed.locate_file("")))
            found[folder] = found.get(folder, frozenset()) | names
    return found


def _write(shares: Sequence[Share], into: IO[bytes]) -> None:
    left = MOST_BYTES
    with tarfile.open(fileobj=into, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for number, share in enumerate(shares):
            points = [each.mount[2] for each in shares if each is not share]
            for below, path in entries(share, points):
                left -= _add(tar, PurePosixPath(str(number), below), path)
                if left < 0:
                    what = f"the shares of an exact lab have more than {MOST_BYTES >> 20} MB"
                    raise LabError(what, f"in {share.path}", "work in, and share, a folder without large files")


def _add(tar: tarfile.TarFile, name: PurePosixPath, path: Path | None) -> int:
    """Add a file to the archive; return its size. What a lab cannot have is left out: sockets, devices, unreadable files."""
    about = tarfile.TarInfo(str(name))
    about.mtime = DATE
    if path is None:
        about.type, about.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(about)
        return 0
    try:
        found = path.lstat() if name.parts[1:] else path.stat()
        about.mode = stat.S_IMODE(found.st_mode)
        if stat.S_ISDIR(found.st_mode):
            about.type = tarfile.DIRTYPE
            tar.addfile(about)
        elif stat.S_ISLNK(found.st_mode):
            about.type, about.linkname = tarfile.SYMTYPE, os.readlink(path)
            tar.addfile(about)
        elif stat.S_ISREG(found.st_mode):
            return _add_file(tar, about, path)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES):
            raise LabError(f"cannot be packed for the lab ({error.strerror or error})", str(path)) from error
    return 0


def _add_file(tar: tarfile.TarFile, about: tarfile.TarInfo, path: Path) -> int:
    with path.open("rb") as file:
        about.size = os.fstat(file.fileno()).st_size
        if about.size > MOST_BYTES:
            return about.size
        content = file.read(about.size + 1)
    if len(content) != about.size:
        raise LabError(
            "changed while it was packed for the lab", str(path), "wait until no program writes there, or share less"
        )
    tar.addfile(about, io.BytesIO(content))
    return about.size


def entries(share: Share, points: Sequence[str] = ()) -> Iterator[tuple[PurePosixPath, Path | None]]:
    """Yield what is packed of a share: each path in it and its file, None for a folder where another share is mounted.

    points: where in the lab the other shares are mounted.
    """
    seen = {PurePosixPath()}
    yield PurePosixPath(), share.path
    for path in _walk(share.path, share.only):
        below = PurePosixPath(path.relative_to(share.path))
        seen.add(below)
        yield below, path
    for point in sorted(points):
        if PurePosixPath(point).is_relative_to(share.mount[2]):
            below = PurePosixPath(point).relative_to(share.mount[2])
            for each in [*reversed(below.parents), below]:
                if each not in seen:
                    seen.add(each)
                    yield each, None


def content(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that would be packed, without links."""
    return (path for path in _walk(folder) if path.is_file() and not path.is_symlink())


def _is_output(path: Path) -> bool:
    """Return whether this process prints to a file: in `slownet run mine.py > mine.txt` no lab reads that one."""
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(number), path.lstat()):
                return True
    return False


def _walk(folder: Path, only: Sequence[str] = ()) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    there_too = in_the_image().get(folder, frozenset())
    for name in names:
        path = folder / name
        if name in LEFT_OUT or name in there_too or (only and name not in only):
            continue
        if path.is_symlink() or not path.is_dir():
            if not _is_output(path):
                yield path
        elif not any((path / mark).is_file() for mark in MARKS):
            yield path
            yield from _walk(path)
