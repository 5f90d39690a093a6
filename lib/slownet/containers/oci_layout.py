"""OCI layouts (index.json, blobs) and skopeo's folders (manifest.json beside the blobs): the image for a lab's platform.

Source: OCI Image Format Specification, image-layout.md, image-index.md, manifest.md; Docker's Image Manifest V2, Schema 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slownet.containers import image_names, streams
from slownet.containers.blob_source import BlobSource, parsed, read
from slownet.containers.config import ARCHITECTURE, OS, parse
from slownet.containers.image_source import Source, choice, is_called, one_of, with_diff_ids
from slownet.containers.layers import Layer
from slownet.model.errors import ImageError
from slownet.model.shapes import Json

INDEX, MANIFEST = "index.json", "manifest.json"
TAG, WHOLE_NAME = "org.opencontainers.image.ref.name", "io.containerd.image.name"
CONFIGS = ("application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json")
DEEPEST = 4
"""Indexes in indexes."""


@dataclass(frozen=True)
class _Descriptor:
    """The descriptor of a blob in an index or a manifest."""

    digest: str
    size: int
    platform: tuple[str, str, str] | None = None
    """Its system, architecture and variant."""
    name: str = ""
    kind: str = ""
    """Its media type."""


def source(box: BlobSource, tag: str, name: str, stem: str) -> Source:
    """Return an image of a layout; for tag and name see `one_of`. stem: the name of what has only a tag. Raises ImageError."""
    blobs = _Blobs(box, lambda digest: [f"blobs/{digest.replace(':', '/')}"])
    found = _descriptors(parsed(read(box, INDEX), dict, INDEX, box.where), INDEX, box.where)
    by_name: dict[str, list[_Descriptor]] = {}
    for each in found:
        if not each.platform or each.platform[0] != "unknown":  # else it is an attestation
            by_name.setdefault(each.name, []).append(each)
    if not by_name:
        raise ImageError(f"{INDEX} lists no image", where=box.where, fix="save it again")
    chosen = one_of(list(by_name.items()), _fits, tag, name)
    if chosen is None:
        raise choice(tag, [known or first.digest for known, (first, *_) in by_name.items()], box.where)
    own, descriptors = chosen
    whole = own if not own or ":" in own or "/" in own else f"{image_names.from_text(stem).rpartition(':')[0]}:{own}"
    return replace(_image(blobs, descriptors, [whole] if whole else []), is_only=len(by_name) == 1)


def _fits(asked: str, image: tuple[str, Sequence[_Descriptor]]) -> bool:
    name, descriptors = image
    named = bool(name) and (name == asked or is_called(asked, name) or image_names.with_tag(asked).endswith(f":{name}"))
    return named or any(image_names.is_prefix(asked, each.digest) for each in descriptors)


def folder_source(box: BlobSource) -> Source:
    """Return the image of a folder that skopeo wrote (`dir:`). Raises ImageError."""
    blobs = _Blobs(box, lambda digest: [hexadecimal := digest.partition(":")[2], f"{hexadecimal}.manifest.json"])
    text = read(box, MANIFEST)
    descriptor = _Descriptor(streams.digest(text), len(text))
    blobs.known[descriptor.digest] = text
    return _image(blobs, [descriptor], (), ())


class _Blobs:
    """Blobs by their digests, each verified."""

    def __init__(self, box: BlobSource, paths: Callable[[str], Sequence[str]]) -> None:
        self.box, self._paths = box, paths
        self.known: dict[str, bytes] = {}

    def path(self, digest: str) -> str:
        streams.algorithm(digest, self.box.where)  # it becomes a path
        paths = self._paths(digest)
        return next((each for each in paths if self.box.has(each)), paths[0])

    def json(self, blob: _Descriptor, what: str) -> tuple[bytes, dict[str, Json]]:
        text = self.known.get(blob.digest)
        if text is None:
            text = read(self.box, self.path(blob.digest), blob.size)
            found = streams.digest(text, streams.algorithm(blob.digest, self.box.where))
            if found != blob.digest:
                fix = "fetch or save it again"
                raise ImageError(f"{what} has the digest {found} instead of {blob.digest}", where=self.box.where, fix=fix)
        return text, parsed(text, dict, what, self.box.where)


def _image(
    blobs: _Blobs, descriptors: Sequence[_Descriptor], image_names: Sequence[str], aliases: Sequence[str] = ()
) -> Source:
    where = blobs.box.where
    manifests = list(_manifests(blobs, descriptors, ()))
    digests, manifest = _for_platform(blobs, manifests)
    try:
        stated, layers = _descriptor(manifest["config"]), [_descriptor(each) for each in manifest["layers"]]
    except (KeyError, TypeError) as error:
        raise ImageError(f"the image's manifest has no {error}", where=where, fix="fetch or save it again") from error
    if stated.kind and stated.kind not in CONFIGS:
        raise ImageError(f"it is not a container image, but {stated.kind}", where=where)
    text, _ = blobs.json(stated, "the image's configuration")
    bare = [_layer(blobs, each, number) for number, each in enumerate(layers, 1)]
    return Source(text, streams.digest(text), lambda _: with_diff_ids(bare, text, where), image_names, [*aliases, *digests])


def _layer(blobs: _Blobs, blob: _Descriptor, number: int) -> Layer:
    path = blobs.path(blob.digest)
    return Layer(lambda: blobs.box.open(path), f"layer {number} of {blobs.box.where}", blob.digest, blob.size)


_Manifest = tuple[Sequence[str], tuple[str, str, str] | None, dict[str, Json]]
"""The digests of the manifest and of the indexes that led to it; its platform; the manifest."""


def _manifests(blobs: _Blobs, descriptors: Sequence[_Descriptor], above: Sequence[str]) -> Iterator[_Manifest]:
    """Yield the manifests of descriptors, through indexes; only those whose platform fits are read."""
    where = blobs.box.where
    if len(above) > DEEPEST:
        raise ImageError("its indexes contain one another", where=where)
    for each in descriptors:
        if each.platform and each.platform[:2] != (OS, ARCHITECTURE):
            yield (each.digest,), each.platform, {}
            continue
        _, found = blobs.json(each, "the image's manifest")
        if found.get("schemaVersion") == 1:
            raise ImageError("its manifest is of Docker's schema 1", where=where, fix="push it again with Docker 1.10 or later")
        if "manifests" in found:
            yield from _manifests(blobs, _descriptors(found, "the image's index", where), (*above, each.digest))
        else:
            yield (*above, each.digest), each.platform, found


def _for_platform(blobs: _Blobs, manifests: Sequence[_Manifest]) -> tuple[Sequence[str], dict[str, Json]]:
    """Return the manifest for a lab's platform: of several the one of the plainest variant."""
    where = blobs.box.where
    fitting = [each for each in manifests if each[1] and each[1][:2] == (OS, ARCHITECTURE)]
    unstated = [each for each in manifests if not each[1]]
    if not fitting and len(unstated) > 1:
        fitting = [each for each in unstated if _platform(blobs, each[2]) == (OS, ARCHITECTURE)]
        if len(fitting) > 1:
            raise choice("", [digests[-1] for digests, _, _ in fitting], where)
    if found := min(fitting or unstated, key=lambda each: each[1][2] if each[1] else "", default=None):
        return found[0], found[2]
    there = sorted({"/".join(filter(None, platform)) for _, platform, _ in manifests if platform and platform[0] != "unknown"})
    raise ImageError(
        f"the image is for {', '.join(there) or 'no platform'}, and a lab runs programs for {OS}/{ARCHITECTURE} (x86-64)",
        where=where, fix=f"build or fetch it for --platform {OS}/{ARCHITECTURE}",
    )  # fmt: skip


