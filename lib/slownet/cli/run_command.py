"""`slownet run`: experiments, judged and reported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.ci import ForCi
from slownet.cli.options import (
    BrowseOption,
    CaptureOption,
    CommandOption,
    ComposeOption,
    ConfinementOption,
    CpuOption,
    EnvOption,
    ExactClockOption,
    ExplainClockOption,
    FaultsOption,
    JsonOption,
    JunitOption,
    MemoryOption,
    PlaceOption,
    ProfileOption,
    PrometheusOption,
    RunsOption,
    ShareOption,
    SpeedOption,
    SummaryOption,
    TdfOption,
    ToolOption,
    ToolsOption,
    UnitOption,
    UrlOption,
    ValueOption,
    VaryOption,
)
from slownet.lab.boot import MEGABYTES
from slownet.model.errors import ExperimentError
from slownet.runner import RUNS


def run(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT", help="Names (see `slownet list`) or files.", autocompletion=completing.experiments
        ),
    ] = None,
    clock: ExactClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    require_confinement: ConfinementOption = False,
    speed: SpeedOption = None,
    vary: VaryOption = None,
    faults: FaultsOption = None,
    compose: ComposeOption = None,
    profile: ProfileOption = None,
    tool: ToolOption = None,
    url: UrlOption = None,
    browse: BrowseOption = None,
    option: ToolsOption = None,
    tool_command: CommandOption = None,
    value: ValueOption = None,
    unit: UnitOption = None,
    capture: CaptureOption = None,
    repeat: Annotated[
        str | None,
        typer.Option(
            "--repeat",
            metavar="N|PART%|auto",
            help="Number of repetitions. 1%: until such a difference between two runs would be found. auto (default): until "
            "every claim is decided; without claims, until two such runs can be compared.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="N,TIME", help="Limit on repetitions, wall time, or both. Default: 30,1h."),
    ] = None,
    labs: Annotated[
        str,
        typer.Option("--labs", metavar="N|auto", help="Labs that repeat an experiment in parallel. auto: one per processor."),
    ] = "auto",
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Continue the interrupted run in this directory. With --repeat: measure more of one that has ended.",
            autocompletion=completing.runs,
        ),
    ] = None,
    runs: RunsOption = RUNS,
    env: EnvOption = None,
    share: ShareOption = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep what a compose project mounts, with its secrets, in the run directory.")
    ] = False,
    explain_clock: ExplainClockOption = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    prometheus: PrometheusOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run experiments, judge their claims and write a report."""
    from slownet.cli.running import run_and_show
    from slownet.runner.run_request import RunRequest

    if browse:
        if tool or url or tool_command:
            raise ExperimentError("--browse names tool and page", "--browse", "leave out --tool, --url and --tool-command")
        tool, url = "browse", browse
    asked = RunRequest(
        experiments=experiments or [], clock=clock, tdf=tdf, cpu=cpu, memory=memory, place=place, vary=vary or [],
        compose=compose or [], profile=profile or [], tool=tool, url=url, option=option or [], capture=capture, repeat=repeat,
        budget=budget, labs=labs, resume=resume, runs=runs, env=env or [], share=share or [], keep=keep,
        require_confinement=require_confinement, speed=speed, tool_command=tool_command, value=value or [], unit=unit or [],
        faults=faults,
    )  # fmt: skip
    asked.check()
    raise typer.Exit(run_and_show(asked, as_json, ForCi(junit, summary, prometheus=prometheus), explain_clock))
