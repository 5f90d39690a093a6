"""The kept images: a folder for each, named by the digest of the image's configuration.

That digest is what Docker and Podman show as the image's ID. The configuration holds the digests of the layers, so an image has
the same one wherever it comes from. The same functions work on the host and, read-only, inside a lab.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypedDict

from slownet.containers import image_names
from slownet.containers.config import Config, parse
from slownet.lab.build import cache, digests, shelf
from slownet.lab.build.digests import LISTS, NUMBER, RATIO, TEXT, TEXTS, Part
from slownet.lab.build.shelf import Shelf
from slownet.lab.host import native
from slownet.lab.run import container_shares
from slownet.model.errors import DamagedError, ImageError, nearest

CONFIG, FACTS, SQUASHFS = "config.json", "image.json", "root.squashfs"
MOST_SEEN = 16
SHORT = 12
"""Hexadecimal digits of a digest in tables and messages."""


class _Names(TypedDict):
    """The record of an image: its names and its origin."""

    digest: str
    names: list[str]
    source: str
    aliases: list[str]
    seen: dict[str, Sequence[str]]


class _Record(_Names):
    """The record of a kept image."""

    size: int
    added: float


@dataclass(frozen=True)
class StoredImage:
    """An image that is kept."""

    folder: Path
    digest: str
    """``sha256:`` and 64 hexadecimal digits."""
    names: Sequence[str] = ()
    size: int = 0
    """Bytes of its squashfs."""
    added: float = 0.0
    """When it was last added, in seconds since 1970."""
    source: str = ""
    """The source that it was added from; empty if that was a pipe."""
    aliases: Sequence[str] = field(default=(), repr=False)
    """Other digests of the same image: its manifest's, its index's."""
    seen: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    """Fingerprints of files and folders that hold this image, and the names that each gave it."""
    damage: DamagedError | None = field(default=None, repr=False, compare=False)
    """Why its record cannot be read; it then has no names."""

    @property
    def squashfs(self) -> Path:
        """Its root file system."""
        return self.folder / SQUASHFS

    @cached_property
    def config(self) -> Config:
        """Its configuration. Raises ImageError."""
        return parse((self.folder / CONFIG).read_bytes(), str(self.folder / CONFIG))

    @property
    def name(self) -> str:
        """Its first name, or the beginning of its digest if it has none."""
        return self.names[0] if self.names else short(self.digest)


def short(digest: str) -> str:
    """Return the first digits of a digest."""
    return digest.removeprefix("sha256:")[:SHORT]


def root() -> Path:
    """Return the folder of the kept images, on the host or in a lab; it may be missing yet."""
    return container_shares.root()


def kept() -> list[StoredImage]:
    """Return all kept images, the newest first. A name belongs to the newest that has it."""
    found = sorted(_all(), key=lambda each: (-each.added, each.digest))
    taken: set[str] = set()
    for number, each in enumerate(found):
        found[number] = replace(each, names=tuple(name for name in each.names if name not in taken))
        taken.update(each.names)
    return found


def _all() -> Iterator[StoredImage]:
    """Yield the images of this user's, then those of the system's cache that the user has not."""
    seen: set[str] = set()
    damaged: dict[str, StoredImage] = {}
    for folder in filter(None, (root(), container_shares.system())):
        for path in folder.glob("sha256-*"):
            if path.name in seen:
                continue
            try:
                yield _load(path)
                seen.add(path.name)
            except DamagedError as error:
                if path.is_dir():  # else it was removed meanwhile
                    damaged.setdefault(path.name, StoredImage(path, path.name.replace("-", ":", 1), damage=error))
    yield from (each for name, each in damaged.items() if name not in seen)


def _load(folder: Path) -> StoredImage:
    """Return the image of a folder from its record, without a look at its files. Raises DamagedError."""
    digest = folder.name.replace("-", ":", 1)
    part = replace(PART, what=f"the kept image {short(digest)}")
    facts = digests.facts(folder / FACTS, part, WANTED)
    if facts["digest"] != digest:
        raise part.damaged(folder / FACTS, "belongs to another image")
    return StoredImage(
        folder, digest, tuple(facts["names"]), facts["size"], facts["added"], facts["source"], tuple(facts["aliases"]),
        facts["seen"],
    )  # fmt: skip


def _part(image: StoredImage) -> Part:
    fix = f"slownet lab image add {image.source}" if image.source else PART.fix
    return replace(PART, what=f"the kept image {image.name}", fix=fix)


WANTED = {
    "digest": TEXT, "names": TEXTS, "size": NUMBER, "added": RATIO, "source": TEXT, "aliases": TEXTS, "seen": LISTS,
}  # fmt: skip
PART = Part("a kept image", (CONFIG, SQUASHFS), "slownet lab image add REF adds it again", (FACTS,))
SHELF = Shelf(container_shares.KIND, PART, _load, _part)


def check(image: StoredImage) -> None:
    """Raise ImageError if an image is damaged. A lab, where no day of the host's passes, looks at sizes and times alone."""
    try:
        SHELF.load(image.folder, daily=not native.inside_lab())
    except DamagedError as error:
        raise ImageError(error.what, error.where, error.fix) from error


