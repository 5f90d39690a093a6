"""Dependencies of an experiment: its parts, and the imports of its file and of the files beside it.

A clock is chosen by it: tools and services state by an attribute what they take (`slownet.tools.register.Card`, `LASTS`,
`NEEDS`). A program that an experiment starts by itself is not seen, nor is a tool that it takes out of a package
(``slownet.iperf3``): import the tool by its name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

LASTS, NEEDS = "lasts", "needs"
"""Attributes of a tool or service: that it runs for a given time or drives a browser; what a lab needs for it."""
CONTAINERS = "containers"
Used = FunctionType | type


def lasting(*parts: Any) -> str:
    """Return the name of a used tool that runs for a given time, or of a browser; empty without one."""
    return next((each.__name__ for each in used(*parts) if getattr(each, LASTS, False)), "")


def has_containers(*parts: Any) -> bool:
    """Return whether a used service is a container."""
    return any(getattr(each, NEEDS, "") == CONTAINERS for each in used(*parts))


def is_project(topology: Any) -> bool:
    """Return whether a topology is a compose project, whose programs slownet does not know."""
    return getattr(topology, "is_compose_project", False) is True


def used(*parts: Any) -> Iterator[Used]:
    """Yield the functions and classes that parts of an experiment are or hold, and those that their files import."""
    seen: dict[int, Any] = {}
    for part in list(_held(parts, seen)):
        yield part
        if not hasattr(part, LASTS):  # a tool states it itself
            yield from _imported(_file_of(part), seen, isinstance(part, FunctionType))


def _held(part: Any, seen: dict[int, Any]) -> Iterator[Used]:
    """Yield the functions and classes in a table, a list, a partial function or a closure. seen: parts by their ids."""
    if id(part) in seen:
        return
    seen[id(part)] = part  # it is kept, or another part would get its id
    if isinstance(part, Used):
        yield part
    inner: list[Any] = []
    if isinstance(part, FunctionType):
        inner = [cell.cell_contents for cell in part.__closure__ or () if _is_filled(cell)]
    elif isinstance(part, partial):
        inner = [part.func, part.args, part.keywords]
    elif isinstance(part, dict | list | tuple | set | frozenset):
        inner = [*part.values()] if isinstance(part, dict) else [*part]
    for each in inner:
        yield from _held(each, seen)


def _imported(names: Mapping[str, Any], seen: dict[int, Any], with_beside: bool) -> Iterator[Used]:
    """Yield the functions and classes among a file's names, those of the modules among them, and those of files beside it."""
    if id(names) in seen:
        return
    seen[id(names)] = names
    for each in [each for name, each in list(names.items()) if not name.startswith("__")]:
        if isinstance(each, ModuleType) and "__getattr__" not in vars(each):  # else it has the names that others asked it for
            yield from (own for own in list(vars(each).values()) if isinstance(own, Used))
        for own in _held(each, seen):
            yield own
            if with_beside and _folder(_file_of(own)) == _folder(names):
                yield from _imported(_file_of(own), seen, with_beside)


def _file_of(part: Used) -> Mapping[str, Any]:
    """Return the names of the file that defines it."""
    if isinstance(part, FunctionType):
        return part.__globals__  # also of a file that was run and is not among the modules
    return vars(sys.modules[part.__module__]) if part.__module__ in sys.modules else {}


def _folder(names: Mapping[str, Any]) -> Path | None:
    return Path(names["__file__"]).parent if names.get("__file__") else None


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
