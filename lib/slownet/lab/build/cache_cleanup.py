"""Entries of the cache that neither this version of slownet nor a project on this machine uses: it can be built again.

If the cache is another user's, this is about the user's own folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.build import cache, kernel, kernel_package, layer, project, shelf
from slownet.lab.build.digests import Part
from slownet.lab.build.parts import Parts
from slownet.lab.build.shelf import Shelf
from slownet.lab.exact import exact_parts as exact_image
from slownet.lab.exact import standstill
from slownet.model.errors import DamagedError, LabError

WARM = "warm"
"""The kind of snapshots of prepared services; see `slownet.runner.boot_store.task`."""
SNAPSHOTS: Shelf[Path] = Shelf(WARM, Part("the snapshot of prepared services", (), "slownet lab clean"), lambda folder: folder)
IN_USE = {WARM: "a sweep uses it", standstill.KIND: "an exact lab uses it"}
"""Kinds of what is only kept for speed, and goes unless it is used now; and what that is called."""
DOWNLOAD = "download"
"""The kind of labs that are being fetched; see `slownet.transfer.lab_download`."""
COSTS = "costs"
"""The folder of client programs' packages; see `slownet.costs.packages`. It goes as a whole: all of it can be fetched again."""


@dataclass(frozen=True)
class Entry:
    """A folder of the cache: a kernel, an image, an init, a layer, a snapshot, an unfinished one of them, or all of costs."""

    path: Path
    why: str
    """Why it can go, or what uses it."""

    @property
    def size(self) -> int:
        """Bytes on disk; a link to a folder elsewhere has none."""
        if self.path.is_symlink():
            return 0
        return cache.disk_bytes(self.path)

    def __str__(self) -> str:
        return f"{self.path.parent.name} {self.path.name.strip('.')}, {self.size / 2**20:.1f} MB: {self.why}"


def entries(found: Parts) -> tuple[list[Entry], list[Entry]]:
    """Return what the cache must keep and what can go. found: the parts of this version. Raises LabError."""
    used = {
        "kernel": {
            found.kernel.path.parent.name: "this version of slownet",
            kernel.key(kernel.WIDE): "the wide kernel of this version of slownet",
        },
        "image": {found.image.path.parent.name: "this version of slownet"},
        "init": {found.tools.name: "this version of slownet"},
        "exact-kernel": {kernel_package.key(): "exact labs of this version of slownet"},
        "exact-image": {exact_image.key(found): "exact labs of this version of slownet"},
        "layer": _layers(found),
        **{kind: _in_use(kind) for kind in IN_USE},
        DOWNLOAD: {},
    }
    kept, unused = [], []
    for kind, names in used.items():
        for path in sorted((cache.writable_root() / kind).glob("*")):
            if path.name.endswith(cache.HALF):
                unused += [Entry(path, "a build was killed")] if not _is_locked(path) else []
            elif not path.name.startswith("."):
                if path.name in names:
                    kept.append(Entry(path, names[path.name]))
                else:
                    unused.append(Entry(path, _why(kind, path)))
    costs = cache.writable_root() / COSTS
    if costs.is_dir() and any(costs.iterdir()):
        if cache.is_in_use(costs):
            kept.append(Entry(costs, "slownet costs uses it"))
        else:
            unused.append(Entry(costs, "packages that slownet costs fetches again"))
    return kept, unused


def remove(entry: Entry) -> None:
    """Remove a folder of the cache; no other process sees it half removed. Raises LabError."""
    try:
        if entry.path.is_symlink():
            entry.path.unlink()
            return
        if (entry.path.parent.name in IN_USE or entry.path.name == COSTS) and not entry.path.name.endswith(cache.HALF):
            if cache.remove_unused(entry.path):
                shelf.forget(entry.path)
            return
        gone = entry.path if entry.path.name.endswith(cache.HALF) else entry.path.with_name(f".{entry.path.name}{cache.HALF}")
        entry.path.rename(gone)
        shutil.rmtree(gone)
        shelf.forget(entry.path)
    except OSError as error:
        raise LabError(f"cannot remove {entry.path} ({error.strerror})", fix="run it as the user who built the lab") from error


def forget_projects() -> None:
    """Remove the notes of projects whose files are gone."""
    for note, file in layer.known().items():
        if not file.is_file():
            with contextlib.suppress(OSError):
                note.unlink()


def _layers(found: Parts) -> Mapping[str, str]:
    """Return the layers that projects on this machine use now, each with a project's file."""
    used: dict[str, str] = {}
    costs = cache.writable_root() / COSTS
    is_measuring = costs.is_dir() and cache.is_in_use(costs)
    for file in layer.known().values():
        if file.is_relative_to(costs) and not is_measuring:
            continue  # goes with the packages beside it
        try:
            its = project.at(file)
        except LabError:  # what it needs cannot be read now: keep what it has built
            built = (path.name for path in (cache.writable_root() / "layer").glob("[!.]*") if _project(path) == str(file))
            used |= dict.fromkeys(built, str(file))
            continue
        if its and its.needs_layer:
            used[layer.key(its, found.image.key)] = str(file)
    return used


def _project(path: Path) -> str:
    """Return the file of the project that built a layer; empty if its facts are damaged."""
    with contextlib.suppress(DamagedError):
        return layer.load(path).project
    return ""


def _in_use(kind: str) -> Mapping[str, str]:
    """Return the folders of a kind that processes use now."""
    found = (each for each in (cache.writable_root() / kind).glob("[!.]*") if each.is_dir())
    return {each.name: IN_USE[kind] for each in found if cache.is_in_use(each)}


def _why(kind: str, path: Path) -> str:
    if kind == WARM:
        return "a sweep that needs it makes it again"
    if kind == standstill.KIND:
        return "an exact lab that needs it makes it again"
    if kind == DOWNLOAD:
        return "a lab that was not fetched to its end"
    if kind != "layer":
        return "of another version of slownet"
    try:
        return f"no project uses it ({', '.join(layer.load(path).asked)})"
    except DamagedError:
        return "no project uses it, and it is damaged"


def _is_locked(half: Path) -> bool:
    """Return whether a build is filling this folder now."""
    try:
        with cache.left_alone(half):
            return False
    except BlockingIOError:
        return True
    except OSError as error:
        raise LabError(f"cannot read the lock of {half} ({os.strerror(error.errno or 0)})") from error
