"""What `--help` shows, of each command and of each group of commands: plain text, whole, as its author wrote it.

Typer's own help, by Rich, reads square brackets as styles, and gives an option without a value the type <bool>.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

PLAIN = None
"""Typer's name for help without styles (``rich_markup_mode``)."""
LONGEST = 400
"""More than any command's first sentence: a list of commands shows it whole, over several lines."""


class Group(TyperGroup):
    """A group of commands that shows its help if none is named."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for command in self.commands.values():
            for each in command.params:
                if isinstance(each, TyperArgument):
                    each.display_type_rich = _no_type  # type: ignore[method-assign]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; without any, as if they were --help."""
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else ["--help"])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with its first sentence, which Typer would cut at the end of the line."""
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(LONGEST)) for name, each in commands if not each.hidden])


class SectionedCommand(TyperCommand):
    """A command whose help has a section for each kind of option, as `slownet.cli.options` names them."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by section; those without a section of their own come first."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            if (row := each.get_help_record(ctx)) is None:
                continue
            kind = "Arguments" if each.param_type_name == "argument" else getattr(each, "rich_help_panel", None) or "Options"
            sections.setdefault(kind, []).append(row)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _no_type(ctx: Any) -> None:
    """Give an argument no type: its name says what it is."""
