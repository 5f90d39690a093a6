"""Imports `mininet.node` without the distutils that it asks for.

Python 3.11 warns of distutils, and later Pythons have none (PEP 632). Where setuptools stands in for it, that takes a third of
the time of all imports of a boot, for one class.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

NAME = "mininet.node"
VERSION = "distutils.version"


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
    """Provide distutils for the import, unless the program has imported its own."""
    made = {name: ModuleType(name) for name in ("distutils", VERSION) if name not in sys.modules}
    if VERSION in made:
        vars(made[VERSION])["StrictVersion"] = StrictVersion
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in made:
            del sys.modules[name]
