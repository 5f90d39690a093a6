"""`slownet run`: experiments, judged and reported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.option_fields import Shown, of_fields
from slownet.cli.options import LAB, OF_LABS, OF_PROJECTS, ExplainClockOption, OutOption
from slownet.cli.outputs import OF_RUNS, Outputs
from slownet.runner.run_options import RunOptions

OF_RUN = Shown(
    {**dict.fromkeys((*LAB, "env", "share"), OF_LABS), **dict.fromkeys(("tool", "option", "value"), OF_PROJECTS)},
    followed={"budget": "out"},
    completions={"vary": completing.varied, "resume": completing.runs, "tool": completing.tools},
)


@of_fields
def run(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Names (see `slownet list`) or files, a compose.yaml with --tool.",
            autocompletion=completing.measured_files,
        ),
    ] = None,
    out: OutOption = None,
    *,
    options: Annotated[RunOptions, OF_RUN],
    explain_clock: ExplainClockOption = False,
) -> None:
    """Run experiments, judge their claims and write a report."""
    from slownet.cli.running import run_and_show
    from slownet.runner.run_request import RunRequest

    named = experiments or []
    project = [each for each in named if is_project(each, options.tool)]
    asked = RunRequest(
        **vars(options), experiments=[each for each in named if each not in project], compose=list(map(Path, project))
    )
    asked.check()
    raise typer.Exit(run_and_show(asked, Outputs.read(out or [], OF_RUNS), explain_clock))


def is_project(name: str, tool: str | None) -> bool:
    """Return whether an argument is a compose project's file, or the folder of what a tool measures."""
    return name.endswith(completing.COMPOSE_FILES) or (tool is not None and Path(name).is_dir())
