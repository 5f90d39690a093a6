"""Plain root file systems: a folder, or a tar archive of one. They have no configuration; an empty one is made for them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import stat
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, BinaryIO

from slownet.containers import blob_source
from slownet.containers import layers as reading
from slownet.containers.config import ARCHITECTURE, OS
from slownet.containers.image_source import Source
from slownet.containers.layers import SCHILY, Layer
from slownet.containers.streams import CHUNK, Readable
from slownet.containers.tree import Kind, Node, Tree
from slownet.lab.build import cache, debian, image
from slownet.model.errors import ImageError

# Makes one squashfs of an image's layers: the tree first, then the contents of the files that are left, as one stream.

WHAT = "adding the image"
PROGRAMS = {"tar2sqfs": image.PROGRAMS["tar2sqfs"]}
SPARE_MEGABYTES = 64
TYPES = {Kind.FOLDER: tarfile.DIRTYPE, Kind.FILE: tarfile.REGTYPE, Kind.LINK: tarfile.SYMTYPE, Kind.FIFO: tarfile.FIFOTYPE}


def squash(layers: Sequence[Layer], tree: Tree, target: Path, log: Path) -> None:
    """Write the squashfs of a tree whose files are in these layers. Raises SlownetError."""
    cache.need_programs(PROGRAMS, WHAT)
    cache.need_space(target.parent, size(tree) // 2**20 + SPARE_MEGABYTES, WHAT)
    broken = False
    with (
        log.open("ab") as output,
        cache.start(image.squash(target), stdin=subprocess.PIPE, stdout=output, stderr=output) as process,
    ):
        assert process.stdin
        try:
            with process.stdin as pipe:
                write(layers, tree, pipe)
        except BrokenPipeError:  # the program ended first, and its log says why
            broken = True
        status = process.wait()
    if status or broken:
        raise cache.failure(WHAT, status, log, (debian.NO_SPACE,))


def size(tree: Tree) -> int:
    """Return the bytes of all files of a tree; one with several names counts once."""
    return sum({id(node): node.size for _, node in tree.walk()}.values())


def write(layers: Sequence[Layer], tree: Tree, out: BinaryIO | IO[bytes]) -> None:
    """Write a tree as one tar archive: folders and links, then the files in their layers' order, then other names of files."""
    names: dict[int, str] = {}
    files: dict[tuple[int, int], tuple[str, Node]] = {}
    more: list[tuple[str, str]] = []
    for path, node in tree.walk():
        name = "/".join(path) or "."
        if node.kind is not Kind.FILE:
            out.write(_header(name, node))
        elif id(node) in names:
            more.append((name, names[id(node)]))
        else:
            names[id(node)] = name
            files[node.origin] = name, node
    for number in sorted({each for each, _ in files}):
        with reading.opened(layers[number]) as archive:
            for index, member in enumerate(archive):
                if (number, index) in files:
                    _copy(*files[number, index], archive.content(member), out)
    for name, first in more:
        link = tarfile.TarInfo(name)
        link.type, link.linkname = tarfile.LNKTYPE, first
        out.write(_bytes(link))
    out.write(bytes(2 * tarfile.BLOCKSIZE))


def _copy(name: str, node: Node, content: IO[bytes], out: BinaryIO | IO[bytes]) -> None:
    out.write(_header(name, node))
    left = node.size
    while left:
        data = content.read(min(left, io.DEFAULT_BUFFER_SIZE * 32))
        if not data:
            raise ImageError(f"{name} changed while it was read", fix="add the image again")
        out.write(data)
        left -= len(data)
    out.write(bytes(-node.size % tarfile.BLOCKSIZE))


def _header(name: str, node: Node) -> bytes:
    made = tarfile.TarInfo(name)
    made.type, made.mode, made.uid, made.gid, made.mtime = TYPES[node.kind], node.mode, node.uid, node.gid, node.mtime
    made.linkname, made.size = node.target, node.size
    made.pax_headers = {f"{SCHILY}{key}": value for key, value in node.xattrs.items()}
    return _bytes(made)


def _bytes(member: tarfile.TarInfo) -> bytes:
    return member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


