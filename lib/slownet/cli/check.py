"""`slownet check`: predictions in hypothesis files, marked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.options import (
    CpuOption,
    EnvOption,
    ExactClockOption,
    ExplainClockOption,
    KernelOption,
    MemoryOption,
    OutOption,
    PlaceOption,
    RunsOption,
    ShareOption,
    TdfOption,
)
from slownet.cli.outputs import OF_RUNS, Outputs
from slownet.lab.run.boot import MEGABYTES
from slownet.model.errors import ExperimentError
from slownet.runner import RUNS


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Hypothesis files (TOML); see examples/exercises.", autocompletion=completing.files(".toml")
        ),
    ],
    blind: Annotated[
        bool, typer.Option("--blind", help="Ask for predictions that are left open, and record them before measuring.")
    ] = False,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers", metavar="FILE", help="A student's answers (TOML); with --blind, what it lacks is added to it."
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Instead, write the measured answers to this file: .md, or .toml for `slownet check mark`.",
        ),
    ] = None,
    clock: ExactClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    kernel: KernelOption = None,
    out: OutOption = None,
    runs: RunsOption = RUNS,
    env: EnvOption = None,
    share: ShareOption = None,
    explain_clock: ExplainClockOption = False,
) -> None:
    """Run hypothesis files, mark predictions, and grade a class."""
    from slownet.cli import checking
    from slownet.lab.run import caller
    from slownet.lab.run.clock import ClockRequest
    from slownet.lab.run.place import choose, with_given

    if key and (blind or out or answers):
        raise ExperimentError("a key contains no predictions", "--key", "leave out --blind, --answers and --out")
    caller.set_variables(env or [], share or [])
    outputs = Outputs.read(out or [], OF_RUNS)
    read = checking.read(files)  # a mistake is reported before a lab is looked for
    where = choose(place, ClockRequest(clock, tdf, cpu), memory, exact=True, kernel=kernel)
    chosen = with_given(where, env or [], share or [])
    if key:
        raise typer.Exit(checking.key(read, chosen, runs, key))
    ask = input if blind else None
    raise typer.Exit(checking.check(read, chosen, runs, ask, outputs, answers, explain_clock))
