"""`slownet check`: predictions in hypothesis files, marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.option_fields import of_fields
from slownet.cli.options import ExplainClockOption, InLabs, OutOption
from slownet.cli.outputs import OF_RUNS, Outputs, need_place
from slownet.model import whole_file
from slownet.model.errors import ExperimentError
from slownet.model.options import Option, same, stated
from slownet.runner.run_options import RunOptions


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """The options of `slownet check`, besides where it measures."""

    blind: bool = field(default=False, metadata=stated("", "Ask for open predictions, and record them before measuring."))
    answers: Path | None = field(
        default=None, metadata=stated("FILE", "A student's answers (TOML); --blind adds what it lacks.")
    )
    key: Path | None = field(
        default=None,
        metadata=stated("FILE", "Instead, write the measured answers: .md, or .toml to mark a class."),
    )
    runs: Path = same(RunOptions, "runs")  # noqa: RUF009  # it returns a field


@of_fields
def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Hypothesis files (TOML); see examples/exercises.", autocompletion=completing.files(".toml")
        ),
    ],
    options: CheckOptions,
    where: InLabs,
    out: OutOption = None,
    explain_clock: ExplainClockOption = False,
) -> None:
    """Run hypothesis files, mark predictions, and grade a class."""
    from slownet.cli import checking
    from slownet.lab.run import caller

    if options.key and (options.blind or out or options.answers):
        raise ExperimentError("a key contains no predictions", "--key", "leave out --blind, --answers and --out")
    caller.set_variables(where.env, where.share)
    outputs = Outputs.read(out or [], OF_RUNS)
    if options.key:
        from slownet.classroom import key

        need_place(options.key, "--key", key.OWN)
    whole_file.need_folder(options.runs, Option("runs"))
    read = checking.read(files)  # a mistake is reported before a lab is looked for
    chosen = where.choose(exact=True)
    if options.key:
        raise typer.Exit(checking.key(read, chosen, options.runs, options.key))
    ask = input if options.blind else None
    raise typer.Exit(checking.check(read, chosen, options.runs, ask, outputs, options.answers, explain_clock))