def _platform(blobs: _Blobs, manifest: Mapping[str, Json]) -> tuple[str, str]:
    text, _ = blobs.json(_descriptor(manifest.get("config")), "the image's configuration")
    found = parse(text, blobs.box.where)
    return found.os, found.architecture


def _descriptors(index: Mapping[str, Json], what: str, where: str) -> list[_Descriptor]:
    try:
        return [_descriptor(each) for each in index["manifests"]]
    except (KeyError, TypeError) as error:
        raise ImageError(f"{what} has no {error}", where=where, fix="save it again") from error


def _descriptor(value: Any) -> _Descriptor:
    """Raises KeyError and TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError("descriptors")
    notes, platform = value.get("annotations") or {}, value.get("platform")
    if not isinstance(notes, dict) or not isinstance(platform, dict | None):
        raise TypeError("annotations and platform")
    if not isinstance(value["digest"], str) or not isinstance(value["size"], int):
        raise TypeError("digest and size")
    of = tuple(str(platform.get(key) or "") for key in ("os", "architecture", "variant")) if platform else None
    return _Descriptor(
        value["digest"], value["size"], of if of is None else (of[0], of[1], of[2]),
        str(notes.get(WHOLE_NAME) or notes.get(TAG) or ""), str(value.get("mediaType") or ""),
    )  # fmt: skip
