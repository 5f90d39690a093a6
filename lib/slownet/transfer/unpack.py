"""Reads an exported lab: checks all of it, then puts it in place.

Right sums do not prove that files are what their names say. So a lab's parts are looked at, not run: its kernel and programs
must be executables for this machine's processor whose segments lie in the file, the kernel of the release that is recorded, its
images squashfs of their own size whose tables are where the superblock says (https://dr-emann.github.io/squashfs), and its
initial root a cpio archive that has /init.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import platform
import shutil
import struct
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from slownet.containers import store
from slownet.containers.blob_source import MOST_JSON as MOST_CONFIG
from slownet.containers.headers import MOST_HEADER
from slownet.lab.build import cache, digests, image, init, kernel, layer
from slownet.lab.build.shelf import Shelf
from slownet.lab.run import container_shares
from slownet.model import userfile
from slownet.model.errors import DamagedError, LabError
from slownet.model.shapes import Json
from slownet.transfer import manifest
from slownet.transfer.manifest import AGAIN, Manifest, Member

STAGING = "import"
"""The folder of the cache in which a lab is checked."""
MOST_MANIFEST = 1 << 24
CHUNK = 1 << 20
WHAT = "importing a lab"
RECORDED = {key: store.WANTED[key] for key in ("digest", "names", "source", "aliases")}
SHELVES: Mapping[str, Shelf[Any]] = {each.kind: each for each in (kernel.SHELF, init.SHELF, image.SHELF, layer.SHELF)}


def read(path: Path) -> tuple[Manifest, list[str]]:
    """Check an exported lab, a file or a pipe, and put it in the cache; return its manifest and what is new, as kind/key.

    Nothing is put in place before all of it was checked. What the cache has already stays as it is. Raises LabError.
    """
    base = cache.root()
    try:
        with userfile.opened(path) as file, _archive(file, path) as tar:
            found = _manifest(tar, str(path))
            found.check(str(path))
            cache.need_space(base, found.size // 2**20 + 1, WHAT)
            with cache.scratch(STAGING, base) as staging:
                for each in found.members:
                    _unpack(tar, each, staging, str(path))
                images = _images(found, staging, str(path))
                for folder in found.folders:
                    if wrong := why_not(folder.partition("/")[0], staging / folder):
                        raise LabError(f"{folder} does not match its own records: {wrong}", str(path), AGAIN)
                return found, [each for each in found.folders if _place(each, staging, base, images, found.digests(each))]
    except OSError as error:
        if error.filename == str(path):
            raise LabError(f"cannot read {path} ({error.strerror})") from error
        raise cache.not_writable(error, base) from error


class _Header(tarfile.TarInfo):
    """A member's header; one that describes the next member is read into memory, and has a limit."""

    def _proc_member(self, *archive: Any) -> Any:
        """Read what belongs to the header. Raises tarfile.ReadError.

        Debian's Python 3.13.5 does not call the public `frombuf` for the headers of an archive any more.
        """
        if not self.isreg() and self.size > MOST_HEADER:
            raise tarfile.ReadError(f"a header of {self.size:,} bytes")
        return super()._proc_member(*archive)  # type: ignore[misc]


