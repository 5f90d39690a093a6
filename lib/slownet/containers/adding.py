"""Adds an image to the kept ones, from whatever holds it.

Files are read here, and only what is elsewhere is fetched, by skopeo: a file then needs no second copy of its layers, a kept
image is recognized without reading them, and an image that was handed over can be added where skopeo is not installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from slownet.containers import blob_source, config, headers, image_names, layers, oci_layout, reference, rootfs, skopeo, store
from slownet.containers.blob_source import BlobSource, parsed, read
from slownet.containers.config import ARCHITECTURE, OS, Config, check_platform
from slownet.containers.image_source import Source, choice, is_called, one_of, with_diff_ids
from slownet.containers.layers import Archive, Layer
from slownet.containers.reference import Reference
from slownet.containers.streams import digest
from slownet.containers.tree import Tree
from slownet.lab.build import cache
from slownet.lab.run import container_shares
from slownet.model.errors import ImageError

# Archives of `docker save` and `podman save`: a manifest.json that names configurations and layers.
#
# Source: Docker Image Specification v1.2, "Combined Image JSON + Filesystem Changeset Format".

MANIFEST = "manifest.json"


def source(box: BlobSource, tag: str, name: str) -> Source:
    """Return an image of an archive; for tag and name see `one_of`. Raises ImageError."""
    images = parsed(read(box, MANIFEST), list, MANIFEST, box.where)
    if not images or not all(isinstance(each, dict) for each in images):
        raise ImageError(f"{MANIFEST} lists no image", where=box.where, fix="save it again")
    image = one_of(images, lambda asked, each: any(is_called(asked, tag) for tag in _tags(each)), tag, name)
    if image is None:
        raise choice(tag, [known for each in images for known in _tags(each)[:1] or ["one without a name"]], box.where)
    config, layers = str(image.get("Config")), image.get("Layers") or []
    if not isinstance(layers, list):
        raise ImageError(f"{MANIFEST} lists no layers", where=box.where, fix="save it again")
    text = read(box, config)
    found = digest(text)
    stated = re.search(r"([0-9a-f]{64})(\.json)?$", config)
    if stated and not found.endswith(stated[1]):
        raise ImageError(f"{config} has the digest {found}", where=box.where, fix="save it again")
    bare = [_layer(box, str(each), number) for number, each in enumerate(layers, 1)]
    return Source(text, found, lambda _: with_diff_ids(bare, text, box.where), _tags(image), is_only=len(images) == 1)


def _layer(box: BlobSource, name: str, number: int) -> Layer:
    return Layer(lambda: box.open(name), f"layer {number} of {box.where}")


def _tags(image: Mapping[str, object]) -> list[str]:
    tags = image.get("RepoTags") or []
    return [str(each) for each in tags] if isinstance(tags, list) else []


HEADER = 20
MACHINES = {
    3: "386",
    8: "mips",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: ARCHITECTURE,
    183: "arm64",
    243: "riscv",
    258: "loong64",
}
"""ELF's e_machine (elf.h) in the words of OCI."""
SETTLED_S = 0.1
"""A file changed more recently than this may change again within one tick of its file system's clock, unnoticed."""


@dataclass(frozen=True)
class Added:
    """The result of adding an image."""

    image: store.StoredImage
    is_new: bool
    omitted: Sequence[str] = ()
    """Paths of a folder that could not be read."""


def add(text: str, name: str = "", tag: str = "", *, tls_verify: bool = True) -> Added:
    """Add the image of a reference; nothing is built if it is kept already.

    text: a file, a folder, or a reference with or without its transport.
    name: the name to keep it under; by default its own.
    tag: which image of an archive with several.
    tls_verify: false: a registry need not have TLS, or a certificate.
    Raises SlownetError: it cannot be read, is damaged, or does not run in a lab; nothing is kept of it.
    """
    wanted = [image_names.check(name)] if name else []
    asked = reference.read(text)
    cache.sweep(container_shares.KIND)
    seen = file_identity(asked.path, f"{asked.transport} {tag or asked.tag}") if asked.path else ""
    for image in store.kept() if seen else ():
        is_there = seen in image.seen and store.SHELF.is_whole(image.folder)
        if is_there and (named := store.add_names(image, wanted or image.seen[seen], _source_of(asked, text))):
            return Added(named, is_new=False)
    with ExitStack() as stack:
        found = _source(asked, tag or asked.tag, name, tls_verify, stack)
        config.check_platform(config.parse(found.config, text), text)
        own = _own_names(found, asked)
        is_clear = seen and not found.omitted and (found.is_only or tag or asked.tag)
        is_new = not store.is_whole(found.digest)
        image = store.add(
            found.digest, found.config, lambda folder: _build(folder, found, text), names=wanted or own,
            source=_source_of(asked, text), aliases=found.aliases, seen={seen: own} if is_clear else {},
        )  # fmt: skip
        return Added(image, is_new, found.omitted)


