"""The options that several commands share: place, clock and others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from slownet.cli.completing import one_of
from slownet.cli.option_fields import Shown, stated
from slownet.cli.outputs import OF_COMPARISONS, OF_RUNS
from slownet.runner.run_options import RunOptions
from slownet.runner.where import Where

OF_LABS, OF_PROJECTS = "Where and on which clock", "Compose projects"
"""The sections of a command's help that these options are in."""


LAB = ("clock", "tdf", "cpu", "memory", "place", "kernel")
InLabs = Annotated[Where, Shown(OF_LABS, (*LAB, "env", "share"))]
"""For a command that takes no input from outside while it runs."""
InOneLab = Annotated[Where, Shown(OF_LABS, LAB)]
"""The same without variables and folders."""
FOR_INPUT: Mapping[str, Mapping[str, Any]] = {
    "clock": {
        "metavar": "real|virtual",
        "text": "The lab's clock; virtual by default, real in shells.",
        "words": ("real", "virtual"),
    }
}
InANetwork = Annotated[Where, Shown(OF_LABS, LAB, FOR_INPUT)]
"""The same for what may take input from outside, which the exact clock does not."""


ClockOption = Annotated[
    str | None,
    stated(
        Where, "clock", OF_LABS, metavar="real|virtual", text="The lab's clock; virtual by default, real in shells.",
        words=("real", "virtual"),
    ),
]  # fmt: skip
StpOption = Annotated[bool, typer.Option("--stp", help="All switches run the Spanning Tree Protocol.")]
TdfOption = Annotated[str | None, stated(Where, "tdf", OF_LABS)]
CpuOption = Annotated[str | None, stated(Where, "cpu", OF_LABS)]
MemoryOption = Annotated[int, stated(Where, "memory", OF_LABS)]
PlaceOption = Annotated[str, stated(Where, "place", OF_LABS)]
KernelOption = Annotated[str | None, stated(Where, "kernel", OF_LABS)]
RunsOption = Annotated[Path, stated(RunOptions, "runs")]
ExplainClockOption = Annotated[
    bool,
    typer.Option(
        "--explain-clock", help="Print which clock each experiment uses, and why; then measure.", rich_help_panel=OF_LABS
    ),
]
SystemOption = Annotated[
    bool,
    typer.Option("--system", help="For all accounts of this machine, in SLOWNET_SYSTEM_CACHE, by default /var/cache/slownet."),
]
KeyOption = Annotated[Path, typer.Option("--key", metavar="FILE", help="The key that `slownet check --key KEY.toml` wrote.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
ProfileOption = Annotated[
    list[str] | None, typer.Option("--profile", metavar="NAME", help="A profile of the compose project. Repeatable.")
]
OutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--out",
        metavar="KIND=FILE",
        help="Write the results to a file, too: json, junit, markdown (appended) or openmetrics. json=- prints it. Repeatable.",
        autocompletion=one_of(*(f"{each}=" for each in OF_RUNS)),
    ),
]
ComparedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--out",
        metavar="KIND=FILE",
        help="Write the comparison to a file, too: json, junit, markdown (appended), comment (for a pull request, at most 20 "
        "lines), history (the second run is added; the comment shows the last runs). json=- prints one JSON object instead of "
        "text. Repeatable.",
        autocompletion=one_of(*(f"{each}=" for each in OF_COMPARISONS)),
    ),
]
FailOption = Annotated[
    str | None,
    typer.Option(
        "--fail-if-slower",
        metavar="PERCENT",
        help="Fail only if a time is longer or a rate lower by more than this, like 5%. A condition that was not measured "
        "again leaves it open.",
    ),
]
