"""`slownet shell mininet`: a Mininet program as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from slownet.cli import unchanged
from slownet.cli.helping import SectionedCommand
from slownet.cli.option_fields import of_fields
from slownet.cli.options import InANetwork, StpOption
from slownet.lab.run import foreground
from slownet.model.errors import ExperimentError


class Program(SectionedCommand):
    """A command whose words from the program on are the program's, options too."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.context_settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@of_fields
def mininet(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM", help="A Python file or mn, then its arguments.")],
    stp: StpOption = False,
    *,
    where: InANetwork,
) -> None:
    """Run an unchanged Mininet program with slownet's networks, whose TCLinks do what they state."""

    if program[0].endswith(".py") and not Path(program[0]).is_file():  # other words may be programs of the lab's
        fix = "give a Python file, or a program on PATH such as mn"
        raise ExperimentError(f"no file '{program[0]}'", fix=fix)
    chosen = where.choose()
    words = [chosen.python, "-m", "slownet.net.standin", *(["--stp"] if stp else []), *program]
    named = [Path(program[0])] if Path(program[0]).is_file() else []
    terminal = foreground.are_terminals(0, 1, 2)
    raise typer.Exit(unchanged.run(chosen, words, [*named, *unchanged.files_in(program[1:])], terminal))
