"""Writes a built lab to one file: a tar whose first member is its manifest, with the same bytes for the same lab."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from slownet.containers import store
from slownet.lab.build import kernel, layer, parts, project
from slownet.lab.build.digests import LOG, RECORD
from slownet.lab.build.image import Image
from slownet.lab.build.kernel import Kernel
from slownet.lab.build.parts import Parts
from slownet.lab.build.project import Project
from slownet.model import whole_file
from slownet.model.errors import LabError
from slownet.model.version import __version__
from slownet.transfer.manifest import NAME, Manifest, Member

SOURCES = "SOURCES"
IMAGE = "Debian's source packages of the versions in image.json; slownet's source archive has the script that installs them"

SITE = re.compile(r"wordpress|mariadb-server|php[0-9.]+-fpm")
"""The packages whose programs and files the WordPress site comes from."""


def of_kernel(kernel: Kernel) -> str:
    """Return where a kernel's source code is."""
    ours = f"lib/slownet/lab/build/linux in slownet {__version__}'s source archive"
    return f"Debian's {kernel.source}, with the patches and the configuration of {ours}"


def of_init() -> str:
    """Return where the source code of init, confine and probe is."""
    ours = f"lib/slownet/lab in slownet {__version__}'s source archive"
    return f"init.c, confine.c and probe.c of {ours}, and the glibc of the Debian that compiled them"


def of_site(image: Image) -> str:
    """Return where the source code of an image's WordPress site is, and of the programs that made it."""
    made_by = ", ".join(f"{name} {version}" for name, version in sorted(image.packages.items()) if SITE.fullmatch(name))
    ours = f"lib/slownet/lab in slownet {__version__}'s source archive"
    return f"Debian's source packages of {made_by}, with provision, make-site and wordpress of {ours}"


@dataclass(frozen=True)
class _File:
    """A member, and where its content is."""

    name: str
    path: Path | None
    text: bytes = b""

    @contextlib.contextmanager
    def open(self) -> Iterator[io.BufferedIOBase]:
        with self.path.open("rb") if self.path else io.BytesIO(self.text) as file:
            yield file

    @property
    def member(self) -> Member:
        with self.open() as file:
            digest = hashlib.file_digest(file, "sha256")
            size = file.seek(0, os.SEEK_END)
        return Member(self.name, size, digest.hexdigest(), self.path is not None and os.access(self.path, os.X_OK))


def write(path: Path, of: Project | None, images: bool, *, only_base: bool = False) -> Manifest:
    """Write this machine's lab to a file; return its manifest.

    It holds kernel, init and image, the wide kernel, too, if it is built, the layers that projects on this machine use, and
    with `images` all kept container images. `only_base`: what every machine builds, so without the wide kernel and the layers.
    Measurements of this machine are not part of it. The file gets its name when it is whole.
    Raises LabError; ExperimentError if it cannot be written.
    """
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise LabError(f"{path if path.is_dir() else folder} is {'' if path.is_dir() else 'not '}a folder", fix="name a file")
    found = parts.need()
    others = () if only_base else (*_wide(), *_layers(found, of))
    files = [*_parts(found), *others, *(_images() if images else ())]
    with whole_file.output(path) as half:
        return _write(half, files, found)


def _write(output: BinaryIO, files: Sequence[_File], found: Parts) -> Manifest:
    said = {
        "kernel": of_kernel(found.kernel),
        "init": of_init(),
        "image": IMAGE,
    }
    manifest = Manifest([each.member for each in files], parts.keys(), said)
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, Member(NAME, len(manifest.text()), ""), io.BytesIO(manifest.text()))
        for each, member in zip(files, manifest.members, strict=True):
            with each.open() as content:
                _add(tar, member, content)
    return manifest


def _add(tar: tarfile.TarFile, member: Member, content: io.BufferedIOBase) -> None:
    info = tarfile.TarInfo(member.name)
    info.size, info.mode = member.size, member.mode
    tar.addfile(info, content)


def _parts(found: Parts) -> Iterator[_File]:
    yield from _folder("kernel", found.kernel.path.parent)
    yield from _folder("init", found.tools)
    yield from _folder("image", found.image.path.parent)


def _wide() -> Iterator[_File]:
    if wide := kernel.find(kernel.WIDE):
        yield from _folder("kernel", wide.path.parent)


def _layers(found: Parts, of: Project | None) -> Iterator[_File]:
    """Yield the layers of the projects on this machine that are built on this image."""
    files = {each for each in layer.known().values() if each.is_file()}
    projects = [of] if of else []
    for file in sorted(files):
        with contextlib.suppress(LabError):  # its file cannot be read now
            its = project.at(file)
            projects += [its] if its else []
    built = (layer.find(each, found.image) for each in projects if each.needs_layer)
    for _, each in sorted({each.key: each for each in built if each}.items()):
        yield from _folder("layer", each.path.parent)


def _images() -> Iterator[_File]:
    for each in sorted(store.kept(), key=lambda image: image.digest):
        kind = f"containers/{each.folder.name}"
        facts = {
            "digest": each.digest,
            "names": list(each.names),
            "source": each.source,
            "aliases": list(each.aliases),
        }
        yield _File(f"{kind}/{store.FACTS}", None, (json.dumps(facts, indent=1) + "\n").encode())
        for name in (store.CONFIG, store.SQUASHFS):
            yield _File(f"{kind}/{name}", each.folder / name)


def _folder(kind: str, folder: Path) -> Iterator[_File]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix != LOG and path.name != RECORD:  # who imports it writes its own record
            yield _File(f"{kind}/{folder.name}/{path.name}", path)