def _source(asked: Reference, tag: str, name: str, tls_verify: bool, stack: ExitStack) -> Source:
    """Return what is at a reference. Raises ImageError."""
    if asked.path is None:
        return skopeo.source(asked.text, tls_verify)
    if asked.path.is_dir():
        return _of_folder(asked, asked.path, tag, name, stack)
    file = blob_source.uncompressed(asked.path, stack)
    marks = blob_source.marks(file, asked.text)
    if asked.transport == "docker-archive" or (not asked.transport and "manifest.json" in marks):
        return source(blob_source.Tar(file, asked.text), tag, name)
    if asked.transport or marks:
        return oci_layout.source(blob_source.Tar(file, asked.text), tag, name, asked.path.name)
    return rootfs.archive_source(file, asked.text)


def _of_folder(asked: Reference, path: Path, tag: str, name: str, stack: ExitStack) -> Source:
    folder = blob_source.Folder(path)
    if asked.transport == "dir" or (not asked.transport and folder.has("manifest.json") and folder.has("version")):
        return oci_layout.folder_source(folder)
    if asked.transport or folder.has("oci-layout") or folder.has("index.json"):
        return oci_layout.source(folder, tag, name, path.resolve().name)
    return rootfs.folder_source(path, stack)


def _own_names(found: Source, asked: Reference) -> list[str]:
    own = [image_names.with_tag(each) for each in found.names if image_names.NAME.fullmatch(each)]
    if own or not asked.path:
        return own or [image_names.from_text(asked.text.partition(":")[2])]
    path = asked.path.resolve()
    return [image_names.from_text(path.name if path.exists() else "")]  # that of /dev/stdin may be "pipe:[123]"


def _source_of(asked: Reference, text: str) -> str:
    """Return what adds an image again from any folder; empty if nothing does, as of a pipe."""
    if asked.transport or not asked.path:
        return text
    path = asked.path.resolve()
    return str(path) if path.is_file() or path.is_dir() else ""


def _build(folder: Path, found: Source, where: str) -> None:
    cache.need_programs(rootfs.PROGRAMS, rootfs.WHAT)
    work = folder / "work"
    work.mkdir()
    stored, tree, machines = found.layers(work), Tree(), Machines()
    count = 0
    for number, each in enumerate(stored):
        changes = layers.changes(each, number, None if found.states_platform else machines.look)
        count += len(changes.entries)
        if count > headers.MOST_ENTRIES:
            raise headers.too_many(where)
        tree.apply(changes)
    if not found.states_platform:
        machines.check(where)
        if not tree.root.children:
            raise ImageError("it has no files", where=where, fix="name an image, or the tar of a root file system")
    rootfs.squash(stored, tree, folder / store.SQUASHFS, work / "add.log")
    shutil.rmtree(work)


class Machines:
    """CPU architectures of the executables, for images whose configuration names none."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        """A program of each."""

    def look(self, archive: Archive, member: tarfile.TarInfo) -> None:
        """Look at a file if it is executable."""
        if not member.mode & 0o111 or member.size < HEADER:
            return
        start = archive.content(member).read(HEADER)
        if start.startswith(b"\x7fELF"):
            number = int.from_bytes(start[18:20], "big" if start[5] == 2 else "little")
            self.found.setdefault(MACHINES.get(number, f"machine {number}"), member.name)

    def check(self, where: str) -> None:
        """Raise ImageError if there are programs, and none for a lab's processor."""
        if self.found and ARCHITECTURE not in self.found:
            name, program = next(iter(self.found.items()))
            check_platform(Config(name, OS), f"{where} ({program})")


def file_identity(path: Path, how: str) -> str:
    """Return what identifies a file or folder without reading it: a digest of the fields of `stat`, as in Git's index.

    It is empty if it cannot be trusted. how: which image of it is meant.
    """
    digest, newest = hashlib.sha256(f"{how}\0".encode()), 0
    omitted: list[str] = []
    if not path.is_file() and not path.is_dir():  # a pipe
        return ""
    try:
        for each in rootfs.walk(path, omitted) if path.is_dir() else [path]:
            found = os.lstat(each) if each != path else os.stat(each)
            newest = max(newest, found.st_ctime_ns)
            of_one = (found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_size)
            digest.update(
                f"{each.relative_to(path)}\0{of_one} {found.st_mtime_ns} {found.st_ctime_ns}\0".encode(errors="surrogateescape")
            )
    except OSError:
        return ""
    return "" if omitted or newest > time.time_ns() - SETTLED_S * 1e9 else digest.hexdigest()[:32]
