"""Reads a service's volumes: binds of the host's files, named volumes, and tmpfs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from slownet.compose.document import Map, Place
from slownet.compose.model import Volume
from slownet.compose.project_files import Source
from slownet.lab.run.folders import refused
from slownet.model.errors import ComposeError, nearest
from slownet.model.userfile import beside

_TMPFS = re.compile(
    r"(?:size=\d+[kmgKMG%]?|mode=0?[0-7]{3,4}|[ug]id=\d+|nr_(?:inodes|blocks)=\d+[kmg]?|ro|rw|(?:no)?(?:exec|suid|dev|atime|diratime)"
    r"|relatime|strictatime|sync|async|dirsync)"
)
"""Options of a tmpfs, as Docker takes them."""
SHM = "/dev/shm"
_SIZE = re.compile(r"(\d+)([kmg])(?:i?b)?", re.IGNORECASE)


class Storage:
    """Reads volumes of a project's services. warnings: gets what differs from a container engine."""

    def __init__(self, source: Source, warnings: list[str]) -> None:
        self._source, self._warnings = source, warnings
        self._named_so_far: set[str] = set()

    def path(self, given: str, at: Place) -> Path:
        """Return a path that the files name, as a whole one. Raises ComposeError."""
        return beside(self._source.folder.absolute(), given, str(at), ComposeError)

    def volumes(self, tree: Map) -> Iterator[Volume]:
        """Yield what a service mounts, with its tmpfs. Raises ComposeError."""
        taken: dict[str, Place] = {}
        for volume, at in [*self._stated(tree), *self._tmpfs(tree)]:
            target = str(PurePosixPath(volume.target))
            if target in taken:
                raise ComposeError(
                    f"two volumes are mounted on {target}", str(at), f"the other one is in line {taken[target].line}"
                )
            taken[target] = at
            yield volume
        if tree.get("shm_size") and SHM not in taken:
            yield _shared_memory(tree)

    def _stated(self, tree: Map) -> Iterator[tuple[Volume, Place]]:
        for number, each in enumerate(tree.get("volumes") or ()):
            at = tree["volumes"].at[number]
            if not each.get("target"):
                raise ComposeError("a volume lacks a target", str(at), "add target: with a path in the container")
            read_only = each.get("read_only") is True
            if each.get("unknown"):
                self._warn(f"{at}: ignored: {each['unknown']} of the volume {each['target']}, as in compose")
            kind = each["type"]
            if kind == "bind":
                yield self._bind(each, read_only, at), at
            elif kind == "volume":
                yield self._named(each, read_only, at), at
            elif kind == "tmpfs":
                yield Volume("tmpfs", each["target"], read_only=read_only, options=tuple(_tmpfs_options(each.get("tmpfs")))), at
            else:
                raise ComposeError(
                    f"a volume of the type {kind} is not possible in a lab", str(at), "use bind, volume or tmpfs"
                )

    def _tmpfs(self, tree: Map) -> Iterator[tuple[Volume, Place]]:
        for number, each in enumerate(tree.get("tmpfs") or ()):
            target, _, options = str(each).partition(":")
            at = tree["tmpfs"].at[number]
            if not target.startswith("/"):
                raise ComposeError(f"'{target}' is not a whole path in the tmpfs '{each}'", str(at), "write /path:size=64m")
            stated = [option for option in options.split(",") if option]
            for option in stated:
                if not _TMPFS.fullmatch(option):
                    raise ComposeError(f"unknown option '{option}' of the tmpfs {target}", str(at), "write size=64m, mode=1777")
            yield Volume("tmpfs", target, read_only="ro" in stated, options=tuple(_but_access(stated))), at

    def _bind(self, each: Map, read_only: bool, at: Place) -> Volume:
        if not each.get("source"):
            raise ComposeError("a bind lacks a source", str(at), "add source: with a path of this machine")
        path = Path(os.path.realpath(self.path(str(each["source"]), at)))
        if path.is_dir() or path.is_file():
            return self._of_host(path, each["target"], read_only, at)
        if path.is_socket():
            self._warn(f"{at}: {path} is a socket of this machine, which a lab has not; {each['target']} is empty")
            return Volume("volume", each["target"], "", read_only)
        if path.exists():
            raise ComposeError(
                f"{path} is neither a file nor a folder", str(at), "a lab has no sockets or devices of the host's"
            )
        if (each.get("bind") or {}).get("create_host_path", True) is False:
            raise ComposeError(f"no {path}", str(at), "create it")
        self._warn(f"{at}: there is no {path}; {each['target']} is empty at first")
        return Volume("volume", each["target"], "", read_only)

    def _of_host(self, path: Path, target: str, read_only: bool, at: Place) -> Volume:
        if why := refused(path, at_own_path=False):
            raise ComposeError(f"{path} {why}", str(at), "bind a folder of files that the service needs")
        if not read_only:
            self._warn(f"{at}: what is written to {target} stays in the lab; add :ro to say so")
        return Volume("bind", target, str(path), read_only)

    def _named(self, each: Map, read_only: bool, at: Place) -> Volume:
        name = str(each.get("source") or "")
        inner = each.get("volume") or {}
        subpath, copies = str(inner.get("subpath") or ""), inner.get("nocopy") is not True
        declared: Any = self._source.tree.get("volumes") or {}
        if name and name not in declared:
            fix = (
                f"add it below volumes: at the top; {nearest(name, declared)}"
                if declared
                else "add it below volumes: at the top"
            )
            raise ComposeError(f"the volume '{name}' is not declared", str(at), fix)
        if subpath and (not name or subpath.startswith("/") or ".." in Path(subpath).parts):
            volume = f"the volume {name!r}" if name else "a volume without a name"
            what = f"the subpath '{subpath}' of {volume} is not a folder in it"
            raise ComposeError(what, str(at), "write a relative path, without .., in a named volume")
        device = self._device(name, declared[name]) if name and isinstance(declared[name], Map) else None
        if device is None:
            return Volume("volume", each["target"], name, read_only, subpath, copies)
        if subpath and not os.path.isdir(device / subpath):  # which has no error of its own for a long name
            raise ComposeError(f"no folder {device / subpath}", str(at), "create it")
        options = str((declared[name].get("driver_opts") or {}).get("o") or "").split(",")
        return self._of_host(Path(os.path.realpath(device / subpath)), each["target"], read_only or "ro" in options, at)

    def _device(self, name: str, declared: Map) -> Path | None:
        """Return the folder of this machine that a volume is; None if it is one of the lab's memory. Raises ComposeError."""
        if declared.get("external") and name not in self._named_so_far:
            self._warn(f"{declared.place}: the volume '{name}' is external, and empty at first")
        options: Any = declared.get("driver_opts") or {}
        kind, device = str(options.get("type") or "none"), str(options.get("device") or "")
        stated = [each for each in str(options.get("o") or "").split(",") if each]
        if options and kind not in ("none", "bind", "tmpfs"):
            what = f"the volume '{name}' is of the type {kind}, which a lab has not"
            raise ComposeError(what, str(options.keys_at["type"]), "use a folder: type: none, o: bind, device: ./folder")
        binds = bool(device) and ("bind" in stated or "rbind" in stated or kind == "bind")
        if device and kind == "none" and not binds:
            raise ComposeError(
                f"the volume '{name}' has a device, and no o: bind", str(options.keys_at["device"]), "add o: bind"
            )
        others = [each for each in stated if not binds or each not in ("bind", "rbind", "ro", "rw")]
        if others and name not in self._named_so_far:
            self._warn(f"{options.keys_at['o']}: ignored: {', '.join(others)} of the volume '{name}'")
        self._named_so_far.add(name)
        if not binds:
            return None
        path = Path(os.path.realpath(self.path(device, options.keys_at["device"])))
        if not path.is_dir():
            raise ComposeError(f"no folder {path} for the volume '{name}'", str(options.keys_at["device"]), "create it")
        return path

    def _warn(self, line: str) -> None:
        self._warnings.append(line)


