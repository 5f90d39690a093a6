"""`slownet run`: experiments, judged and reported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.options import (
    BudgetOption,
    CaptureOption,
    CpuOption,
    EnvOption,
    ExactClockOption,
    ExplainClockOption,
    KernelOption,
    LabsOption,
    MemoryOption,
    OutOption,
    PlaceOption,
    RepeatOption,
    ResumeOption,
    RunsOption,
    ShareOption,
    TdfOption,
    ToolOption,
    ToolsOption,
    ValueOption,
    VaryOption,
)
from slownet.cli.outputs import OF_RUNS, Outputs
from slownet.lab.run.boot import MEGABYTES
from slownet.runner import RUNS


def run(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Names (see `slownet list`) or files; or a compose project's files (.yaml), to be measured with --tool.",
            autocompletion=completing.measured_files,
        ),
    ] = None,
    vary: VaryOption = None,
    repeat: RepeatOption = None,
    budget: BudgetOption = None,
    out: OutOption = None,
    runs: RunsOption = RUNS,
    resume: ResumeOption = None,
    capture: CaptureOption = None,
    labs: LabsOption = "auto",
    clock: ExactClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    explain_clock: ExplainClockOption = False,
    place: PlaceOption = "auto",
    kernel: KernelOption = None,
    memory: MemoryOption = MEGABYTES,
    env: EnvOption = None,
    share: ShareOption = None,
    tool: ToolOption = None,
    option: ToolsOption = None,
    value: ValueOption = None,
) -> None:
    """Run experiments, judge their claims and write a report."""
    from slownet.cli.running import run_and_show
    from slownet.runner.run_request import RunRequest

    named = experiments or []
    project = [each for each in named if is_project(each, tool)]
    asked = RunRequest(
        experiments=[each for each in named if each not in project],
        clock=clock, tdf=tdf, cpu=cpu, memory=memory, place=place, kernel=kernel,
        vary=vary or [], compose=list(map(Path, project)), tool=tool, option=option or [], value=value or [], capture=capture,
        repeat=repeat, budget=budget, labs=labs, resume=resume, runs=runs, env=env or [], share=share or [],
    )  # fmt: skip
    asked.check()
    raise typer.Exit(run_and_show(asked, Outputs.read(out or [], OF_RUNS), explain_clock))


def is_project(name: str, tool: str | None) -> bool:
    """Return whether an argument is a compose project's file, or the folder of what a tool measures."""
    return name.endswith(completing.COMPOSE_FILES) or (tool is not None and Path(name).is_dir())
