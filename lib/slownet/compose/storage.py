"""Reads a service's volumes: binds of the host's files, named volumes, and tmpfs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from slownet.compose.document import Map, Place
from slownet.compose.files import Source
from slownet.compose.model import Volume
from slownet.errors import ComposeError, nearest
from slownet.lab.folders import refused
from slownet.userfile import expanded


class Storage:
    """Reads volumes of a project's services. warnings: gets what differs from a container engine."""

    def __init__(self, source: Source, warnings: list[str]) -> None:
        self._source, self._warnings = source, warnings

    def path(self, given: str) -> Path:
        """Return a path that the files name, as a whole one. Raises ComposeError."""
        if "\0" in given:
            raise ComposeError(f"a null byte in the path {given!r}", fix="correct the path")
        return Path((self._source.folder / expanded(given, error=ComposeError)).absolute())

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

    def _stated(self, tree: Map) -> Iterator[tuple[Volume, Place]]:
        for number, each in enumerate(tree.get("volumes") or ()):
            at = tree["volumes"].at[number]
            if not each.get("target"):
                raise ComposeError("a volume lacks a target", str(at), "add target: with a path in the container")
            read_only = each.get("read_only") in (True, "true")
            kind = each["type"]
            if kind == "bind":
                yield self._bind(each, read_only, at), at
            elif kind == "volume":
                yield self._named(each, read_only, at), at
            elif kind == "tmpfs":
                yield Volume("tmpfs", each["target"]), at
            else:
                raise ComposeError(
                    f"a volume of the type {kind} is not possible in a lab", str(at), "use bind, volume or tmpfs"
                )

    def _tmpfs(self, tree: Map) -> Iterator[tuple[Volume, Place]]:
        for number, each in enumerate(tree.get("tmpfs") or ()):
            yield Volume("tmpfs", str(each).partition(":")[0]), tree["tmpfs"].at[number]

    def _bind(self, each: Map, read_only: bool, at: Place) -> Volume:
        if not each.get("source"):
            raise ComposeError("a bind lacks a source", str(at), "add source: with a path of this machine")
        path = Path(os.path.realpath(self.path(str(each["source"]))))
        if path.is_dir() or path.is_file():
            if why := refused(path, at_own_path=False):
                raise ComposeError(f"{path} {why}", str(at), "bind a folder of files that the service needs")
            if not read_only:
                self._warn(f"{at}: what is written to {each['target']} stays in the lab; add :ro to say so")
            return Volume("bind", each["target"], str(path), read_only)
        if path.exists():
            raise ComposeError(
                f"{path} is neither a file nor a folder", str(at), "a lab has no sockets or devices of the host's"
            )
        if (each.get("bind") or {}).get("create_host_path", True) in (False, "false"):
            raise ComposeError(f"no {path}", str(at), "create it")
        self._warn(f"{at}: there is no {path}; {each['target']} is empty at first")
        return Volume("volume", each["target"], "", read_only)

    def _named(self, each: Map, read_only: bool, at: Place) -> Volume:
        name = str(each.get("source") or "")
        declared: Any = self._source.tree.get("volumes") or {}
        if name and name not in declared:
            fix = (
                f"add it below volumes: at the top; {nearest(name, declared)}"
                if declared
                else "add it below volumes: at the top"
            )
            raise ComposeError(f"the volume '{name}' is not declared", str(at), fix)
        return Volume("volume", each["target"], name, read_only)

    def _warn(self, line: str) -> None:
        self._warnings.append(line)
