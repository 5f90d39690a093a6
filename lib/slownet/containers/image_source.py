"""The images found at a reference: an image to be kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from slownet.containers import config, image_names
from slownet.containers.layers import Layer
from slownet.model.errors import ImageError
from slownet.model.options import TAG

MOST_LAYERS = 500
"""Docker makes at most 127."""


@dataclass(frozen=True)
class Source:
    """An image to be kept; its layers are read, and fetched, only if it is not kept yet."""

    config: bytes
    digest: str
    layers: Callable[[Path], Sequence[Layer]]
    """Returns them, lowest first; may fetch them into a folder."""
    names: Sequence[str] = ()
    """Its own names, as they came."""
    aliases: Sequence[str] = ()
    """Digests of its manifest and index."""
    is_only: bool = True
    """True if nothing else was there to choose from."""
    omitted: Sequence[str] = ()
    """Paths of a folder that could not be read."""
    states_platform: bool = True
    """False: its programs show the platform."""


def with_diff_ids(layers: Sequence[Layer], text: bytes, where: str) -> list[Layer]:
    """Return layers with the digests that the configuration states. Raises ImageError."""
    stated = config.parse(text, where).diff_ids
    if len(stated) > MOST_LAYERS:
        raise ImageError(f"it has more than {MOST_LAYERS} layers", where=where, fix="build it again, with fewer steps")
    if len(stated) != len(layers):
        counts = f"{len(layers)} layers, and its configuration {len(stated)}"
        raise ImageError(f"the image's manifest has {counts}", where=where, fix="fetch or save it again")
    return [Layer(each.open, each.where, each.digest, each.size, diff_id) for each, diff_id in zip(layers, stated, strict=True)]


Candidate = TypeVar("Candidate")


def one_of(candidates: Sequence[Candidate], fits: Callable[[str, Candidate], bool], tag: str, name: str) -> Candidate | None:
    """Return the image that a tag chooses; without a tag the only one, or the one that has the name it will be kept under."""
    found = [each for each in candidates if fits(tag, each)] if tag else candidates
    if len(found) > 1 and name and not tag:
        found = [each for each in candidates if fits(name, each)]
    return found[0] if len(found) == 1 else None


def is_called(tag: str, name: str) -> bool:
    """True if an image of that name is meant by ``shop:1`` or by ``1``."""
    return image_names.matches(tag, name) or name.endswith(f":{tag}")


def choice(tag: str, found: Sequence[str], where: str) -> ImageError:
    """Return the error for several images without a choice, or one that is not there."""
    which = ", ".join(dict.fromkeys(found))
    if tag:
        return ImageError(f"it has no image '{tag}', but {which}", where=where, fix=f"write for example {TAG.set(found[0])}")
    return ImageError(f"it has {len(found)} images: {which}", where=where, fix=f"choose one, for example {TAG.set(found[0])}")
