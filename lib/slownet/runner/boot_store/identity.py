"""The identity of a measurement: a hash of everything that determines it, so that none is repeated and sweeps can be merged.

That is the code that runs in the lab (the experiment's source with what it imports, and slownet's own), the condition, the
repetition, from which the seeds follow, the clock with its TDF, the kernel, the image and layer, and what the caller adds to
the lab. Files that an experiment opens by itself are not part of it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path

from slownet.hypotheses.catalogue import find
from slownet.hypotheses.uses import used
from slownet.lab.run.caller import disguised
from slownet.lab.run.place import Place
from slownet.model.face import homes
from slownet.model.importing import PACKAGE, PACKAGE_FOLDERS
from slownet.runner import compose_project

ENTRY = "slownet.runner.inside"
"""The programs that run in the lab."""
ELSEWHERE = ("slownet.lab", "slownet.report", "slownet.sweep", "slownet.cli")
"""Rooms whose files other than modules do not matter: kernel and image have keys of their own."""

PROGRAMS = ("slownet.tools.programs", "slownet.reproductions.programs")
PACKAGES, STARTED = re.compile(rb"[(]\"(slownet(?:[.]\w+)+)\""), re.compile(rb"\bpython[(]\"(\w+)\"")
"""Files that a module of ours names without importing them: a package whose files it reads, a program that hosts run."""

ON_THE_HOST = ("slownet.api", "slownet.report")
"""Parts of `import slownet` that do not measure: starting experiments, and texts for people."""


@lru_cache
def code(source: str) -> str:
    """Return the hash of an experiment's code; ``source``: its name, or the path of its file. Raises ExperimentError."""
    files = sources(source)
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{hashlib.sha256(files[name].read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def sources(source: str) -> dict[str, Path]:
    """Return the files of an experiment's code by the names of their modules. Raises ExperimentError."""
    experiment = find(source)
    own = inspect.getsourcefile(inspect.unwrap(experiment.measure))
    found: dict[str, Path] = {}
    waiting = [ENTRY]
    if own and (module := inspect.getmodule(experiment.measure)) and _is_ours(Path(own)):
        waiting.append(module.__name__)
    elif own:
        found[Path(own).name] = Path(own)
        waiting += _imports(Path(own), "")
    waiting += [each.__module__ for each in used(*experiment.parts)]  # a hypothesis file's tool is imported by its name
    if Path(source).is_file():
        found[Path(source).name] = Path(source)
    while waiting:
        name = waiting.pop()
        if name in found or name.startswith(ON_THE_HOST):
            continue
        if not (spec := _spec(name)) or not spec.origin or not spec.origin.endswith(".py"):
            continue
        found[name] = Path(spec.origin)
        package = name if spec.submodule_search_locations else name.rpartition(".")[0]
        waiting += [*_parents(name), *_imports(found[name], package)]
    return found | _data(found)


def _is_ours(path: Path) -> bool:
    return path.resolve().is_relative_to(PACKAGE)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _imports(path: Path, package: str) -> Iterator[str]:
    """Yield the names of what a file imports, in its functions too: modules, and what may be one."""
    text = path.read_bytes()
    if _is_ours(path):
        yield from (each.decode() for each in PACKAGES.findall(text))
        yield from (f"{room}.{each.decode()}" for each in STARTED.findall(text) for room in PROGRAMS)
    for node in _statements(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
            if any(each.name == "slownet" for each in node.names):  # which of its names are used, is not looked for
                yield from homes().values()
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            whole = importlib.util.resolve_name(base, package) if node.level and package else base.lstrip(".")
            yield whole
            for each in node.names:
                home = homes().get(each.name) if whole == "slownet" else None
                yield home or f"{whole}.{each.name}"


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all statements of a module, nested ones too, without what they consist of: that is twenty times as many nodes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, name, ())


def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is, if it is slownet's or the caller's: installed packages belong to the image."""
    first = name.partition(".")[0]
    if first in sys.stdlib_module_names:
        return None
    try:
        top = importlib.util.find_spec(first)
        if first != "slownet" and (not top or not top.origin or _is_installed(Path(top.origin))):
            return None
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):  # a name in a module, or a module that is not there
        return None


def _is_installed(path: Path) -> bool:
    """Return whether a module is a package's of this environment, or of another one that is on the import path."""
    whole = path.resolve()
    return bool(set(PACKAGE_FOLDERS) & set(whole.parts)) or any(whole.is_relative_to(each) for each in _package_folders())


@cache
def _package_folders() -> tuple[Path, ...]:
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))


def _data(modules: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files that lie beside slownet's modules, such as programs in PHP."""
    folders = {path.parent for name, path in modules.items() if name.startswith("slownet.") and not name.startswith(ELSEWHERE)}
    files = [each for folder in folders for each in folder.iterdir() if each.is_file()]
    return {
        str(each.relative_to(PACKAGE)): each
        for each in files
        if each.suffix not in (".py", ".pyi", ".pyc", ".md") and each.is_relative_to(PACKAGE)
    }


def circumstances(source: str, place: Place, cold: bool = False) -> dict[str, object]:
    """Return what all measurements of an experiment in a place have in common, for `unit`.

    place: on its final clock; cold: whether each boot prepares the services, if the experiment has something to prepare.
    """
    parts, experiment = place.parts, find(source)
    own = {"cold": True} if experiment.prepare and cold else {}
    project = compose_project.fingerprint(experiment.topology)
    return {
        "experiment": experiment.name,
        "code": code(source),
        "clock": place.clock.facts,
        "kernel": parts.kernel.path.parent.name if parts and not place.clock.is_exact else place.facts["kernel"],
        "image": parts.image.key if parts else place.facts["versions"],
        "layer": parts.layer.key if parts and parts.layer else "",
        "memory": place.megabytes,
        **({"machine": place.facts["machine"]} if place.clock.is_exact else {}),
        "given": place.given.fingerprint(),
        **({"project": disguised(project)} if project else {}),
        **own,
    }


def prefix(facts: Mapping[str, object]) -> str:
    """Return the hash of the circumstances, from which `unit` makes its keys."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def unit(common: str, cell: Mapping[str, str], repetition: int, blocks: int) -> str:
    """Return the key of one repetition of a cell; ``common``: that of `prefix`."""
    text = json.dumps([common, sorted(cell.items()), repetition, blocks])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
