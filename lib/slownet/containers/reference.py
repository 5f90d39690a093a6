"""References to images: the argument of a command: a file or folder, or a reference that skopeo understands."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from slownet.containers import image_names
from slownet.containers.skopeo import TRANSPORTS
from slownet.model.errors import ImageError
from slownet.model.userfile import expanded

LOCAL = ("oci", "oci-archive", "docker-archive", "dir")
"""Transports whose files are read here."""
FILE = re.compile(r"(\.{0,2}/|~)|.*\.(tar|tgz|gz|zst|xz|bz2|oci)$", re.IGNORECASE)
"""Patterns that match only file names."""


@dataclass(frozen=True)
class Reference:
    """A parsed reference."""

    text: str
    """As it was written; with its transport if it is skopeo's."""
    transport: str = ""
    """Empty: a file or folder, whose format is recognized."""
    path: Path | None = None
    """None: skopeo's."""
    tag: str = ""
    """The tag that selects one of several images, as in ``oci:FOLDER:TAG``."""


def read(text: str) -> Reference:
    """Parse a reference. Raises ImageError."""
    transport, colon, rest = text.partition(":")
    if colon and transport in TRANSPORTS:
        return Reference(text, transport)
    if colon and transport in LOCAL:
        path, tag = (
            (rest, "") if transport == "dir" or os.path.lexists(rest) else rest.split(":", 1) if ":" in rest else (rest, "")
        )
        return Reference(text, transport, _there(path), tag)
    path = text
    if FILE.match(text) or (text and os.path.lexists(text)):
        return Reference(text, path=_there(path))
    name, _, digest = text.partition("@")
    if not image_names.NAME.fullmatch(name) or (digest and not image_names.DIGEST.fullmatch(digest)):
        raise ImageError(
            f"'{text}' is neither a file, nor a folder, nor an image's name",
            fix="write for example shop.tar, ./root or docker://registry.example/shop:1",
        )
    return Reference(f"docker://{text}", "docker")


def _there(text: str) -> Path:
    path = expanded(text, error=ImageError)
    try:
        path.stat()
    except ValueError as error:  # a null byte
        raise ImageError(f"{text!r} is not a path", fix="correct the path") from error
    except PermissionError as error:
        raise ImageError(f"cannot read {text} ({error.strerror})") from error
    except OSError as error:
        fix = "correct the path; an image of a registry is docker://NAME"
        raise ImageError(f"there is no file or folder {text}", fix=fix) from error
    return path
