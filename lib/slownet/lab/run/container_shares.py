"""Shares the kept container images with every lab, read-only; `slownet.containers.store` reads them on both sides."""

from __future__ import annotations

import os
from pathlib import Path

from slownet.lab.build import cache
from slownet.lab.host import native
from slownet.lab.run.lab import Share

KIND = "containers"
"""Their folder in the cache."""
AT, SYSTEM_AT = "/opt/slownet/containers", "/opt/slownet/system-containers"


def root() -> Path:
    """Return the folder of the kept images, on the host or in a lab; it may not exist yet."""
    return Path(AT) if native.inside_lab() else cache.root() / KIND


def system() -> Path | None:
    """Return the folder of the images that all accounts of the machine have, on the host or in a lab; it may not exist."""
    if native.inside_lab():
        return Path(SYSTEM_AT)
    base = cache.system_root()
    return base / KIND if base and base != cache.root() else None


def shares() -> list[Share]:
    """Return a share of each of these folders that exists."""
    folders = ((cache.root() / KIND, AT), (system(), SYSTEM_AT))
    return [Share(folder.resolve(), at=at) for folder, at in folders if folder and os.path.isdir(folder)]
