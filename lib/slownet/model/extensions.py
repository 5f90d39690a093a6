"""Tools, services, claims, conditions, topologies and experiments that other packages add by entry points.

A package names each of them in a row of its metadata::

    [project.entry-points."slownet.tools"]
    curl = "mine.curl:curl"                   # a function (host, url...), see `slownet.tools.register`
    [project.entry-points."slownet.services"]
    caddy = "mine.caddy:serve"                # (net, directory, page) -> context manager
    [project.entry-points."slownet.claims"]
    costs_at_most = "mine.claims:costs_at_most"   # a dataclass with `judge`, see `slownet.judge.claim`
    [project.entry-points."slownet.conditions"]
    pigeon = "mine.links:PIGEON"              # a `slownet.links.conditions.profiles.Named`
    [project.entry-points."slownet.topologies"]
    ring = "mine.ring:Ring"                   # a Mininet Topo class
    [project.entry-points."slownet.experiments"]
    far_ring = "mine.far_ring:far_ring"       # a function with @experiment, of the same name

The name can then be used like the project's own: in hypothesis files, on the command line, in `net.link(...).set(...)`.
Such packages are available in a lab, too. The project's own names cannot be redefined. `slownet init --package` writes one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from slownet.model.errors import ExperimentError
from slownet.model.importing import described

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
PREFIX = "slownet."
METADATA = (".dist-info", ".egg-info")


class Register(Mapping[str, T]):
    """A mapping of names to the project's own objects of a kind, followed by those of other packages.

    Other packages are searched only for names that are not the project's, and imported only when one of their names is looked
    up. A look-up raises KeyError for an unknown name, ExperimentError if a package cannot be imported.
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
    except (Exception, SystemExit) as error:
        raise ExperimentError(
            f"{found.value} cannot be imported: {described(error)}",
            where=f"'{found.name}' of {PREFIX}{kind}",
            fix=f"fix or uninstall {found.dist.name if found.dist else 'its package'}",
        ) from error


def folders() -> list[Path]:
    """Return the folders with code and metadata of the packages that add something. Raises ExperimentError.

    The metadata is read as text, because every lab needs it and importlib.metadata takes longer.
    """
    found: dict[Path, None] = {}
    for entry in sys.path:
        for metadata in _metadata(entry or "."):
            found[metadata] = None
            found.update(dict.fromkeys(_code(metadata)))
    return list(found)


def _metadata(entry: str) -> Iterator[Path]:
    """Return the metadata folders in an entry of sys.path that have rows for slownet."""
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
    """Return the folders of the packages that such metadata names."""
    from configparser import ConfigParser
    from importlib.util import find_spec

    rows = ConfigParser(delimiters=("=",), interpolation=None)
    rows.read_string(_rows(metadata))
    for section in rows.sections():
        for name, value in rows[section].items() if section.startswith(PREFIX) else ():
            top = value.partition(":")[0].strip().partition(".")[0]
            spec = find_spec(top)
            if spec is None or not spec.submodule_search_locations:
                what = f"'{top}' is not a package" if spec else f"there is no package '{top}'"
                raise ExperimentError(what, where=f"'{name}' of {section} in {metadata}", fix="name one: a folder of modules")
            yield from (Path(each).absolute() for each in spec.submodule_search_locations)
