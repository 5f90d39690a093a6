"""Imports `mininet.node`, which needs distutils: Python 3.11 warns of it, and later Pythons have none (PEP 632)."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

NAME = "mininet.node"


def spec(path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the module's spec, for the import system; None if Mininet is not there."""
    found = PathFinder.find_spec(NAME, path)
    if found and type(found.loader) is SourceFileLoader and found.origin:
        found.loader = _Loader(NAME, found.origin)
    return found


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        with _distutils():
            super().exec_module(module)


class StrictVersion:
    """The only part of distutils that Mininet uses, to compare versions of Open vSwitch."""

    def __init__(self, text: str) -> None:
        self.numbers = [int(each) for each in re.findall(r"\d+", text)]

    def __lt__(self, other: StrictVersion) -> bool:
        return self.numbers < other.numbers


@contextmanager
def _distutils() -> Iterator[None]:
    """Provide distutils for the import, without its warning."""
    made: dict[str, ModuleType] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if importlib.util.find_spec("distutils") is None:
            made = {name: ModuleType(name) for name in ("distutils", "distutils.version")}
            vars(made["distutils.version"])["StrictVersion"] = StrictVersion
            sys.modules.update(made)
        try:
            yield
        finally:
            for name in made:
                del sys.modules[name]
