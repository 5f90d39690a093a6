"""Reads the files of a project: variables, ``extends``, and several files merged into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.compose import document, dotenv, longform, merging, parser, schema
from slownet.compose.document import Map, Place, Reset
from slownet.compose.variables import Variables
from slownet.errors import ComposeError, nearest
from slownet.lab import ownership

USUAL = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
PATHS = (("build", "context"), ("env_file", "path"), ("volumes", "source"))
"""Fields of an extended service that hold paths relative to its own file."""


@dataclass(frozen=True)
class Source:
    """The files of a project merged into one tree; `variables` are those that its values may name."""

    tree: Map
    files: Sequence[Path]
    variables: Mapping[str, str]
    warnings: Sequence[str]

    @property
    def folder(self) -> Path:
        """The project's folder: that of its first file."""
        return self.files[0].parent


def usual(folder: Path) -> list[Path]:
    """Return the compose file of a folder, with the one that overrides it. Raises ComposeError.

    Nobody named them, so that other users' do not count.
    """
    for name in USUAL:
        path = folder / name
        if path.is_file():
            if why := ownership.distrusted(path):
                raise ComposeError(f"{path} is not obeyed: {why}", fix=f"to run it all the same, name it: {path}")
            stem, _, ending = name.rpartition(".")
            over = [folder / f"{stem}.override.{each}" for each in dict.fromkeys((ending, "yaml", "yml"))]
            return [path, *[each for each in over if each.is_file() and ownership.is_obeyed(each)][:1]]
    raise ComposeError(f"no compose file in {folder}", fix=f"name one, such as {USUAL[0]}")


def named(paths: Sequence[Path]) -> list[Path]:
    """Return the files, those of a folder in its place. Raises ComposeError."""
    return [path for each in paths for path in (usual(each) if each.is_dir() else [each])]


def read(files: Sequence[Path], machine: Mapping[str, str]) -> Source:
    """Read and merge files. machine: the caller's environment. Raises ComposeError."""
    warnings: dict[str, None] = {}
    own = files[0].absolute().parent / ".env"
    values = {**(dotenv.read(own, machine) if own.is_file() and ownership.is_obeyed(own) else {}), **machine}
    reader = _Reader(Variables(values, warnings.setdefault))
    trees = [reader.file(path) for path in files]
    tree = trees[0]
    for other in trees[1:]:
        tree = merging.files(tree, other)
    return Source(_without_resets(tree), [path.absolute() for path in files], values, list(warnings))


@dataclass
class _Reader:
    variables: Variables
    _read: dict[Path, Map] = field(default_factory=dict)

    def file(self, path: Path) -> Map:
        """Return a file that conforms to the specification, with its services in the long form and extended."""
        tree = self._long(path)
        services = tree.get("services") or {}
        for name in list(services):
            services[name] = self._extended(path, name, ())
        return tree

    def _long(self, path: Path) -> Map:
        found = self._read.get(path.resolve())
        if found is None:
            found = parser.read(path, str(path))
            self.variables.everywhere(found)
            schema.check(found)
            services = found.get("services") or {}
            for name, each in services.items():
                services[name] = longform.service(each) if isinstance(each, Map) else each
            self._read[path.resolve()] = found
        return found

    def _extended(self, path: Path, name: str, way: tuple[tuple[Path, str], ...]) -> Any:
        """Return a service with what it extends. way: the services that led here."""
        tree = self._long(path)
        service = tree["services"][name]
        extends = service.get("extends") if isinstance(service, Map) else None
        if extends is None:
            return service
        at = service.keys_at["extends"]
        here = (path.resolve(), name)
        if here in way:
            raise ComposeError(f"the service '{name}' extends itself", str(at), "take out one of the extends")
        other = path.parent / extends["file"] if extends.get("file") else path
        base = self._base(other, extends["service"], at, (*way, here))
        if other.resolve() != path.resolve():
            _rebase(base, other.absolute().parent)
        made = merging.service(base, service)
        del made["extends"]
        return made

    def _base(self, path: Path, name: str, at: Place, way: tuple[tuple[Path, str], ...]) -> Map:
        if not path.is_file():
            raise ComposeError(f"no file {path}", str(at), "extends names a file relative to its own")
        services = self._long(path).get("services") or {}
        if name not in services:
            raise ComposeError(f"no service '{name}' in {path}", str(at), nearest(name, services))
        base: Map = document.copy(self._extended(path, name, way))
        base.pop("extends", None)
        return base


def _without_resets(tree: Map) -> Map:
    for name in list(tree):
        if isinstance(tree[name], Reset):
            del tree[name]
        elif isinstance(tree[name], Map):
            _without_resets(tree[name])
    return tree


def _rebase(service: Map, folder: Path) -> None:
    """Make the paths of a service from another file whole."""
    for name, inner in PATHS:
        found = service.get(name)
        for each in found if isinstance(found, list) else [found]:
            if isinstance(each, Map) and _is_relative(each, inner):
                each[inner] = str(folder / each[inner])


def _is_relative(each: Map, inner: str) -> bool:
    value = each.get(inner)
    if not isinstance(value, str) or value.startswith(("/", "~")) or "://" in value:
        return False
    return bool(each.get("type", "bind") == "bind")
