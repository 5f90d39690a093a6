"""Compiles the lab's first process, packed as an initial RAM disk, what confines the lab on the host, the CPU probe, and what
notes programs that are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.lab.build import cache
from slownet.lab.build.digests import Part
from slownet.lab.build.shelf import Shelf

HERE = Path(__file__).parent
NAMES = ("init", "confine", "probe")
ABSENT = "absent"
HEADER = "init_exact.h"
PROGRAMS = {"gcc": "gcc"}
PART = Part("the lab's init", ("init.cpio", "confine", "probe", f"{ABSENT}.so"))
SHELF: Shelf[Path] = Shelf("init", PART, lambda folder: folder)

_S_IFDIR, _S_IFREG, _S_IFCHR = 0o040000, 0o100000, 0o020000


def key() -> str:
    """Return what the folder of this version is kept under."""
    return cache.key(*(HERE / f"{each}.c" for each in (*NAMES, ABSENT)), HERE / HEADER)


def find() -> Path | None:
    """Return the folder with init.cpio, confine, probe and absent.so, or None if they were not compiled on this machine.

    Raises DamagedError.
    """
    return SHELF.find(key())


def build() -> Path:
    """Return the folder with init.cpio, confine, probe and absent.so; build it if necessary."""
    return SHELF.make(key(), _build)


def need() -> Path:
    """Return the folder with init.cpio, confine, probe and absent.so; compile them if none exist.

    Raises LabError, also if they are damaged.
    """
    return find() or build()


def _build(folder: Path) -> None:
    cache.need_programs(PROGRAMS, "building the lab's init")
    log = folder / "init.log"
    for name in NAMES:
        argv: list[str | Path] = ["gcc", "-O2", "-Wall", "-static", "-s", "-o", folder / name, HERE / f"{name}.c"]
        cache.run(argv, log, f"compiling {name}.c", hints=[("cannot find -lc", "apt-get install libc6-dev")])
    library: list[str | Path] = ["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-s", "-o", folder / f"{ABSENT}.so"]
    cache.run([*library, HERE / f"{ABSENT}.c"], log, f"compiling {ABSENT}.c")
    (folder / "init.cpio").write_bytes(initial_root((folder / "init").read_bytes()))


def initial_root(init: bytes) -> bytes:
    """Return an archive that the kernel unpacks as its initial root: a console and /init."""
    return archive({"init": init}, folders=["dev"], nodes={"dev/console": (5, 1)})


def archive(
    files: Mapping[str, bytes], folders: Sequence[str] = (), nodes: Mapping[str, tuple[int, int]] | None = None
) -> bytes:
    """Return a newc cpio archive of folders, character devices and executable files, which a kernel unpacks."""
    made = [(each, _S_IFDIR | 0o755, b"", (0, 0)) for each in folders]
    made += [(each, _S_IFCHR | 0o600, b"", device) for each, device in (nodes or {}).items()]
    made += [(each, _S_IFREG | 0o755, data, (0, 0)) for each, data in files.items()]
    made += [("TRAILER!!!", 0, b"", (0, 0))]
    return b"".join(_entry(inode, *each) for inode, each in enumerate(made, start=1))


def _entry(inode: int, name: str, mode: int, data: bytes, device: tuple[int, int]) -> bytes:
    path = name.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, device, device of the node, length of name, checksum
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + path
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)