def sound() -> tuple[list[StoredImage], list[DamagedError]]:
    """Return the kept images as `kept` does, and instead of those that are damaged by their sizes and times, the errors."""
    whole, damaged = [], []
    for each in kept():
        try:
            SHELF.load(each.folder, daily=False)
            whole.append(each)
        except DamagedError as error:
            damaged.append(error)
    return whole, damaged


def is_whole(digest: str) -> bool:
    """Return whether the image of a digest is kept for this user, and is not damaged."""
    folder = root() / digest.replace(":", "-")
    return folder.is_dir() and SHELF.is_whole(folder)


def find(name_or_digest: str) -> StoredImage | None:
    """Return the image of that name or digest, or None.

    A name may lack its registry (``shop:1`` for ``localhost/shop:1``) and its tag (``latest``); of a digest six digits suffice.
    Raises ImageError if several images fit.
    """
    images = kept()
    asked, _, pinned = name_or_digest.partition("@")
    if pinned:
        return _only(name_or_digest, [each for each in images if pinned in (each.digest, *each.aliases)])
    exact = [each for each in images if image_names.with_tag(asked) in each.names]
    named = exact or [each for each in images if any(image_names.matches(asked, name) for name in each.names)]
    return _only(asked, named or [each for each in images if _is_digest(asked, each)])


def _is_digest(asked: str, image: StoredImage) -> bool:
    return any(image_names.is_prefix(asked, each) for each in (image.digest, *image.aliases))


def _only(asked: str, found: Sequence[StoredImage]) -> StoredImage | None:
    if len(found) > 1:
        which = ", ".join(sorted(each.name for each in found))
        raise ImageError(f"'{asked}' is the name of several images: {which}", fix="write the whole name, or the digest")
    return found[0] if found else None


def need(name_or_digest: str) -> StoredImage:
    """Return the image of that name or digest. Raises ImageError with the command that adds it, also if it is damaged."""
    found = find(name_or_digest)
    if found:
        check(found)
    else:
        for error in filter(None, (each.damage for each in kept())):  # it may be the one: its names are in that record
            raise ImageError(f"there is no image '{name_or_digest}', and {error.what}", error.where, error.fix)
        words = [name for each in kept() for name in each.names]
        add = f"slownet lab image add {name_or_digest}"
        if words:
            hint = nearest(name_or_digest, words)
            add = f"{hint}{' Or' if hint.endswith('?') else ', or'} add it: {add}"
        raise ImageError(f"there is no image '{name_or_digest}'", fix=add)
    return found


def known(name_or_digest: str) -> StoredImage:
    """Return the image of that name or digest. Raises ImageError with the nearest name."""
    found = find(name_or_digest)
    if not found:
        words = [word for each in kept() for word in (*each.names, short(each.digest))]
        raise ImageError(f"there is no image '{name_or_digest}'", fix=nearest(name_or_digest, words))
    return found


