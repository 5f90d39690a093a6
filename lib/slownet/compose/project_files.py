"""Reads the files of a project: variables, ``extends``, several files merged into one, and ``include``.

A file is merged over another one by compose's rules; both have their services in the long form then.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.compose import document, kinds, longform, parser, values, variables
from slownet.compose.document import Items, Keys, Map, Place, Reset, copy, identity
from slownet.compose.variables import Budget, Variables
from slownet.lab.host import ownership
from slownet.model.errors import ComposeError, nearest
from slownet.model.userfile import beside, expanded

USUAL = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
FILES, SEPARATOR = "COMPOSE_FILE", "COMPOSE_PATH_SEPARATOR"
ENV_FILES = "COMPOSE_ENV_FILES"
"""Compose's own variables: the files where none is named, what separates them, and files of variables in place of .env."""
MOST_INCLUDED, DEEPEST = 500, 50
"""Projects that are included, and in one another."""
MOST_EXTENDED = 500
"""Services that extend one another in a chain."""
RESOURCES = ("services", "networks", "volumes", "secrets", "configs")
_REMOTE = re.compile(r"[a-z+]+://|git@|oci:|github\.com/")


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
                raise ComposeError(f"{path} is refused: {why}", fix=f"to run it all the same, name it: {path}")
            stem, _, ending = name.rpartition(".")
            over = [folder / f"{stem}.override.{each}" for each in dict.fromkeys((ending, "yaml", "yml"))]
            return [path, *[each for each in over if each.is_file() and ownership.is_obeyed(each)][:1]]
    raise ComposeError(f"no compose file in {folder}", fix=f"name one, such as {USUAL[0]}")


def named(paths: Sequence[Path]) -> list[Path]:
    """Return the files, those of a folder in its place. Raises ComposeError."""
    return [path for each in paths for path in (usual(each) if os.path.isdir(each) else [each])]


def unnamed(folder: Path, machine: Mapping[str, str]) -> list[Path]:
    """Return the files where none is named: those of COMPOSE_FILE, or the folder's usual ones. Raises ComposeError."""
    values = _variables(folder, machine)
    stated = values.get(FILES, "")
    found = [beside(folder, each, FILES, ComposeError) for each in stated.split(values.get(SEPARATOR) or os.pathsep) if each]
    return named(found) if found else usual(folder)