def _but_access(options: Iterable[str]) -> Iterator[str]:
    """Yield the options of a tmpfs that are not defaults: whether it may be written to is the mount's own."""
    return (each for each in options if each not in ("ro", "rw"))


def _shared_memory(tree: Map) -> Volume:
    """Return POSIX shared memory of the given size, in place of the usual 64 MB. Raises ComposeError."""
    size = f"size={_size(tree['shm_size'])}"
    if not _TMPFS.fullmatch(size):
        raise ComposeError(f"unclear shm_size '{tree['shm_size']}'", str(tree.keys_at["shm_size"]), "write 256m")
    return Volume("tmpfs", SHM, options=("mode=1777", size))


def _tmpfs_options(stated: Any) -> Iterator[str]:
    """Yield the mount options of a tmpfs in the long form. Raises ComposeError."""
    mode = stated.get("mode") if isinstance(stated, Map) else None
    if isinstance(mode, str):
        raise ComposeError(f"the mode of a tmpfs is the text '{mode}'", str(stated.keys_at["mode"]), "write a number: 01777")
    for name in ("size", "mode"):
        value = stated.get(name) if isinstance(stated, Map) else None
        if value in (None, 0, ""):
            continue
        word = f"{name}={value:o}" if name == "mode" and isinstance(value, int) else f"{name}={_size(value)}"
        if not _TMPFS.fullmatch(word):
            raise ComposeError(f"unclear {name} '{value}' of a tmpfs", str(stated.keys_at[name]), "write 64m, or mode: 01777")
        yield word


def _size(value: Any) -> str:
    """Return a size as the kernel reads it: 64mb and 64MiB are 64m."""
    found = _SIZE.fullmatch(str(value))
    return f"{found[1]}{found[2].lower()}" if found else str(value)