FILES_TO_BUILD_FROM = ("Dockerfile", "Containerfile")


def archive_source(file: IO[bytes], where: str) -> Source:
    """Return the image of a tar archive of a root. Raises ImageError."""
    return _source(file, where, ())


def folder_source(folder: Path, stack: ExitStack) -> Source:
    """Return the image of a root in a folder, as it is now: a copy of it is made. Raises ImageError."""
    _check(folder)
    omitted: list[str] = []

    def fill(copy: IO[bytes]) -> None:
        with tarfile.open(fileobj=copy, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in walk(folder, omitted):
                _pack(tar, path, folder, omitted)

    return _source(blob_source.spooled(fill, stack), str(folder), tuple(omitted))


def _check(folder: Path) -> None:
    try:
        found = set(os.listdir(folder))
    except OSError as error:
        raise ImageError(f"cannot read {folder} ({error.strerror})") from error
    if not found:
        raise ImageError(f"{folder} is empty", fix="name an image, or the folder of a root file system")
    build = sorted(found & {*FILES_TO_BUILD_FROM})
    if build and not found & blob_source.ROOT_FOLDERS:
        raise ImageError(
            f"{folder} is not an image: it has a {build[0]} to build one from",
            fix=f"buildah build -t shop:1 {folder} && buildah push shop:1 docker-archive:shop.tar:shop:1, and add shop.tar",
        )


def _source(file: IO[bytes], where: str, omitted: tuple[str, ...]) -> Source:
    digest = hashlib.sha256()
    file.seek(0)
    while data := file.read(CHUNK):
        digest.update(data)
    diff_id = f"sha256:{digest.hexdigest()}"
    text = json.dumps(
        {"architecture": ARCHITECTURE, "os": OS, "config": {}, "rootfs": {"type": "layers", "diff_ids": [diff_id]}}
    ).encode()

    @contextlib.contextmanager
    def reopened() -> Iterator[Readable]:
        file.seek(0)
        yield file

    # Without its diff_id: it is ours, and the archive has to have an end.
    layer = Layer(reopened, where, digest=diff_id, has_whiteouts=False)
    return Source(text, f"sha256:{hashlib.sha256(text).hexdigest()}", lambda _: [layer], omitted=omitted, states_platform=False)


def walk(folder: Path, omitted: list[str]) -> Iterator[Path]:
    """Yield a folder and what is in it, sorted; adds to `omitted` what may not be read."""
    ahead = [(folder, True)]
    while ahead:  # no recursion: folders may be thousands deep
        path, is_folder = ahead.pop()
        yield path
        if not is_folder:
            continue
        try:
            with os.scandir(path) as entries:
                inside = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
        except PermissionError:
            omitted.append(str(path))
            continue
        ahead += [(path / name, each) for name, each in reversed(inside)]


def _pack(tar: tarfile.TarFile, path: Path, folder: Path, omitted: list[str]) -> None:
    try:
        member = tar.gettarinfo(path, str(path.relative_to(folder)))
        attributes = dict(_xattrs(path))
    except PermissionError:
        omitted.append(str(path))
        return
    if member is None:  # a socket, which no tar can hold
        omitted.append(str(path))
        return
    member.uname = member.gname = ""  # this machine's names
    member.pax_headers = attributes
    if not member.isreg():
        tar.addfile(member)
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except PermissionError:
        omitted.append(str(path))
        tar.inodes = {key: name for key, name in tar.inodes.items() if name != member.name}  # type: ignore[attr-defined]
        return
    with os.fdopen(descriptor, "rb") as content:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ImageError(f"{path} changed while it was read", fix="add the image again")
        try:
            tar.addfile(member, content)
        except OSError as error:
            if error.errno:
                raise
            raise ImageError(f"{path} changed while it was read", fix="add the image again") from error


def _xattrs(path: Path) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(os.listxattr(path, follow_symlinks=False))
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENOSYS):  # a file system without any
            return
        raise
    for name in names:
        yield f"{SCHILY}{name}", os.getxattr(path, name, follow_symlinks=False).decode("utf-8", "surrogateescape")
