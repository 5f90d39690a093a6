"""`slownet check`: predictions in hypothesis files, marked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.ci import ForCi
from slownet.cli.options import (
    ConfinementOption,
    CpuOption,
    EnvOption,
    ExactClockOption,
    ExplainClockOption,
    JsonOption,
    JunitOption,
    MemoryOption,
    PlaceOption,
    PrometheusOption,
    RunsOption,
    ShareOption,
    SpeedOption,
    SummaryOption,
    TdfOption,
)
from slownet.lab.boot import MEGABYTES
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
            "--key", metavar="FILE", help="Instead, write the measured answers to this file: .md, or .toml for `slownet mark`."
        ),
    ] = None,
    clock: ExactClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    require_confinement: ConfinementOption = False,
    speed: SpeedOption = None,
    runs: RunsOption = RUNS,
    env: EnvOption = None,
    share: ShareOption = None,
    explain_clock: ExplainClockOption = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    prometheus: PrometheusOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run hypothesis files and mark each prediction right, wrong or undecided."""
    from slownet.cli import checking
    from slownet.lab.clock import ClockRequest
    from slownet.lab.place import choose, with_given

    if key and (blind or as_json or answers):
        raise ExperimentError("a key contains no predictions", "--key", "leave out --blind, --answers and --json")
    where = choose(place, ClockRequest(clock, tdf, cpu, speed), memory, confined=require_confinement, exact=True)
    chosen = with_given(where, env or [], share or [])
    if key:
        raise typer.Exit(checking.key(files, chosen, runs, key))
    for_ci = ForCi(junit, summary, prometheus=prometheus)
    ask = input if blind else None
    raise typer.Exit(checking.check(files, chosen, runs, ask, as_json, for_ci, answers, explain_clock))
