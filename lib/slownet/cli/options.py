"""The options that several commands share: where something runs, and on which clock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.completing import one_of

ClockOption = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="real|virtual",
        help="Clock of the lab; virtual by default, real in shells.",
        autocompletion=one_of("real", "virtual"),
    ),
]
ExactClockOption = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="real|virtual|exact",
        help="Clock of the lab; virtual by default. exact: counts instructions in an emulated machine.",
        autocompletion=one_of("real", "virtual", "exact"),
    ),
]
"""For commands to which nothing comes from outside while they run."""
SpeedOption = Annotated[
    int | None,
    typer.Option("--speed", metavar="N", help="Instructions that the exact clock counts in a nanosecond. Default: 3."),
]
StpOption = Annotated[bool, typer.Option("--stp", help="All switches run the Spanning Tree Protocol.")]
TdfOption = Annotated[
    str | None,
    typer.Option(
        "--tdf",
        metavar="N|inf|auto",
        help="How many times faster the CPU looks on the virtual clock.",
        autocompletion=one_of("inf", "auto", "1"),
    ),
]
CpuOption = Annotated[
    str | None,
    typer.Option(
        "--cpu",
        metavar="work|time|auto",
        help="What the virtual clock charges: instructions or CPU time.",
        autocompletion=one_of("work", "time", "auto"),
    ),
]
MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="Memory of each lab.")]
EnvOption = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME[=VALUE]", help="A variable for the experiment, here and in the lab. Repeatable."),
]
ShareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        metavar="FOLDER[:rw]",
        help="A folder that the lab sees under the same path, read-only unless :rw. Repeatable.",
    ),
]
PlaceOption = Annotated[
    str,
    typer.Option(
        "--place",
        metavar="auto|native|lab",
        help="native: this machine's kernel, as root; lab: a lab; auto: native if possible.",
        autocompletion=one_of("auto", "native", "lab"),
    ),
]
ConfinementOption = Annotated[
    bool, typer.Option("--require-confinement", help="Refuse to run where nothing but its own kernel confines a lab.")
]
ExplainClockOption = Annotated[
    bool, typer.Option("--explain-clock", help="Say on standard error which clock each experiment has, and why.")
]
SystemOption = Annotated[
    bool,
    typer.Option("--system", help="For all accounts of this machine, in SLOWNET_SYSTEM_CACHE, by default /var/cache/slownet."),
]
KeyOption = Annotated[Path, typer.Option("--key", metavar="FILE", help="The key that `slownet check --key KEY.toml` wrote.")]
RunsOption = Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where to create run directories.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
JunitOption = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the verdicts as JUnit XML too, for a CI service.")
]
SummaryOption = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="Append the verdicts as Markdown to this file, such as a CI job's summary."),
]
PrometheusOption = Annotated[
    Path | None,
    typer.Option("--prometheus", metavar="FILE", help="Write metrics and verdicts as OpenMetrics, which Prometheus reads."),
]
CommentOption = Annotated[
    Path | None,
    typer.Option("--comment", metavar="FILE", help="Write at most 20 lines of Markdown, as a comment for a pull request."),
]
HistoryOption = Annotated[
    Path | None,
    typer.Option("--history", metavar="FILE", help="Add the second run to this file; the comment shows its last runs."),
]
FaultsOption = Annotated[
    str | None,
    typer.Option(
        "--faults",
        metavar="FILE|WORDS",
        help="What breaks, for an experiment that varies faults: a TOML file, or words: 'kill db at 4 s; start db at 5 s'.",
    ),
]
VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="NAME=V1,V2",
        help="Conditions to measure instead, e.g. rtt=0ms,25ms; with --compose a host's, e.g. db:rtt=0ms,25ms. Repeatable.",
        autocompletion=completing.varied,
    ),
]
CaptureOption = Annotated[
    str | None,
    typer.Option(
        "--capture", metavar="[INTERFACE,...]", help="Save the packets of these interfaces; of all hosts if none is named."
    ),
]
ComposeOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--compose",
        metavar="FILE",
        help="Measure this compose project with --tool or --tool-command. Repeatable: files are merged.",
        autocompletion=completing.files(".yaml", ".yml"),
    ),
]
ProfileOption = Annotated[
    list[str] | None, typer.Option("--profile", metavar="NAME", help="A profile of the compose project. Repeatable.")
]
ToolOption = Annotated[
    str | None,
    typer.Option(
        "--tool",
        metavar="NAME",
        help="What measures the compose project, from its host client: ab, ping, wrk, sysbench...",
        autocompletion=completing.tools,
    ),
]
BrowseOption = Annotated[
    str | None,
    typer.Option("--browse", metavar="URL", help="Load this page of the compose project in a browser, as --tool browse does."),
]
UrlOption = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="The page to measure, with a service as its host: http://web:8000/.")
]
ToolsOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the tool, e.g. requests=50 or from=web. Repeatable."),
]
CommandOption = Annotated[
    str | None,
    typer.Option(
        "--tool-command",
        metavar="COMMAND",
        help="Measure the compose project with this command; with --option from=db in that service's container.",
    ),
]
ValueOption = Annotated[
    list[str] | None,
    typer.Option(
        "--value",
        metavar="PATTERN",
        help="A regular expression for a number of the command's output: 'tps = ([0-9.]+)', or (?P<name_ms>...). Repeatable.",
    ),
]
UnitOption = Annotated[
    list[str] | None, typer.Option("--unit", metavar="UNIT", help="The unit of such a number, e.g. ms. Repeatable.")
]
