"""Makes one squashfs of an image's layers: the tree first, then the contents of the files that are left, as one stream."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, BinaryIO

from slownet.containers import layers as reading
from slownet.containers.layers import SCHILY, Layer
from slownet.containers.tree import Kind, Node, Tree
from slownet.lab.build import cache, debian, image
from slownet.model.errors import ImageError

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
