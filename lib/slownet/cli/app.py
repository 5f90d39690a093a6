"""Parses the command line: `slownet COMMAND ...`.

A command's module is imported, and Typer's parser of it built, when it is named: all of them take a tenth of a second.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand

from slownet.cli import endings
from slownet.cli.examples import explain
from slownet.cli.helping import LONGEST, PLAIN, Group, GroupWithOwn, OwnCommand, SectionedCommand
from slownet.model import userfile
from slownet.model.errors import SlownetError
from slownet.model.version import __version__

MARGIN = 4
"""Columns that Typer leaves free on the right of a help text."""


class Commands(Group):
    """The commands. An interrupt becomes typer.Abort: Typer would exit silently."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command of the first word. Raises SlownetError with what that word may belong to."""
        if not (args[0] in self.commands or args[0].startswith("-") or ctx.resilient_parsing):
            from slownet.cli import unknown_command

            raise unknown_command.refused(args[0], self)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the table."""
        order = list(COMMANDS)
        return sorted(self.commands, key=lambda name: order.index(name) if name in order else len(order))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write all commands on a screen of 24 lines, 80 columns: a section's name before its first command, options last."""
        self.format_usage(ctx, formatter)
        formatter.write_text(self.help or "")
        formatter.width += MARGIN
        rows, before = [], ""
        for name in self.list_commands(ctx):
            section = COMMANDS[name].section if name in COMMANDS else ""
            text = self.commands[name].get_short_help_str(LONGEST)
            rows.append((f"{section if section != before else '':<8}{name:<10}", text))
            before = section
        formatter.write_dl(rows, col_spacing=0)
        options = [each.get_help_record(ctx) for each in self.get_params(ctx)]
        formatter.write_text(" ".join(f"{option[0]}: {option[1]}" for option in options if option))

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises typer.Abort on an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise typer.Abort from error


@dataclass(frozen=True)
class Command:
    """The place of a command, or of a group of commands: a module of this package, and a name in it.

    section: the group of the program's help that it stands in. others: commands below it, beside what it does by itself.
    """

    module: str
    attribute: str
    section: str = ""
    cls: str = ""
    others: Mapping[str, Command] = field(default_factory=dict)

    def add_to(self, app: typer.Typer, name: str, cls: type[TyperCommand] = SectionedCommand) -> None:
        """Import the command, and add it to `app`."""
        module = importlib.import_module(f"slownet.cli.{self.module}")
        found = getattr(module, self.attribute)
        if self.others:
            group = typer.Typer(cls=GroupWithOwn, help=inspect.getdoc(found))
            replace(self, others={}).add_to(group, name, OwnCommand)
            for each, other in self.others.items():
                other.add_to(group, each)
            app.add_typer(group, name=name)
        elif isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name, cls=getattr(module, self.cls) if self.cls else cls)(found)


COMMANDS = {
    "run": Command("run", "run", "Measure"),
    "sweep": Command("sweep", "sweep", "Measure"),
    "hunt": Command("hunt", "hunt", "Measure", others={"replay": Command("replay", "replay")}),
    "reproduce": Command("reproduce", "reproduce", "Measure"),
    "field": Command("field", "field", "Measure", others={"trace": Command("trace", "trace")}),
    "show": Command("show", "show", "Look"),
    "why": Command("why", "why", "Look", cls="WithCommand"),
    "compare": Command("compare", "compare", "Look", others={"save": Command("baseline", "save")}),
    "costs": Command("costs", "costs", "Look"),
    "list": Command("list", "show", "Look"),
    "init": Command("init", "init", "Build"),
    "shell": Command(
        "shell", "shell", "Build", cls="Shell",
        others={
            "mininet": Command("mininet", "mininet", cls="Program"),
            "compose": Command("compose", "compose", cls="WithExec"),
        },
    ),
    "live": Command("live", "live", "Build"),
    "lab": Command("lab", "app", "Build"),
    "doctor": Command(
        "doctor", "doctor", "Build", others={"calibrate": Command("calibrate", "calibrate"), "clean": Command("clean", "clean")}
    ),
    "check": Command(
        "check", "check", "Teach",
        others={
            "mark": Command("mark", "mark"), "variants": Command("classroom", "variants"),
            "grade": Command("classroom", "grade"), "bundle": Command("classroom", "bundle"),
        },
    ),
    "help": Command("help", "help_", "Teach"),
}  # fmt: skip
"""Each command by its name, in the order of the help, which shows them by what they are for."""
NEED_ALL = ("help",)
"""Commands that speak of others."""
LIGHTEST = "list"
"""The command whose module imports least: the program needs one, and its version none."""


@functools.cache
def tree(name: str | None = None) -> typer.Typer:
    """Return the program with all its commands, or with this one alone."""
    app = typer.Typer(name="slownet", cls=Commands, rich_markup_mode=PLAIN, pretty_exceptions_enable=False)
    for each in COMMANDS if name is None else (name,):
        COMMANDS[each].add_to(app, each)
    app.callback()(slownet)
    explain(app)
    return app


@functools.cache
def parser(name: str | None = None) -> Any:
    """Return the parser of the whole program, or of this command alone. Typer would build it again for each command line."""
    return typer.main.get_command(tree(name))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"slownet {__version__}")
        raise typer.Exit


def slownet(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Measure what a slow network does to a system, before the field trial."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; whatever goes wrong ends with one line and a status of its own."""
    with endings.one_line():
        run_words(argv)


def run_words(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, and exit with its status. Raises SlownetError, and KeyboardInterrupt."""
    try:
        words = list(sys.argv[1:] if argv is None else argv)
        first = LIGHTEST if words == ["--version"] else words[0] if words else ""
        command = parser(first if first in COMMANDS.keys() - NEED_ALL else None)
        with userfile.command():
            status = command.main(args=_with_interfaces(words), prog_name="slownet", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        if context and (option := getattr(error, "option_name", "")) and hasattr(error, "possibilities"):
            from slownet.cli import unknown_command

            near, root = error.possibilities or (), parser()
            raise unknown_command.option_refused(option, context.command_path, root, near) from error
        line = f"{error.format_message().rstrip('.')}: see {context.command_path if context else 'slownet'} --help"
        raise SlownetError(line) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    sys.exit(status or 0)


def _with_interfaces(words: list[str]) -> list[str]:
    """Insert the value "hosts" after a `run --capture` that names no interface: Typer requires a value."""
    if words[:1] != ["run"]:
        return words
    following = [*words[1:], "-"]
    return [
        f"{word}=hosts" if word == "--capture" and after.startswith("-") else word
        for word, after in zip(words, following, strict=True)
    ]
