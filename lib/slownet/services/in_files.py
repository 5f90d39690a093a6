"""Services by their names in hypothesis files, each declared in its own file by a row ``IN_FILES``.

::

    IN_FILES = Starts("redis", lambda net, directory, page: Redis(net[first(net, "db")], directory))

A file is read as text for the name, and imported when its service is looked up. A package names its own in its metadata instead
(`slownet.model.extensions`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from slownet.model.extensions import Register

_FOLDER = Path(__file__).parent
_ROW = re.compile(r'^IN_FILES = Starts\(\s*"([\w-]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Starts:
    """The constructor of a service in hypothesis files, with the network, the run directory and the size of nginx's page."""

    name: str
    make: Callable[[Any, Path, str], AbstractContextManager[Any]]
    chance: str = ""
    """The random parts of it."""

    def __call__(self, net: Any, directory: Path, page: str) -> AbstractContextManager[Any]:
        """Return the service, not started."""
        return self.make(net, directory, page)


@dataclass(frozen=True)
class Page:
    """A page that a service has at a URL."""

    url: str
    servers: Sequence[Any] = ()
    """The targets of a file's faults: services."""


def first(net: Any, name: str) -> str:
    """Return this name if a host of the network has it, else ``server``."""
    return name if any(each.name == name for each in net.hosts) else "server"


class _Own(Mapping[str, Starts]):
    """The project's services, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Starts:
        found: Starts = import_module(f"slownet.services.{_modules()[name]}").IN_FILES
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_modules())

    def __len__(self) -> int:
        return len(_modules())


@cache
def _modules() -> Mapping[str, str]:
    """Return the files of services by their names in hypothesis files."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.py"))}
    return {found[1]: module for module, text in texts.items() if (found := _ROW.search(text))}


SERVICES: Register[Callable[[Any, Path, str], AbstractContextManager[Any]]] = Register("services", _Own())
"""The function that starts each service, also those of other packages."""
