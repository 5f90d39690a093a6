"""Names of images, as ``shop:1``, ``team/shop:1`` or ``registry.example:5000/team/shop:1``, and their digests."""

from __future__ import annotations

import re

from slownet.model.errors import ImageError
from slownet.model.options import Option

CHOSEN = Option("name")
NAME = re.compile(
    r"(?:(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:]+\])(?::\d+)?/)?"  # a registry
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
)
LATEST = "latest"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
LEAST_HEX = 6


def check(text: str, where: str | Option = CHOSEN) -> str:
    """Return a name with its tag, ``latest`` unless given. Raises ImageError."""
    if not NAME.fullmatch(text):
        raise ImageError(f"'{text}' is not a name of an image", where=where, fix="write for example shop:1, in lower case")
    return with_tag(text)


def with_tag(text: str) -> str:
    """Return a name with the tag ``latest`` if it has none."""
    return text if ":" in text.rpartition("/")[2] else f"{text}:{LATEST}"


def from_text(text: str) -> str:
    """Return a name made of any text, such as a file's name: ``My Shop.tar`` gives ``my-shop:latest``."""
    plain = re.sub(r"(\.(tar|gz|tgz|zst|xz|bz2|oci|docker))+$", "", text, flags=re.IGNORECASE).lower()
    return with_tag(re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "image")


def matches(asked: str, name: str) -> bool:
    """True if a name is the one asked for: the same, or the same without its registry and leading folders."""
    wanted = with_tag(asked)
    return name == wanted or name.endswith(f"/{wanted}")


def is_prefix(asked: str, digest: str) -> bool:
    """True if a text abbreviates a digest: ``sha256:0123ab``, ``0123ab`` or the whole of it."""
    digits = asked.removeprefix("sha256:")
    return bool(re.fullmatch(rf"[0-9a-f]{{{LEAST_HEX},64}}", digits)) and digest.removeprefix("sha256:").startswith(digits)
