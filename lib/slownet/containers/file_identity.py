"""Recognizes a file or folder that was added before, without reading it: by what `stat` says, as Git's index does."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from slownet.containers import rootfs

SETTLED_S = 0.1
"""What changed less than this ago may change again within one tick of its file system's clock, which nobody would see."""


def of(path: Path, how: str) -> str:
    """Return a digest of the state of a file or folder; nothing if it cannot be trusted. how: which image of it is meant."""
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