@contextmanager
def _archive(file: IO[bytes], path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(fileobj=file, mode="r|", tarinfo=_Header) as tar:
            yield tar
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise LabError(f"it is truncated, or not written by `slownet lab export` ({error})", str(path), AGAIN) from error


def _manifest(tar: tarfile.TarFile, where: str) -> Manifest:
    first = tar.next()
    file = tar.extractfile(first) if first and first.name == manifest.NAME and first.size <= MOST_MANIFEST else None
    if not file:
        raise LabError("it is not a lab written by `slownet lab export`", where, "slownet lab export FILE writes one")
    return manifest.parse(file.read(), where)


def _unpack(tar: tarfile.TarFile, member: Member, staging: Path, where: str) -> None:
    """Write the next member of the archive to a file, if its hash is the manifest's. Raises LabError."""
    info = tar.next()
    content = tar.extractfile(info) if info and info.name == member.name and info.isreg() else None
    if not content or not info or info.size != member.size:
        raise LabError(f"{member.name} is missing or of another size", where, AGAIN)
    path = staging / member.name
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with path.open("xb") as file:
        while data := content.read(CHUNK):
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != member.sha256:
        raise LabError(f"{member.name} is damaged: its SHA-256 is not the manifest's", where, AGAIN)
    path.chmod(member.mode)


def _images(found: Manifest, staging: Path, where: str) -> dict[str, dict[str, Json]]:
    """Return the records of the container images, by their folder; each must have the hash in its name. Raises LabError."""
    records = {}
    for folder in found.folders:
        kind, _, name = folder.partition("/")
        if kind != container_shares.KIND:
            continue
        try:
            facts = digests.facts(staging / folder / store.FACTS, store.PART, RECORDED)
            config = userfile.read_bytes(staging / folder / store.CONFIG, MOST_CONFIG)
            is_sound = facts["digest"] == f"sha256:{hashlib.sha256(config).hexdigest()}" == name.replace("-", ":")
            records[folder] = {key: facts[key] for key in RECORDED}
        except (DamagedError, FileNotFoundError):
            is_sound = False
        except OSError as error:
            raise LabError(f"{folder} has a configuration of more than {MOST_CONFIG >> 20} MiB", where, AGAIN) from error
        if not is_sound or not (staging / folder / store.SQUASHFS).is_file():
            raise LabError(f"{folder} is not a container image", where, AGAIN)
    return records


def _place(folder: str, staging: Path, base: Path, images: Mapping[str, Mapping[str, Json]], known: Mapping[str, str]) -> bool:
    """Move a checked folder to its place, unless a whole one exists; return whether it is new there."""
    kind, _, name = folder.partition("/")

    def fill(half: Path) -> None:
        for path in sorted((staging / folder).iterdir()):
            os.replace(path, half / path.name)

    if folder not in images:
        shelf = SHELVES[kind]
        if base != cache.system_root() and shelf.has(name):
            return False  # the system's cache has it, or a wheel brought it
        return shelf.place(name, fill, base, known)[1]
    facts, config = images[folder], userfile.read_bytes(staging / folder / store.CONFIG, MOST_CONFIG)

    def fill_image(half: Path) -> None:
        shutil.move(staging / folder / store.SQUASHFS, half / store.SQUASHFS)

    is_new = not store.is_whole(facts["digest"])
    store.add(facts["digest"], config, fill_image, names=facts["names"], source=facts["source"], aliases=facts["aliases"])
    return is_new


MACHINES: Mapping[str, int] = {"x86_64": 62, "aarch64": 183}
"""``e_machine`` of an executable by this machine's name; elf.h."""
EXECUTABLE, SHARED = 2, 3
LOAD = 1
SQUASHFS = b"hsqs"
BLOCKS = range(12, 21)
"""Logarithms of a squashfs' block sizes: 4 KiB to 1 MiB."""
COMPRESSIONS = range(1, 7)
ABSENT = 2**64 - 1
PADDED = 2**20
"""Bytes that may follow what a squashfs uses: it is padded to a device's blocks."""
METADATA = 8192
NEWC = b"070701"


def why_not(kind: str, folder: Path) -> str:
    """Return what is wrong with a folder of a lab, such as ``linux is no executable``; empty if nothing is."""
    needed = {
        kernel.SHELF.kind: kernel.PART, init.SHELF.kind: init.PART, image.SHELF.kind: image.PART, layer.SHELF.kind: layer.PART,
    }.get(kind)  # fmt: skip
    if missing := next((each for each in (needed.needs if needed else ()) if not (folder / each).is_file()), None):
        return f"{missing} is missing"
    try:
        return _wrong(kind, folder)
    except DamagedError as error:
        return error.what.rpartition(": ")[2]
    except (OSError, ValueError) as error:
        return userfile.reason(error)


def _wrong(kind: str, folder: Path) -> str:
    if kind == kernel.SHELF.kind:
        release = kernel.SHELF.read(folder).release
        banner = f"Linux version {release} (".encode()
        return executable(folder / kernel.PROGRAM) or _lacks(folder / kernel.PROGRAM, banner, f"is not Linux {release}")
    if kind == init.SHELF.kind:
        libraries = {each: SHARED for each in init.PART.needs if each.endswith(".so")}
        programs = {each: EXECUTABLE for each in init.PART.needs if not Path(each).suffix}
        wrong = (executable(folder / name, of) for name, of in (libraries | programs).items())
        return next(filter(None, wrong), "") or initial_root(folder / "init.cpio")
    if kind in (image.SHELF.kind, layer.SHELF.kind):
        shelf, name = (image.SHELF, image.SQUASHFS) if kind == image.SHELF.kind else (layer.SHELF, layer.SQUASHFS)
        shelf.read(folder)
        return squashfs(folder / name)
    return squashfs(folder / store.SQUASHFS) if kind == container_shares.KIND else ""


def executable(path: Path, of: int = EXECUTABLE) -> str:
    """Return why a file is not an executable, or shared library, for this machine; empty if it is one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            return f"{path.name} is no ELF file of 64 bits"
        kind, machine, _, entry, at, _, _, _, width, count = struct.unpack_from("<HHIQQQIHHH", head, 16)
        if machine != MACHINES.get(platform.machine(), machine):
            return f"{path.name} is for another processor"
        if kind not in (of, SHARED):  # an executable that may be anywhere in memory is a shared one to ELF
            return f"{path.name} is neither a program nor a library"
        if width < 56 or not count or at + width * count > size:
            return f"{path.name} is cut short"
        file.seek(at)
        table = file.read(width * count)
    loaded = [struct.unpack_from("<IIQQQQQ", table, width * each) for each in range(count)]
    segments = [each for each in loaded if each[0] == LOAD]
    if not segments or any(offset + length > size for _, _, offset, _, _, length, _ in segments):
        return f"{path.name} is cut short"
    if of == EXECUTABLE and not any(start <= entry < start + length for _, _, _, start, _, length, _ in segments):
        return f"{path.name} does not begin where it says"
    return ""


def _lacks(path: Path, text: bytes, why: str) -> str:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return "" if content.find(text) >= 0 else f"{path.name} {why}"


def initial_root(path: Path) -> str:
    """Return why a file is not an archive of an initial root with /init; empty if it is one."""
    content, at = userfile.read_bytes(path, userfile.MOST_RECORD), 0
    wrong = f"{path.name} is no initial root"
    names: dict[str, bytes] = {}
    while "TRAILER!!!" not in names:
        head = content[at : at + 110]
        if len(head) < 110 or not head.startswith(NEWC):
            return wrong
        fields = [int(head[each : each + 8], 16) for each in range(6, 110, 8)]
        size, length = fields[6], fields[11]
        begin = _aligned(at + 110 + length)
        name = content[at + 110 : at + 110 + length].rstrip(b"\0").decode(errors="replace")
        if not length or begin + size > len(content):
            return wrong
        names[name] = content[begin : begin + 4]
        at = _aligned(begin + size)
    return "" if names.get("init") == b"\x7fELF" else f"{path.name} has no program /init"


def _aligned(at: int) -> int:
    return (at + 3) // 4 * 4


def squashfs(path: Path) -> str:
    """Return why a file is not a squashfs, or not all of one; empty if it is one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(96)
        if len(head) < 96 or not head.startswith(SQUASHFS):
            return f"{path.name} is not a squashfs"
        _, _, _, block, _, compression, log, _, _, major, minor = struct.unpack_from("<5I6H", head)
        _, used, ids, others, inodes, folders, fragments, exports = struct.unpack_from("<8Q", head, 32)
        if (major, minor) != (4, 0) or log not in BLOCKS or block != 1 << log or compression not in COMPRESSIONS:
            return f"{path.name} is not a squashfs that Linux reads"
        if not used <= size < used + PADDED:
            return f"{path.name} has {size:,} bytes and not the {used:,} that it says"
        tables = (ids, *(each for each in (others, fragments, exports) if each != ABSENT))
        if not 96 <= inodes < folders < ids or any(not 96 <= each < used for each in tables):
            return f"{path.name} has no tables where it says"
        at = inodes
        while at < folders:  # from block to block: the last one ends where the folders begin
            file.seek(at)
            (length,) = struct.unpack("<H", file.read(2))
            if not 0 < length & 0x7FFF <= METADATA:
                return f"{path.name} has no files where it says"
            at += 2 + (length & 0x7FFF)
    return "" if at == folders else f"{path.name} has no files where it says"
