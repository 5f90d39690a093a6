"""What other packages add to the project's own tools, services, claims, conditions and topologies, by entry points.

A package says so in its metadata, a row each::

    [project.entry-points."slownet.tools"]
    curl = "mine.curl:TOOL"                   # a `slownet.hypotheses.toolbox.Named`
    [project.entry-points."slownet.services"]
    caddy = "mine.caddy:serve"                # (net, directory, page) -> context manager
    [project.entry-points."slownet.claims"]
    costs_at_most = "mine.claims:costs_at_most"   # a dataclass with `judge`, see `slownet.claim`
    [project.entry-points."slownet.conditions"]
    pigeon = "mine.links:PIGEON"              # a `slownet.conditions.profiles.Named`
    [project.entry-points."slownet.topologies"]
    ring = "mine.ring:Ring"                   # a Mininet Topo class

Its name is then known wherever the project's own are: in hypothesis files, on the command line, in `net.link(...).set(...)`.
A lab sees such packages too. Names of the project's own cannot be given to something else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from slownet.errors import ExperimentError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
PREFIX = "slownet."
METADATA = (".dist-info", ".egg-info")


class Register(Mapping[str, T]):
    """The project's own of a kind by their names, and after them those that other packages add.

    Others are looked for when a name is asked for that is none of the project's, and imported when they are asked for.
    Looking one up raises KeyError where there is none, ExperimentError where a package's cannot be imported.
    """

    def __init__(self, kind: str, own: Mapping[str, T]) -> None:
        self._kind, self._own = kind, own

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        added: T = _load(self._kind, _added(self._kind)[name])
        return added

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in _added(self._kind) if name not in self._own)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _added(kind: str) -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=f"{PREFIX}{kind}")}


def _load(kind: str, found: EntryPoint) -> Any:
    try:
        return found.load()
    except Exception as error:
        raise ExperimentError(
            f"{found.value} cannot be imported: {type(error).__name__}: {error}",
            where=f"'{found.name}' of {PREFIX}{kind}",
            fix=f"mend or uninstall {found.dist.name if found.dist else 'its package'}",
        ) from error


def folders() -> list[Path]:
    """Code and metadata of the packages that add something. Raises ExperimentError.

    The metadata is read as text, not with importlib.metadata: every lab asks, and that takes longer than this.
    """
    found: dict[Path, None] = {}
    for entry in sys.path:
        for metadata in _metadata(entry or "."):
            found[metadata] = None
            found.update(dict.fromkeys(_code(metadata)))
    return list(found)


def _metadata(entry: str) -> Iterator[Path]:
    """The metadata in a folder of sys.path that has rows for slownet."""
    try:
        names = [each.name for each in os.scandir(entry) if each.name.endswith(METADATA)]
    except OSError:
        return
    for name in sorted(names):
        path = Path(entry, name)
        if f"[{PREFIX}" in _rows(path):
            yield path.absolute()


def _rows(metadata: Path) -> str:
    try:
        return (metadata / "entry_points.txt").read_text(encoding="utf-8")
    except OSError:
        return ""


def _code(metadata: Path) -> Iterator[Path]:
    """The packages that such metadata names."""
    from configparser import ConfigParser
    from importlib.util import find_spec

    rows = ConfigParser(delimiters=("=",), interpolation=None)
    rows.read_string(_rows(metadata))
    for section in rows.sections():
        for name, value in rows[section].items() if section.startswith(PREFIX) else ():
            top = value.partition(":")[0].strip().partition(".")[0]
            spec = find_spec(top)
            if spec is None or not spec.submodule_search_locations:
                what = f"'{top}' is no package" if spec else f"there is no package '{top}'"
                raise ExperimentError(what, where=f"'{name}' of {section} in {metadata}", fix="name one: a folder of modules")
            yield from (Path(each).absolute() for each in spec.submodule_search_locations)
