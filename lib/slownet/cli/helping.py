"""The text of `--help`, of each command and of each group of commands: plain text, whole, as its author wrote it.

Typer's own help, by Rich, reads square brackets as styles, and gives an option without a value the type <bool>.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

# Texts, paths and numbers of a command line that need no conversion, without Pydantic.
#
# Typer converts each value by Pydantic, also one that is not given, and most commands take texts and paths only. The import
# of Pydantic is a third of the CPU time of a short command. Typer still converts and reports values of other types, and wrong
# ones.

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


PLAIN = None
"""Typer's name for help without styles (``rich_markup_mode``)."""
LONGEST = 400
"""More than any command's first sentence: a list of commands shows it whole, over several lines."""


class Group(TyperGroup):
    """A group of commands that shows its help if none is named."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for command in self.commands.values():
            spare_pydantic(command)
            for each in command.params:
                if isinstance(each, TyperArgument):
                    each.display_type_rich = _no_type  # type: ignore[method-assign]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; without any, as if they were --help."""
        spare_pydantic(self)  # Typer adds the options for completion when the group is made
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else ["--help"])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with its first sentence, which Typer would cut at the end of the line."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            if not (each := self.commands[name]).hidden:
                sections.setdefault(self.section(name), []).append((name, each.get_short_help_str(LONGEST)))
        width = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])

    def section(self, name: str) -> str:
        """Return the heading that a command stands below."""
        return "Commands"


def write_hanging(rows: Sequence[tuple[str, str]], formatter: Any) -> None:
    """Write names with their texts on the same line, further lines indented: half as many lines as two columns take."""
    for name, text in rows:
        formatter.write(f"{_wrapped(f'{name}  {text}', formatter)}\n")


def _wrapped(text: str, formatter: Any) -> str:
    before = " " * formatter.current_indent
    return textwrap.fill(
        text,
        formatter.width + 2,
        initial_indent=before,
        subsequent_indent=f"{before}    ",
        break_on_hyphens=False,
        break_long_words=False,
    )


class SectionedCommand(TyperCommand):
    """A command whose help has a section for each kind of option, as `slownet.cli.options` names them."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by section; those without a section of their own come first."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            if (row := each.get_help_record(ctx)) is None:
                continue
            if "--help" in each.opts:  # who reads it has found it
                continue
            kind = "Arguments" if each.param_type_name == "argument" else getattr(each, "rich_help_panel", None) or "Options"
            sections.setdefault(kind, []).append(row)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    write_hanging(rows, formatter)


class _OfItsGroup(typer.Context):
    """The context of a group's own command: its usage has the group's name once."""

    @property
    def command_path(self) -> str:
        """The words that a user types, which are the group's."""
        return self.parent.command_path if self.parent else super().command_path


class OwnCommand(SectionedCommand):
    """The command that a group is by itself, such as `slownet check FILE` beside `slownet check mark`."""

    context_class = _OfItsGroup

    def leads_to(self, words: Sequence[str]) -> str | None:
        """Return the name of another command of the group that these words are meant for; None if they are its own."""
        return None


class GroupWithOwn(Group):
    """A group with an own command, an `OwnCommand` of the group's name: it takes words that begin with none of the others."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.own = next(each for each in self.commands.values() if isinstance(each, OwnCommand))
        del self.commands[str(self.own.name)]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a command by its name; the own one has the group's."""
        return self.own if name == self.own.name else super().get_command(ctx, name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words. Without any, the own command runs, or shows the help if it requires an argument."""
        if args[:1] == ["--help"] or (args and args[0] in self.commands) or (not args and ctx.resilient_parsing):
            return super().parse_args(ctx, args)
        if not args and any(isinstance(each, TyperArgument) and each.required for each in self.own.params):
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, [str(self.own.name), *args])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the words are of, its name, and its words."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        words = args[1:] if args[0] == self.own.name else args
        if other := self.own.leads_to(words):
            return other, self.commands[other], words
        return self.own.name, self.own, words

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the other commands, and what the own one takes first."""
        own = self.own.make_context(self.own.name, [], parent=ctx, resilient_parsing=True)
        first = next((each for each in self.own.params if isinstance(each, TyperArgument)), None)
        if incomplete.startswith("-"):
            return self.own.shell_complete(own, incomplete)
        return [*super().shell_complete(ctx, incomplete), *(first.shell_complete(own, incomplete) if first else ())]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the own command, with the others below its options."""
        context = self.own.context_class(self.own, info_name=self.own.name, parent=ctx)
        self.own.format_usage(context, formatter)
        self.own.format_help_text(context, formatter)
        self.own.format_options(context, formatter)
        self.format_commands(ctx, formatter)
        self.own.format_epilog(context, formatter)


def _no_type(ctx: Any) -> None:
    """Give an argument no type: its name is enough."""
