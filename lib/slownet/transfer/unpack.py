"""Reads an exported lab: checks all of it, then puts it in place."""

from __future__ import annotations

import hashlib
import os
import shutil
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
from slownet.transfer import contents, manifest
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
                    if wrong := contents.why_not(folder.partition("/")[0], staging / folder):
                        raise LabError(f"{folder} does not match its own records: {wrong}", str(path), AGAIN)
                return found, [each for each in found.folders if _place(each, staging, base, images, found.digests(each))]
    except OSError as error:
        if error.filename == str(path):
            raise LabError(f"cannot read {path} ({error.strerror})") from error
        raise cache.not_writable(error, base) from error


class _Header(tarfile.TarInfo):
    """A member's header; one that says something of the next member is read into memory, and has a limit."""

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
    """Write the next member of the archive to a file, if it is what the manifest says. Raises LabError."""
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
    """Return the records of the container images, by their folder; each must be what its name says. Raises LabError."""
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