def add(
    digest: str,
    config: bytes,
    build: Callable[[Path], None],
    *,
    names: Iterable[str] = (),
    source: str = "",
    aliases: Iterable[str] = (),
    seen: Mapping[str, Sequence[str]] | None = None,
) -> StoredImage:
    """Keep an image, or add names to the kept one; the names leave other images.

    digest: the configuration's digest.
    config: the configuration, as it came.
    build: called with an empty folder, only if the image is not kept yet; makes `SQUASHFS` there and leaves nothing else. What
        it leaves is kept whole or not at all.
    names, source, aliases, seen: as in `StoredImage`.
    Raises SlownetError: what `build` raises, or LabError if the folder cannot be written to.
    """
    facts: _Names = {
        "digest": digest,
        "names": list(names),
        "source": source,
        "aliases": list(aliases),
        "seen": dict(seen or {}),
    }

    kept_as = root() / digest.replace(":", "-")
    if kept_as.is_dir() and not SHELF.is_whole(kept_as):  # it is made anew, and keeps its names
        with contextlib.suppress(DamagedError):
            facts["names"] = list(dict.fromkeys([*facts["names"], *_load(kept_as).names]))

    def make(folder: Path) -> None:
        build(folder)
        (folder / CONFIG).write_bytes(config)
        _write(folder, {**facts, "size": (folder / SQUASHFS).stat().st_size, "added": time.time()})

    while True:
        folder, _ = SHELF.place(kept_as.name, make)
        with _changing(), contextlib.suppress(FileNotFoundError, DamagedError):  # somebody removed it meanwhile
            return _named(folder, facts)


def add_names(image: StoredImage, names: Iterable[str], source: str) -> StoredImage | None:
    """Add names to a kept image; return it, or None if it was removed meanwhile."""
    facts: _Names = {"digest": image.digest, "names": list(names), "source": source, "aliases": [], "seen": {}}
    with _changing(), contextlib.suppress(FileNotFoundError, DamagedError):
        return _named(image.folder, facts)
    return None


def _named(folder: Path, facts: _Names) -> StoredImage:
    """Add names and more to an image's record; the names leave other images."""
    before = _load(folder)
    merged: _Record = {
        **facts,
        "source": facts["source"] or before.source,
        "names": list(dict.fromkeys([*facts["names"], *before.names])),
        "aliases": list(dict.fromkeys([*facts["aliases"], *before.aliases])),
        "seen": dict([*before.seen.items(), *facts["seen"].items()][-MOST_SEEN:]),
        "size": before.size,
        "added": time.time(),
    }
    # First this one: whoever reads between the two writes finds the name at the newest image.
    _write(folder, merged)
    for other in _all():
        rest = [each for each in other.names if each not in facts["names"]]
        if other.folder.parent == folder.parent and other.folder != folder and len(rest) < len(other.names):
            _write(other.folder, _facts(replace(other, names=rest)))
    return _load(folder)


def remove(name_or_digest: str) -> tuple[StoredImage, bool]:
    """Remove a name, and the image itself if that was its last name or its digest is given.

    Returns the image as it was, and whether it is gone. Raises ImageError.
    """
    with _changing():
        found = known(name_or_digest)
        if found.folder.parent != root():
            raise ImageError(f"image {found.name} belongs to all users of this machine", str(found.folder), "remove it as root")
        exact = image_names.with_tag(name_or_digest)
        leaving = [exact] if exact in found.names else [each for each in found.names if image_names.matches(exact, each)]
        rest = [each for each in found.names if each not in leaving]
        if rest and leaving:
            _write(found.folder, _facts(replace(found, names=rest)))
            return found, False
        _discard(found.folder)
        return found, True


def _discard(folder: Path) -> None:
    """Remove an image's folder; it is gone under its name at once, and the rest is swept if this is killed."""
    going = folder.with_name(f".{folder.name}.gone.half")
    shutil.rmtree(going, ignore_errors=True)
    folder.rename(going)
    shelf.forget(folder)
    shutil.rmtree(going, ignore_errors=True)


def _facts(image: StoredImage) -> _Record:
    return {
        "digest": image.digest,
        "names": list(image.names),
        "aliases": list(image.aliases),
        "seen": dict(image.seen),
        "size": image.size,
        "added": image.added,
        "source": image.source,
    }


def _write(folder: Path, facts: _Record) -> None:
    """Replace an image's record at once: a lab may read it at any time."""
    half = folder / f".{FACTS}"
    half.write_text(json.dumps(facts, indent=1) + "\n")
    half.rename(folder / FACTS)


@contextlib.contextmanager
def _changing() -> Iterator[None]:
    """Change records alone: two processes that add or remove images wait for each other."""
    try:
        root().mkdir(parents=True, exist_ok=True)
        with (root() / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise cache.not_writable(error, root()) from error
