"""Archives of `docker save` and `podman save`: a manifest.json that names configurations and layers.

Source: Docker Image Specification v1.2, "Combined Image JSON + Filesystem Changeset Format".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from slownet.containers.blob_source import BlobSource, parsed, read
from slownet.containers.image_source import Source, choice, is_called, one_of, with_diff_ids
from slownet.containers.layers import Layer
from slownet.containers.streams import digest
from slownet.model.errors import ImageError

MANIFEST = "manifest.json"


def source(box: BlobSource, tag: str, name: str) -> Source:
    """Return an image of an archive; for tag and name see `one_of`. Raises ImageError."""
    images = parsed(read(box, MANIFEST), list, MANIFEST, box.where)
    if not images or not all(isinstance(each, dict) for each in images):
        raise ImageError(f"{MANIFEST} lists no image", where=box.where, fix="save it again")
    image = one_of(images, lambda asked, each: any(is_called(asked, tag) for tag in _tags(each)), tag, name)
    if image is None:
        raise choice(tag, [known for each in images for known in _tags(each)[:1] or ["one without a name"]], box.where)
    config, layers = str(image.get("Config")), image.get("Layers") or []
    if not isinstance(layers, list):
        raise ImageError(f"{MANIFEST} lists no layers", where=box.where, fix="save it again")
    text = read(box, config)
    found = digest(text)
    stated = re.search(r"([0-9a-f]{64})(\.json)?$", config)
    if stated and not found.endswith(stated[1]):
        raise ImageError(f"{config} has the digest {found}", where=box.where, fix="save it again")
    bare = [_layer(box, str(each), number) for number, each in enumerate(layers, 1)]
    return Source(text, found, lambda _: with_diff_ids(bare, text, box.where), _tags(image), is_only=len(images) == 1)


def _layer(box: BlobSource, name: str, number: int) -> Layer:
    return Layer(lambda: box.open(name), f"layer {number} of {box.where}")


def _tags(image: Mapping[str, object]) -> list[str]:
    tags = image.get("RepoTags") or []
    return [str(each) for each in tags] if isinstance(tags, list) else []
