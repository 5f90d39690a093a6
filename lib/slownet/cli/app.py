"""Parses the command line: `slownet COMMAND ...`.

A command's module is imported, and Typer's parser of it built, when it is named: all of them take a tenth of a second.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import typer

from slownet.cli import endings
from slownet.cli.examples import explain
from slownet.cli.helping import PLAIN, Group, SectionedCommand
from slownet.model import userfile
from slownet.model.errors import SlownetError
from slownet.model.version import __version__


class Commands(Group):
    """The commands. An interrupt becomes typer.Abort: Typer would exit silently."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises typer.Abort on an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise typer.Abort from error


@dataclass(frozen=True)
class Command:
    """Where a command, or a group of commands, is found: a module of this package, and a name in it."""

    module: str
    attribute: str
    cls: str = ""
    settings: dict[str, bool] = field(default_factory=dict)

    def add_to(self, app: typer.Typer, name: str) -> None:
        """Import the command, and add it to `app`."""
        module = importlib.import_module(f"slownet.cli.{self.module}")
        found = getattr(module, self.attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            kind = getattr(module, self.cls) if self.cls else SectionedCommand
            app.command(name, cls=kind, context_settings=self.settings)(found)


COMMANDS = {
    "init": Command("init", "init"),
    "list": Command("list", "show"),
    "run": Command("run", "run"),
    "reproduce": Command("reproduce", "reproduce"),
    "sweep": Command("sweep", "sweep"),
    "hunt": Command("hunt", "hunt"),
    "replay": Command("replay", "replay"),
    "report": Command("report", "report"),
    "show": Command("show", "show"),
    "why": Command("why", "why", cls="WithCommand"),
    "predict": Command("predict", "predict"),
    "field": Command("field", "field"),
    "compare": Command("compare", "compare"),
    "check": Command("check", "check"),
    "mark": Command("mark", "mark"),
    "trace": Command("trace", "trace"),
    "calibrate": Command("calibrate", "calibrate"),
    "mininet": Command("mininet", "mininet", settings={"ignore_unknown_options": True, "allow_interspersed_args": False}),
    "compose": Command("compose", "compose", cls="WithExec"),
    "shell": Command("shell", "shell"),
    "clean": Command("clean", "clean"),
    "doctor": Command("doctor", "doctor"),
    "docs": Command("docs", "docs"),
    "help": Command("help", "help_"),
    "lab": Command("lab", "app"),
    "image": Command("image", "app"),
    "baseline": Command("baseline", "baseline"),
    "classroom": Command("classroom", "app"),
}
"""Each command by its name, in the order of --help."""
NEED_ALL = ("help",)
"""Commands that speak of others."""


@functools.cache
def tree(name: str | None = None) -> typer.Typer:
    """Return the program with all its commands, or with this one alone."""
    app = typer.Typer(name="slownet", cls=Commands, rich_markup_mode=PLAIN, pretty_exceptions_enable=False)
    for each in COMMANDS if name is None else (name,):
        COMMANDS[each].add_to(app, each)
    app.callback()(slownet)
    explain(app)
    return app


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
        app = tree(words[0] if words and words[0] in COMMANDS.keys() - NEED_ALL else None)
        with userfile.command():
            status = app(args=_with_interfaces(words), prog_name="slownet", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
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
