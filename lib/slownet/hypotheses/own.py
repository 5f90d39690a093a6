"""Topologies, services and tools of hypothesis files: slownet's by name, or the author's in a file, as `mine.py:shop`, or a
compose project as the topology."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.model import importing
from slownet.model.errors import ExperimentError, nearest
from slownet.services.in_files import SERVICES
from slownet.tools.register import TOOLS, Card, Options, card
from slownet.topologies import find as find_topology

PROJECTS = (".yaml", ".yml")
OF_EVERY_TOPOLOGY = ("hopts", "sopts", "lopts")
"""Parameters that Mininet's Topo takes itself: options of all hosts, switches and links."""
_OWN = re.compile(r"(?P<file>.+\.py):(?P<name>\w+)")


@dataclass(frozen=True)
class Tool:
    """A function of the author's, in place of a `slownet.tools.register.Card`; its host is one of its own options."""

    function: Callable[..., Any]
    names: tuple[str, ...]
    takes_service: bool
    services = ()
    warm_up = None

    def chance(self, options: Options) -> str:
        """Return what is random in it: slownet does not know."""
        return ""

    def run(self, net: Any, service: Any, options: Options) -> Any:
        """Call it with the network, and with the service if it takes one."""
        return self.function(net, *([service] if self.takes_service else []), **options)


def is_own(text: object) -> bool:
    """Return whether a text names an object in a Python file."""
    return isinstance(text, str) and _OWN.fullmatch(text) is not None


def file_of(text: object) -> str:
    """Return the file that a topology, service or tool is in; empty for slownet's own."""
    if is_project(text):
        return str(text)
    return str(text).rpartition(":")[0] if is_own(text) else ""


def load(text: str, folder: Path) -> Any:
    """Return the callable that `FILE.py:NAME` names, the file relative to a folder. Raises ExperimentError."""
    found = _OWN.fullmatch(text)
    assert found
    module = importing.file(folder / found["file"], "name a Python file, relative to the hypothesis file")
    own = {name: each for name, each in vars(module).items() if callable(each) and not name.startswith("_")}
    if found["name"] not in own:
        raise ExperimentError(f"no '{found['name']}' in {found['file']}", fix=nearest(found["name"], own))
    return own[found["name"]]


def is_project(text: object) -> bool:
    """Return whether a text names a compose file."""
    return isinstance(text, str) and text.endswith(PROJECTS)


def topology(text: str, folder: Path) -> Any:
    """Return a compose project, a topology's class, or a function that makes one. Raises ExperimentError, ComposeError."""
    if is_project(text):
        from slownet.compose.project_topology import Compose

        return Compose(folder.absolute() / text)
    made: Callable[..., Any] = load(text, folder) if is_own(text) else find_topology(text)
    return made


def parameters(made: Any) -> tuple[str, ...] | None:
    """Return the names of the parameters that a topology's class takes; None if it takes any, or if only a call shows it."""
    makers = [each for each in inspect.getmro(made) if "__init__" in vars(each)] if inspect.isclass(made) else []
    if not makers or makers[0].__module__ != "mininet.topo":
        return None
    taken = list(inspect.signature(made.build).parameters.values())[1:]
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken)
    return None if takes_any else (*(each.name for each in taken), *OF_EVERY_TOPOLOGY)


def service(text: str, folder: Path) -> Callable[[Any, Path, str], Any]:
    """Return what starts a service on a network, with a run directory and the size of nginx's page. Raises ExperimentError."""
    if not is_own(text):
        return SERVICES[text]
    make = load(text, folder)
    return lambda net, directory, page: make(net, directory)


def tool(text: str, folder: Path, has_service: bool) -> Card | Tool:
    """Return a tool: one of slownet's, or a function (net[, service], options) of the author's. Raises ExperimentError."""
    if not is_own(text):
        return card(TOOLS[text])
    function = load(text, folder)
    given = 2 if has_service else 1
    names = list(inspect.signature(function).parameters)
    if len(names) < given:
        what = "net and service" if has_service else "net"
        raise ExperimentError(f"{text} takes {len(names)} arguments", fix=f"its first ones are {what}, the others its options")
    return Tool(function, tuple(names[given:]), has_service)
