"""Makes container images in a lab, which has no program for it: a writer of uncompressed squashfs files (version 4.0).

Format: https://dr-emann.github.io/squashfs/squashfs.html
"""

import hashlib
import json
import shutil
import stat
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from slownet.containers import store

BLOCK, META = 1 << 17, 8192
LZ4, LZ4_OPTIONS = 5, struct.pack("<HII", 0x8008, 1, 0)
FLAGS = 0x0001 | 0x0002 | 0x0010 | 0x0200 | 0x0400 | 0x0800  # nothing compressed, no fragments, no xattrs, lz4's options
NONE = (1 << 64) - 1
KINDS = {stat.S_IFDIR: 1, stat.S_IFREG: 2, stat.S_IFLNK: 3, stat.S_IFCHR: 5}
PROGRAM = Path(__file__).with_name("server.c")
"""What the images run: a server, and other ways to end or wait."""


@dataclass
class Entry:
    """A file, folder or symbolic link of an image."""

    mode: int
    data: bytes = b""
    uid: int = 0
    gid: int = 0
    device: int = 0


def folder(mode=0o755, uid=0, gid=0):
    return Entry(stat.S_IFDIR | mode, b"", uid, gid)


def file(data, mode=0o644, uid=0, gid=0):
    return Entry(stat.S_IFREG | mode, data.encode() if isinstance(data, str) else data, uid, gid)


def link(target):
    return Entry(stat.S_IFLNK | 0o777, target.encode())


def compiled(source, target):
    """Compile a C program, without libraries to find at run time."""
    compiler = next(filter(None, map(shutil.which, ("gcc", "x86_64-linux-gnu-gcc", "cc"))))
    subprocess.run([compiler, "-O1", "-static", "-s", "-o", target, source], check=True)
    return target.read_bytes()


def squashfs(target, tree):
    """Write an image of {path: Entry}; folders above a path are made."""
    entries = {"/": folder()}
    for path in sorted(tree):
        for above in reversed(Path(path).parents):
            entries.setdefault(str(above), folder())
        entries[path] = tree[path]
    ids = sorted({number for each in entries.values() for number in (each.uid, each.gid)})
    numbers = {path: number for number, path in enumerate(entries, 1)}
    out = bytearray(96) + LZ4_OPTIONS
    inodes, folders, at = bytearray(), bytearray(), {}
    # Inodes of what a folder has come before its own, which says where its list is.
    for path in sorted(entries, key=lambda each: -len(Path(each).parts)):
        each = entries[path]
        kind = KINDS[stat.S_IFMT(each.mode)]
        at[path] = (len(inodes), kind)
        head = struct.pack("<HHHHII", kind, stat.S_IMODE(each.mode), ids.index(each.uid), ids.index(each.gid), 0, numbers[path])
        if kind == 1:
            children = sorted(child for child in entries if child != "/" and str(Path(child).parent) == path)
            listed = bytearray()
            for child in children:
                position, sort = at[child]
                name = Path(child).name.encode()
                listed += struct.pack("<III", 0, position // META * (META + 2), numbers[child])
                listed += struct.pack("<HhHH", position % META, 0, sort, len(name) - 1) + name
            start = len(folders)
            folders += listed
            up = numbers[str(Path(path).parent)] if path != "/" else len(numbers) + 1
            place = (start // META * (META + 2), 2 + len(children), len(listed) + 3, start % META, up)
            inodes += head + struct.pack("<IIHHI", *place)
        elif kind == 2:
            blocks = [each.data[first : first + BLOCK] for first in range(0, len(each.data), BLOCK)]
            inodes += head + struct.pack("<IIII", len(out), 0xFFFFFFFF, 0, len(each.data))
            inodes += b"".join(struct.pack("<I", len(block) | 1 << 24) for block in blocks)
            out += each.data
        elif kind == 3:
            inodes += head + struct.pack("<II", 1, len(each.data)) + each.data
        else:
            inodes += head + struct.pack("<II", 1, each.device)
    inode_table, out = len(out), out + _metadata(inodes)
    folder_table, out = len(out), out + _metadata(folders)
    id_block, out = len(out), out + _metadata(b"".join(struct.pack("<I", each) for each in ids))
    id_table, out = len(out), out + struct.pack("<Q", id_block)
    position = at["/"][0]
    struct.pack_into(
        "<IIIIIHHHHHHQQQQQQQQ", out, 0, 0x73717368, len(entries), 0, BLOCK, 0, LZ4, 17, FLAGS, len(ids), 4, 0,
        position // META * (META + 2) << 16 | position % META, len(out), id_table, NONE,
        inode_table, folder_table, id_block, NONE,
    )  # fmt: skip
    target.write_bytes(out + bytes(-len(out) % 4096))


def _metadata(data):
    pieces = [bytes(data[first : first + META]) for first in range(0, len(data), META)]
    return b"".join(struct.pack("<H", len(piece) | 0x8000) + piece for piece in pieces)


def keep(name, tree, **config):
    """Keep an image of {path: Entry} under a name. config: as in the `config` of an OCI image configuration."""
    text = json.dumps({"architecture": "amd64", "os": "linux", "config": config}).encode()
    digest = "sha256:" + hashlib.sha256(text + repr(sorted(tree.items())).encode()).hexdigest()
    return store.add(digest, text, lambda where: squashfs(where / store.SQUASHFS, tree), names=[name], source="a test")
