"""Gives a command the options that are fields of a dataclass; it gets them as one object.

A command takes the dataclass as a parameter: ``def hunt(experiment: ..., options: HuntOptions, where: InLabs)``. Typer reads a
function's signature, so `of_fields` gives the function a signature with a parameter for each field.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from slownet.cli.completing import one_of
from slownet.model.options import Option
from slownet.model.options import names as option_names
from slownet.model.options import of as option_of


@dataclass(frozen=True)
class Shown:
    """The presentation of a dataclass's options in a command's help.

    panel: their section of its help, or that of each by its name.
    names: those that it has, in the help's order; by default all, as they are declared.
    others: what differs from the field, by its name: ``metavar``, ``text``, ``words`` or ``default``.
    completions: what a shell offers for an option's value, by the field's name.
    followed: parameters of the command itself that its help has right after one of these options, by that option's name.
    """

    panel: str | Mapping[str, str] | None = None
    names: tuple[str, ...] = ()
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    completions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    followed: Mapping[str, str] = field(default_factory=dict)

    def panel_of(self, name: str) -> str | None:
        """Return the section of an option."""
        return self.panel.get(name) if isinstance(self.panel, Mapping) else self.panel


def stated(cls: type, name: str, panel: str | None = None, **changes: Any) -> Any:
    """Return the option of a field for Typer. panel: its section of the help; changes: what is other than in the field."""
    found: Option = replace(
        option_of(cls, name), **{key: changes.pop(key) for key in ("metavar", "text", "words") if key in changes}
    )
    words = one_of(*found.words) if found.words else None
    return typer.Option(
        found.typed,
        metavar=found.metavar or None,
        help=found.text,
        min=found.least,
        rich_help_panel=panel,
        autocompletion=changes.get("completion", words),
    )


def of_fields(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses whose fields are options; see this module."""
    hints = get_type_hints(command, include_extras=True)
    objects: dict[str, tuple[type, Mapping[str, Any]]] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        cls, shown = _dataclass(hints[name])
        if cls is None:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        types_of = get_type_hints(cls)
        objects[name] = cls, {each: types_of[each] for each in shown.names or option_names(cls)}
        parameters += [_parameter(cls, each, kind, shown) for each, kind in objects[name][1].items()]

        for option, other in shown.followed.items():
            moved = next(each for each in parameters if each.name == other)
            parameters.remove(moved)
            parameters.insert([each.name for each in parameters].index(option) + 1, moved)

    @functools.wraps(command)
    def called(**values: Any) -> None:
        for name, (cls, kinds) in objects.items():
            values[name] = cls(**{each: _value(values.pop(each), kind) for each, kind in kinds.items()})
        command(**values)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # which Typer reads
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _dataclass(hint: Any) -> tuple[type | None, Shown]:
    cls, shown = hint, Shown()
    if get_origin(hint) is Annotated:
        cls, *more = get_args(hint)
        shown = next((each for each in more if isinstance(each, Shown)), shown)
    return (cls if isinstance(cls, type) and is_dataclass(cls) else None), shown


def _parameter(cls: type, name: str, kind: Any, shown: Shown) -> inspect.Parameter:
    others = dict(shown.others.get(name, {}))
    default = others.pop("default", next(each.default for each in fields(cls) if each.name == name))
    if name in shown.completions:
        others["completion"] = shown.completions[name]
    if _is_list(kind):
        kind, default = list[get_args(kind)[0]] | None, None  # type: ignore[misc]  # of the field's own type
    annotation = Annotated[kind, stated(cls, name, shown.panel_of(name), **others)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (tuple, Sequence)


def _value(given: Any, kind: Any) -> Any:
    return tuple(given or ()) if _is_list(kind) else given
