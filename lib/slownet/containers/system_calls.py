"""System calls that Python lacks: mounts, mount namespaces, and paths inside another root."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any

# linux/sched.h, linux/mount.h, linux/openat2.h
CLONE_NEWNS = 0x20000
MS_RDONLY, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x1, 0x4, 0x20, 0x1000, 0x4000, 0x40000
_RESOLVE_NO_MAGICLINKS, _RESOLVE_IN_ROOT = 0x02, 0x10
_OPENAT2 = 437

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any, about: str = "") -> int:
    found: int = getattr(_libc, name)(*arguments)
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about or name)
    return found


def own_mounts() -> None:
    """Move this thread to a new mount namespace, whose mounts no one else sees. The thread must end in it."""
    _call("unshare", CLONE_NEWNS)
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def mount(what: str, where: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system in this thread's mount namespace. Raises OSError."""
    words = [each.encode() for each in (what, where, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), options.encode() or None, about=f"{where} ({kind})")


def open_in(root: int, path: str, flags: int = os.O_RDONLY) -> int:
    """Open a path of the tree below an open folder, whose symbolic links cannot leave it. Raises OSError."""
    how = struct.pack("3Q", flags | os.O_CLOEXEC, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    return _call("syscall", _OPENAT2, root, path.encode(), how, len(how), about=path)
