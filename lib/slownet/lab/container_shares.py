"""Shares the kept container images with every lab, read-only; `slownet.container.store` reads them on both sides."""

from __future__ import annotations

from pathlib import Path

from slownet.lab import cache, native
from slownet.lab.boot import Share

KIND = "containers"
"""Their folder in the cache."""
AT = "/opt/slownet/containers"


def root() -> Path:
    """Return the folder of the kept images, on the host or in a lab; it may not exist yet."""
    return Path(AT) if native.inside_lab() else cache.root() / KIND


def shares() -> list[Share]:
    """Return a share of that folder; none if there is no folder."""
    folder = cache.root() / KIND
    return [Share(folder.resolve(), at=AT)] if folder.is_dir() else []
