"""The options that several commands share: where something runs, and on which clock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ClockOption = Annotated[
    str | None, typer.Option("--clock", metavar="real|virtual", help="Clock of the lab; virtual by default, real in shells.")
]
TdfOption = Annotated[
    str | None, typer.Option("--tdf", metavar="N|inf|auto", help="How many times faster the CPU looks on the virtual clock.")
]
CpuOption = Annotated[
    str | None,
    typer.Option("--cpu", metavar="work|time|auto", help="What the virtual clock charges: instructions or CPU time."),
]
MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="Memory of each lab.")]
EnvOption = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME[=VALUE]", help="A variable for the experiment, here and in the lab. Repeatable."),
]
ShareOption = Annotated[
    list[str] | None,
    typer.Option("--share", metavar="FOLDER[:rw]", help="A folder that the lab sees under the same path. Repeatable."),
]
PlaceOption = Annotated[
    str,
    typer.Option(
        "--place",
        metavar="auto|native|lab",
        help="native: this machine's kernel, as root; lab: a lab; auto: native if possible.",
    ),
]
RunsOption = Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where to create run directories.")]
RUNS = Path("runs")
"""The default of `RunsOption`."""
JunitOption = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the verdicts as JUnit XML too, for a CI service.")
]
SummaryOption = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="Append the verdicts as Markdown to this file, such as a CI job's summary."),
]
