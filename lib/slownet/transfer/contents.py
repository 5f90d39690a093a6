"""Checks of an imported lab: whether its files are what their names say, which right sums do not prove.

A lab's parts are looked at, not run: its kernel and programs must be executables for this machine's processor whose segments
lie in the file, the kernel of the release that is recorded, its images squashfs of their own size whose tables are where the
superblock says (https://dr-emann.github.io/squashfs), and its initial root a cpio archive that has /init.
"""

from __future__ import annotations

import mmap
import platform
import struct
from collections.abc import Mapping
from pathlib import Path

from slownet.containers import store
from slownet.lab.build import image, init, kernel, layer
from slownet.lab.run import container_shares
from slownet.model import userfile
from slownet.model.errors import DamagedError

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
    """Return what is wrong with a folder of a lab, as ``linux is no executable``; empty if nothing is."""
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
