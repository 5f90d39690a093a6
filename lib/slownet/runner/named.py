"""Which of slownet's tools and services an experiment names, so that the clock of a run can be chosen by what these cost."""

from __future__ import annotations

import inspect
import sys
import sysconfig
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

SECONDS = "seconds"
"""The parameter of a tool for how long it loads something."""
TOOLS, BROWSER, CONTAINER = "slownet.tools.", "slownet.tools.browser.", "slownet.containers.container"
OWN = "slownet."
CALLERS = ("slownet.hypotheses.", "slownet.experiments.")
"""Modules of slownet's own whose functions call tools for an experiment."""
PLAIN = (str, bytes, int, float, bool, type(None))
INSTALLED = ("<", *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")))
"""Where files begin that are no user's."""
Named = FunctionType | type


def lasts(*parts: Any) -> str:
    """Return the name of a tool that loads something for a time, or of a browser, which parts of an experiment name.

    Empty if they name none. A program that an experiment starts by itself is not seen.
    """
    return next((each.__name__ for each in named(*parts) if _lasts(each)), "")


def has_containers(*parts: Any) -> bool:
    """Return whether parts of an experiment name a service that is a container."""
    return any(each.__module__.startswith(CONTAINER) for each in named(*parts))


def named(*parts: Any) -> Iterator[Named]:
    """Yield the functions and classes of slownet's that these parts are, hold or call."""
    return _named(parts, {})


def _lasts(each: Named) -> bool:
    if not isinstance(each, FunctionType):
        return False
    is_timed = each.__module__.startswith(TOOLS) and SECONDS in inspect.signature(each).parameters
    return is_timed or each.__module__.startswith(BROWSER)


def _named(part: Any, seen: dict[int, Any]) -> Iterator[Named]:
    """Yield what a part names. seen: parts by their ids; it keeps them, or others would get these ids."""
    if isinstance(part, PLAIN) or id(part) in seen:
        return
    seen[id(part)] = part
    if isinstance(part, FunctionType | type) and (part.__module__ or "").startswith(OWN):
        yield part
    if isinstance(part, FunctionType) and _is_read(part):
        yield from _named(_globals_of(part), seen)
    elif isinstance(part, type) and _is_read(part):
        yield from _named([each for each in vars(part).values() if isinstance(each, FunctionType)], seen)
    elif isinstance(part, partial):
        yield from _named([part.func, part.args, part.keywords], seen)
    elif isinstance(part, dict | list | tuple | set | frozenset):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _named(each, seen)


def _is_read(part: Named) -> bool:
    """Return whether what it calls may be an experiment's: it is of a user's file, or calls tools for one."""
    module = f"{part.__module__}."
    if module.startswith(OWN):
        return module.startswith(CALLERS)
    of = sys.modules.get(part.__module__)
    file = part.__code__.co_filename if isinstance(part, FunctionType) else getattr(of, "__file__", None)
    return bool(file) and not str(file).startswith(INSTALLED)


def _globals_of(function: FunctionType) -> list[Any]:
    """Return what a function names: globals, what encloses it, and what it takes from modules."""
    names = _names(function.__code__)
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    found += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    modules = [each for each in found if isinstance(each, ModuleType)]
    for each in modules:  # which grows by the modules in modules
        taken = [getattr(each, name) for name in names & {*vars(each), *getattr(each, "__all__", ())}]
        modules += [one for one in taken if isinstance(one, ModuleType) and one not in modules]
        found += taken
    return found


def _names(code: CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return {*code.co_names, *(name for each in inner for name in _names(each))}


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
