"""The options that several commands share: where something runs, and on which clock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.completing import one_of
from slownet.cli.outputs import OF_COMPARISONS, OF_RUNS

OF_LABS, OF_PROJECTS = "Where and on which clock", "Compose projects"
"""The sections of a command's help that these options are in."""
ClockOption = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="real|virtual",
        help="Clock of the lab; virtual by default, real in shells.",
        autocompletion=one_of("real", "virtual"),
        rich_help_panel=OF_LABS,
    ),
]
ExactClockOption = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="real|virtual|exact[:N]",
        help="Clock of the lab; virtual by default. exact: counts instructions in an emulated machine, N (3) a nanosecond.",
        autocompletion=one_of("real", "virtual", "exact"),
        rich_help_panel=OF_LABS,
    ),
]
"""For commands that take no input from outside while they run."""
StpOption = Annotated[bool, typer.Option("--stp", help="All switches run the Spanning Tree Protocol.")]
TdfOption = Annotated[
    str | None,
    typer.Option(
        "--tdf",
        metavar="N|inf|auto",
        help="How many times faster the CPU looks on the virtual clock.",
        autocompletion=one_of("inf", "auto", "1"),
        rich_help_panel=OF_LABS,
    ),
]
CpuOption = Annotated[
    str | None,
    typer.Option(
        "--cpu",
        metavar="work|time|auto",
        help="What the virtual clock charges: instructions or CPU time.",
        autocompletion=one_of("work", "time", "auto"),
        rich_help_panel=OF_LABS,
    ),
]
MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="Memory of each lab.", rich_help_panel=OF_LABS)]
EnvOption = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        metavar="NAME[=VALUE]",
        help="A variable for the experiment, here and in the lab. Repeatable.",
        rich_help_panel=OF_LABS,
    ),
]
ShareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        metavar="FOLDER[:rw]",
        help="A folder that the lab sees under the same path, read-only unless :rw. Repeatable.",
        rich_help_panel=OF_LABS,
    ),
]
PlaceOption = Annotated[
    str,
    typer.Option(
        "--place",
        metavar="auto|native|lab|confined",
        help="native: this machine's kernel, as root; lab: a lab; confined: a lab, only if this machine's kernel confines it; "
        "auto: native if possible.",
        autocompletion=one_of("auto", "native", "lab", "confined"),
        rich_help_panel=OF_LABS,
    ),
]
KernelOption = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        metavar="base|wide",
        help="The lab's kernel. wide: with what Debian's can do with networks, built by slownet lab build --kernel wide.",
        autocompletion=one_of("base", "wide"),
        rich_help_panel=OF_LABS,
    ),
]
ExplainClockOption = Annotated[
    bool,
    typer.Option(
        "--explain-clock", help="Print on standard error which clock each experiment uses, and why.", rich_help_panel=OF_LABS
    ),
]
SystemOption = Annotated[
    bool,
    typer.Option("--system", help="For all accounts of this machine, in SLOWNET_SYSTEM_CACHE, by default /var/cache/slownet."),
]
KeyOption = Annotated[Path, typer.Option("--key", metavar="FILE", help="The key that `slownet check --key KEY.toml` wrote.")]
RunsOption = Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="The folder of run directories.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="NAME=V1,V2",
        help="Conditions to measure instead, e.g. rtt=0ms,25ms or rtt=0:100:10ms; of a compose project a host's, e.g. "
        "db:rtt=0ms,25ms; "
        "faults=FILE.toml or faults='kill db at 4 s; start db at 5 s' is what breaks. Repeatable.",
        autocompletion=completing.varied,
    ),
]
CaptureOption = Annotated[
    str | None,
    typer.Option(
        "--capture", metavar="[INTERFACE,...]", help="Save the packets of these interfaces; of all hosts if none is named."
    ),
]
ProfileOption = Annotated[
    list[str] | None, typer.Option("--profile", metavar="NAME", help="A profile of the compose project. Repeatable.")
]
ToolOption = Annotated[
    str | None,
    typer.Option(
        "--tool",
        metavar="NAME|COMMAND",
        help="A client that measures the compose project, from its host client: ab, ping, wrk, browse...; with --value, any "
        "command.",
        autocompletion=completing.tools,
        rich_help_panel=OF_PROJECTS,
    ),
]
ToolsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the tool, e.g. url=http://web:8000/ or requests=50. Repeatable.",
        rich_help_panel=OF_PROJECTS,
    ),
]
ValueOption = Annotated[
    list[str] | None,
    typer.Option(
        "--value",
        metavar="PATTERN",
        help="A regular expression for a number of the command's output: 'tps = ([0-9.]+)', or (?P<name_ms>...). Repeatable.",
        rich_help_panel=OF_PROJECTS,
    ),
]
OutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--out",
        metavar="KIND=FILE",
        help="Write the results to a file, too: json, junit, markdown (appended), openmetrics. json=- prints one JSON object "
        "instead of text. Repeatable.",
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
