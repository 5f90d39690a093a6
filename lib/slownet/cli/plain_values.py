"""Texts, paths and numbers of a command line that need no conversion, without Pydantic.

Typer converts each value by Pydantic, also one that is not given, and most commands take texts and paths only. The import of
Pydantic is a third of the CPU time of a short command. Typer still converts and reports values of other types, and wrong ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

_OTHER = object()


class _Plain:
    """Stands for a parameter's converter (``typer.core``: ``get_runtime_param``) until a value needs that."""

    def __init__(self, annotation: Any, info: Any) -> None:
        is_list = get_origin(annotation) is list
        self._kind = get_args(annotation)[0] if is_list else annotation
        self._is_list, self._info = is_list, info

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a parameter, as Typer would convert it."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if self._is_list == several:
            found = [self._item(each) for each in value] if several and not isinstance(value, str) else [self._item(value)]
            if _OTHER not in found:
                return found if several else found[0]
        param._runtime_param = None  # Typer makes its own, and keeps it
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)

    def _item(self, value: Any) -> Any:
        if self._kind is str and isinstance(value, str) and _is_text(value):
            return value
        if self._kind is int and type(value) is int and self._info.min is None and self._info.max is None:
            return value
        if self._kind is Path and isinstance(value, (str, Path)) and _is_text(str(value)) and self._takes_any_path():
            path = Path(value)
            return path if os.access(path, os.R_OK) or not os.path.lexists(path) else _OTHER
        return _OTHER

    def _takes_any_path(self) -> bool:
        its = self._info
        wanted = its.exists or its.writable or its.resolve_path or its.allow_dash or its.path_type
        return its.file_okay and its.dir_okay and not wanted


def _is_text(value: str) -> bool:
    return "\0" not in value and value.isprintable()


def spare_pydantic(command: Any) -> None:
    """Let a command take plain values as they are. A version of Typer without such a converter goes on as it does."""
    for each in (*command.params, command.get_help_option(typer.Context(command))):  # the command keeps that option
        descriptor = getattr(each, "type_descriptor", None)
        info = getattr(descriptor, "parameter_info", None)
        if descriptor and info and not info.parser and hasattr(each, "get_runtime_param"):
            each._runtime_param = _Plain(descriptor.annotation, info)
