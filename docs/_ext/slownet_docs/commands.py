"""The commands with their help, from the tree that Typer builds of `slownet.cli.app`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from slownet.cli import app as cli
from slownet.cli import examples


def tree() -> Iterator[tuple[str, Any]]:
    """Yield (name, command) of all commands in the order of --help, such as ("slownet lab build", ...)."""
    yield from _below("slownet", typer.main.get_command(cli.tree()))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    for each, inner in getattr(command, "commands", {}).items():
        yield f"{name} {each}", inner
        yield from _below(f"{name} {each}", inner)


def page() -> str:
    """Return one section a command: what it does, how it is called, its arguments and options."""
    return "\n".join(line for name, command in tree() for line in _section(name, command))


def _section(name: str, command: Any) -> Iterator[str]:
    yield from (f"## {name}", "", inspect.cleandoc(command.help or "").replace("\f", ""), "")
    if hasattr(command, "commands"):
        yield from (f"Its commands: {', '.join(f'`{name} {each}`' for each in command.commands)}.", "")
        command = getattr(command, "own", None)  # what the group does by itself
        if command is None:
            return
    context = typer.Context(command, info_name=name)
    yield from ("```text", " ".join([name, *command.collect_usage_pieces(context)]), "```", "")
    for parameter in command.params:
        record = None if "--help" in parameter.opts else parameter.get_help_record(context)
        if record:
            yield from (f"`{record[0]}`", f": {_sentence(record[1])}", "")
    told = examples.COMMANDS.get(name)
    if told:
        yield from ("Examples:", "", "```text", *told.examples, "```", "")


def _sentence(text: str) -> str:
    """Return an option's help with Typer's note in brackets as a sentence: "[default: 1024]" and others."""
    text, _, note = text.partition("  [")
    note = note.rstrip("]").replace("default: (dynamic)", "")
    said = f"{text.rstrip('.')}." if text else ""
    return f"{said} {note[:1].upper()}{note[1:]}.".strip() if note else said or "A value."