def _variables(folder: Path, machine: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a project: those of the caller before those of its files of variables."""
    stated = [expanded(each, ENV_FILES, ComposeError) for each in machine.get(ENV_FILES, "").split(",") if each]
    return _with_files(stated or _usual_variables(folder), machine)


def _usual_variables(folder: Path) -> list[Path]:
    """Return a folder's file of variables, if it has one; it was not named, so that another user's does not count."""
    return [each for each in [folder / ".env"] if each.is_file() and ownership.is_obeyed(each)]


def _with_files(paths: Sequence[Path], outer: Mapping[str, str], budget: Budget | None = None) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        found |= variables.read(path, outer, found, budget=budget)
    return {**found, **outer}


def read(files: Sequence[Path], machine: Mapping[str, str]) -> Source:
    """Read and merge files, and what they include. machine: the caller's environment. Raises ComposeError."""
    warnings: dict[str, None] = {}
    folder = files[0].absolute().parent
    values = _variables(folder, machine)
    tree = _Includer().model(files, folder, Variables(values, warnings.setdefault), ())
    return Source(tree, [path.absolute() for path in files], values, list(warnings))


def _whole(path: Path) -> Path:
    """Return a path without links; one with links in a circle as it is, whose file cannot be read."""
    return Path(os.path.realpath(path))


@dataclass
class _Includer:
    """Reads projects with what they include; one that is included twice in the same way is read once."""

    _read: dict[Hashable, Map] = field(default_factory=dict)
    _kept: list[Variables] = field(default_factory=list)
    """Those whose identity is part of a key of `_read`."""

    def model(self, files: Sequence[Path], folder: Path, variables: Variables, way: tuple[tuple[Path, ...], ...]) -> Map:
        """Return files merged into one tree, with what they include. folder: for relative paths, way: the files so far."""
        reader = _Reader(variables)
        trees = [reader.file(path) for path in files]
        tree = trees[0]
        for other in trees[1:]:
            tree = merge_files(tree, other)
        tree = _without_resets(tree)
        included = tree.pop("include", None) or Items(tree.place)
        for each, at in zip(included, included.at, strict=True):
            found = self._included(each, at, folder, variables, (*way, tuple(map(_whole, files))))
            _import(tree, found, at, variables)
        return tree

    def _included(self, entry: Any, at: Place, folder: Path, variables: Variables, way: tuple[tuple[Path, ...], ...]) -> Map:
        """Return the project that an entry of ``include`` names; its relative paths are whole ones."""
        stated = entry if isinstance(entry, Map) else {"path": entry}
        paths = _included_files(stated, at, folder, way)
        given = stated.get("project_directory")
        base = beside(folder, given, str(at), ComposeError) if given else paths[0].parent
        own = [beside(folder, each, str(at), ComposeError) for each in _texts(stated.get("env_file"))]
        for path in own:
            if not path.exists() or path.is_dir():
                raise ComposeError(f"no file {path}", str(at), f"env_file is relative to {folder}")
        key = (*paths, base, *own, id(variables))
        if key not in self._read:
            if len(way) > DEEPEST or len(self._read) >= MOST_INCLUDED:
                what = f"projects include one another deeper than {DEEPEST}" if len(way) > DEEPEST else "too many includes"
                raise ComposeError(what, str(at), f"at most {MOST_INCLUDED} projects can be included")
            inner = variables.but(_with_files(own or _usual_variables(base), variables.values, variables.budget))
            self._kept.append(variables)
            found = self.model(paths, base, inner, way)
            _rebase(found, base.absolute())
            self._read[key] = found
        return self._read[key]


def _included_files(stated: Mapping[str, Any], at: Place, folder: Path, way: tuple[tuple[Path, ...], ...]) -> list[Path]:
    """Return the files of an included project. Raises ComposeError."""
    texts = _texts(stated.get("path"))
    if not texts:
        raise ComposeError("an include names no file", str(at), "add path:")
    for text in texts:
        if _REMOTE.match(text):
            raise ComposeError(f"'{text}' is not on this machine", str(at), "fetch it and include the file")
    paths = [beside(folder, each, str(at), ComposeError) for each in texts]
    for path in paths:
        if not path.is_file():
            raise ComposeError(f"no file {path}", str(at), f"include names files relative to {folder}")
        if any(_whole(path) in files for files in way):
            raise ComposeError(f"{path} includes itself", str(at), "take out one of the includes")
    return paths


def _texts(value: Any) -> list[str]:
    return [] if value is None else [str(each) for each in value] if isinstance(value, list) else [str(value)]


def _import(tree: Map, other: Map, at: Place, variables: Variables) -> None:
    """Add the resources of an included project; those that the tree has already are merged over them. Raises ComposeError."""
    for kind in RESOURCES:
        theirs = other.get(kind)
        if not theirs:
            continue
        if not tree.get(kind):
            tree.put(kind, Map(at), at)
        for name in theirs:
            if name not in tree[kind]:
                tree[kind].take(name, theirs)
            elif document.plain(tree[kind][name]) != document.plain(theirs[name]):
                where = tree[kind].keys_at[name]
                variables.warn(f"{where}: {kind}.{name} is merged over the included one, {theirs.keys_at[name]}, as in compose")
                merged = merge_files(_alone(kind, name, theirs), _alone(kind, name, tree[kind]))
                tree[kind].put(name, merged[kind][name], where, tree[kind].values_at[name])


def _alone(kind: str, name: str, among: Map) -> Map:
    """Return a file that has one of a mapping's resources."""
    inner, made = Map(among.place), Map(among.place)
    inner.take(name, among)
    made.put(kind, inner, among.place)
    return made


@dataclass
class _Reader:
    variables: Variables
    _read: dict[Path, Map] = field(default_factory=dict)
    _made: dict[tuple[Path, str], Any] = field(default_factory=dict)

    def file(self, path: Path) -> Map:
        """Return a file that conforms to the specification, with its services in the long form and extended."""
        tree = self._long(path)
        services = tree.get("services") or {}
        for name in list(services):
            services[name] = self._extended(path, name)
        return tree

    def _long(self, path: Path) -> Map:
        found = self._read.get(_whole(path))
        if found is None:
            # A further document is merged over those before it, like a further file.
            found = functools.reduce(merge_files, map(self._formed, parser.read(path, str(path))))
            self._read[_whole(path)] = found
        return found

    def _formed(self, found: Map) -> Map:
        """Return a document that conforms to the specification, with its services in the long form."""
        self.variables.everywhere(found)
        values.early(found)
        _once(found)
        kinds.check(found, values.FILE)
        services = found.get("services") or {}
        for name, each in services.items():
            services[name] = longform.service(each) if isinstance(each, Map) else each
        _once(found)
        values.late(found)
        return found

    def _extended(self, path: Path, name: str) -> Any:
        """Return a service with what it extends, and that extends in turn."""
        way: dict[tuple[Path, str], tuple[Path, Map]] = {}
        here = (_whole(path), name)
        while here not in self._made:
            service = self._long(path)["services"][here[1]]
            extends = service.get("extends") if isinstance(service, Map) else None
            if extends is None:
                self._made[here] = service
                break
            at = service.keys_at["extends"]
            if here in way:
                raise ComposeError(f"the service '{here[1]}' extends itself", str(at), "take out one of the extends")
            if len(way) >= MOST_EXTENDED:
                raise ComposeError(f"more than {MOST_EXTENDED} services extend one another", str(at), "extend fewer")
            way[here] = (path, service)
            path = beside(path.parent, extends["file"], str(at), ComposeError) if extends.get("file") else path
            self._check_base(path, extends["service"], at)
            here = (_whole(path), extends["service"])
        base, folder = self._made[here], path
        for key, (own, service) in reversed(way.items()):
            below: Map = document.copy(base)
            below.pop("extends", None)
            if _whole(folder) != _whole(own):
                _rebase_service(below, folder.absolute().parent)
            base, folder = merge_service(below, service), own
            del base["extends"]
            self._made[key] = base
        return base

    def _check_base(self, path: Path, name: str, at: Place) -> None:
        if not path.is_file():
            raise ComposeError(f"no file {path}", str(at), "extends names a file relative to its own")
        services = self._long(path).get("services") or {}
        if name not in services:
            raise ComposeError(f"no service '{name}' in {path}", str(at), nearest(name, services))


def _once(tree: Map) -> None:
    services = tree.get("services")
    for each in services.values() if isinstance(services, Map) else ():
        if isinstance(each, Map):
            once(each)


def _without_resets(tree: Map) -> Map:
    for name in list(tree):
        if isinstance(tree[name], Reset):
            del tree[name]
        elif isinstance(tree[name], Map):
            _without_resets(tree[name])
    return tree


def _rebase(tree: Map, folder: Path) -> None:
    """Make the paths of an included project whole."""
    for service in (tree.get("services") or {}).values():
        if isinstance(service, Map):
            _rebase_service(service, folder)
    for kind in ("secrets", "configs"):
        for each in (tree.get(kind) or {}).values():
            _make_whole(each, "file", folder)
    for each in (tree.get("volumes") or {}).values():
        options = each.get("driver_opts") if isinstance(each, Map) else None
        if isinstance(options, Map) and "bind" in str(options.get("o", "")):
            _make_whole(options, "device", folder)


def _rebase_service(service: Map, folder: Path) -> None:
    """Make the paths of a service from another file whole."""
    build = service.get("build")
    if isinstance(build, Map):
        if "context" not in build:
            build.put("context", ".", build.place)
        _make_whole(build, "context", folder)
        contexts = build.get("additional_contexts")
        for name in contexts if isinstance(contexts, Map) else ():
            _make_whole(contexts, name, folder)
    for name, inner in (("env_file", "path"), ("volumes", "source")):
        for each in service.get(name) or ():
            if isinstance(each, Map) and each.get("type", "bind") == "bind":
                _make_whole(each, inner, folder)


def _make_whole(around: Any, name: str, folder: Path) -> None:
    value = around.get(name) if isinstance(around, Map) else None
    if isinstance(value, str) and not value.startswith(("/", "~", "service:")) and not _REMOTE.match(value):
        around[name] = str(folder / value)


_REPLACED = (("command",), ("entrypoint",), ("healthcheck", "test"))
"""Fields of a service that are not merged: the later one counts."""
_OF_TWO_KINDS = (("ulimits",),)
"""Fields where a single value and a mapping mean the same, so that one replaces the other."""
_ANY = "*"


def _target(each: Any) -> Hashable:
    return each.get("target") if isinstance(each, dict) else each


def _mounted(each: Any) -> Hashable:
    return (each.get("target") or each.get("source")) if isinstance(each, dict) else each


def _path(each: Any) -> Hashable:
    return each.get("path") if isinstance(each, dict) else each


_ONCE = (
    "cap_add", "cap_drop", "configs", "devices", "dns", "dns_opt", "dns_search", "env_file", "expose", "links", "ports",
    "profiles", "secrets", "tmpfs", "volumes",
)  # fmt: skip
_UNIQUE: Mapping[tuple[str, ...], Callable[[Any], Hashable]] = {
    ("volumes",): _target, ("devices",): _target, ("configs",): _mounted, ("secrets",): _mounted, ("env_file",): _path,
}  # fmt: skip
"""Lists of a service where the later element of the same name takes the place of the earlier one."""


def merge_files(base: Map, over: Map) -> Map:
    """Return one file merged over another. Raises ComposeError."""
    made: Map = copy(base)
    _into(made, over, ())
    return made


def merge_service(base: Map, over: Map) -> Map:
    """Return a service merged over the one that it extends. Raises ComposeError."""
    made: Map = copy(base)
    _into(made, over, ("services", _ANY))
    return made


def _into(made: Map, over: Map, keys: Keys) -> None:
    for name, value in over.items():
        at = over.values_at[name]
        if isinstance(value, Reset):
            made.pop(name, None)
        elif name in made:
            made.put(name, _merged(made[name], value, (*keys, name), at), over.keys_at[name], at)
        else:
            made.put(name, copy(value), over.keys_at[name], at)


def _merged(base: Any, over: Any, keys: Keys, at: Place) -> Any:
    inside = tuple(str(each) for each in keys[2:]) if keys[0] == "services" else None
    replaces = getattr(over, "replaces", False)
    if inside in _REPLACED or replaces or base is None:
        return copy(over)
    if over is None:
        return base
    if isinstance(base, Map) and isinstance(over, Map):
        _into(base, over, keys)
        return base
    if isinstance(base, Items) and isinstance(over, Items):
        return _joined(base, over, _UNIQUE.get(inside or ()))
    if _kind(base) != _kind(over) and (inside or ())[:1] not in _OF_TWO_KINDS:
        raise ComposeError(
            f"{'.'.join(map(str, keys))} is {_kind(base)} in the file below", str(at), "write it in the same form"
        )
    return copy(over)


def _kind(value: Any) -> str:
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"


def _key(value: Any, name: Callable[[Any], Hashable] | None) -> Hashable:
    """Return what an element is known by; one of a kind that `kinds.check` refuses, such as a list, by itself."""
    found = (name or identity)(value)
    try:
        hash(found)
    except TypeError:
        return id(value)
    return found


def _joined(base: Items, over: Items, name: Callable[[Any], Hashable] | None) -> Items:
    """Return both lists' elements, each once."""
    made = Items(base.place)
    known: dict[Hashable, int] = {}
    for value, at in [*zip(base, base.at, strict=True), *zip(over, over.at, strict=True)]:
        index = known.setdefault(_key(value, name), len(made))
        if index < len(made):
            made[index], made.at[index] = copy(value), at
        else:
            made.add(copy(value), at)
    return made


def once(service: Map) -> None:
    """Leave one of elements that occur twice, as compose does before it checks a service: the later one, in its place."""
    for name in _ONCE:
        found = service.get(name)
        if isinstance(found, Items):
            joined = _joined(Items(found.place), found, _UNIQUE.get((name,)))
            joined.replaces = found.replaces
            service[name] = joined
