"""Parses the command line: `slownet COMMAND ...`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from slownet import __version__
from slownet.cli import analysis, classroom, completing, endings, hunt_command, images, lab, report_command, unchanged
from slownet.cli.ci import ForCi
from slownet.cli.cleaning import clean
from slownet.cli.composing import WithExec, compose
from slownet.cli.doctor import doctor
from slownet.cli.documentation import docs
from slownet.cli.examples import explain
from slownet.cli.help_words import help_
from slownet.cli.helping import PLAIN, Group
from slownet.cli.mark_command import mark
from slownet.cli.options import (
    BrowseOption,
    CaptureOption,
    ClockOption,
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
    StpOption,
    SummaryOption,
    TdfOption,
    ToolOption,
    ToolsOption,
    UnitOption,
    UrlOption,
    ValueOption,
    VaryOption,
)
from slownet.cli.shell import shell
from slownet.cli.starting import init
from slownet.cli.sweep_command import sweep
from slownet.lab import foreground
from slownet.lab.boot import MEGABYTES
from slownet.model.errors import ExperimentError, SlownetError
from slownet.runner import RUNS
from slownet.runner.rule import BUDGET


class Commands(Group):
    """The commands; an interrupt in one is told apart from an exit, as which Typer would report it without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises typer.Abort on an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise typer.Abort from error


app = typer.Typer(name="slownet", cls=Commands, rich_markup_mode=PLAIN, pretty_exceptions_enable=False)
app.add_typer(lab.app, name="lab")
app.add_typer(images.app, name="image")


app.command()(init)


@app.command("list")
def list_() -> None:
    """List the experiments and their questions."""
    from slownet.cli.listing import show

    show()


@app.command()
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
            "every claim is decided.",
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
            "--resume", metavar="RUN", help="Continue the interrupted run in this directory.", autocompletion=completing.runs
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
        experiments or [], clock, tdf, cpu, memory, place, vary or [], compose or [], profile or [], tool, url, option or [],
        capture, repeat, budget, labs, resume, runs, env or [], share or [], keep, require_confinement, speed, tool_command,
        value or [], unit or [], faults,
    )  # fmt: skip
    asked.check()
    raise typer.Exit(run_and_show(asked, as_json, ForCi(junit, summary, prometheus=prometheus), explain_clock))


@app.command()
def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="ARTICLE",
            help="Only this article, e.g. wordpress-latency, or this experiment. Repeatable.",
            autocompletion=completing.articles,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also the experiments on today's protocols: TLS, QUIC, HTTP/2...")
    ] = False,
    clock: ExactClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    require_confinement: ConfinementOption = False,
    repeat: Annotated[
        str,
        typer.Option(
            "--repeat",
            metavar="N|PART%|auto",
            help="Number of repetitions. 1%: until such a difference between two runs would be found. auto: until every claim "
            "is decided.",
        ),
    ] = "auto",
    budget: Annotated[
        str, typer.Option("--budget", metavar="N,TIME", help="Limit on repetitions, wall time, or both.")
    ] = BUDGET,
    runs: RunsOption = RUNS,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    prometheus: PrometheusOption = None,
    explain_clock: ExplainClockOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Run the experiments of all articles and tabulate published, measured and predicted values."""
    from slownet.cli.reproducing import reproduce_and_show
    from slownet.lab.place import choose
    from slownet.runner.rule import read_rule

    rule, for_ci = read_rule(repeat, budget), ForCi(junit, summary, prometheus=prometheus)
    chosen = choose(place, clock, tdf, memory, cpu, confined=require_confinement, exact=True)
    raise typer.Exit(reproduce_and_show(only or [], chosen, runs, rule, as_json, for_ci, every, explain_clock))


app.command()(sweep)  # here because --help lists commands in this order
app.command()(hunt_command.hunt)
app.command()(hunt_command.replay)
app.command()(report_command.report)
app.command()(report_command.show)
app.command()(analysis.predict)
app.command()(analysis.field)
app.command()(analysis.compare)
app.add_typer(analysis.baseline, name="baseline")


@app.command()
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
    from slownet.lab.place import choose, with_given
    from slownet.runner.planning import ONCE_DECIDED

    if key and (blind or as_json or answers):
        raise ExperimentError("a key contains no predictions", "--key", "leave out --blind, --answers and --json")
    where = choose(place, clock, tdf, memory, cpu, confined=require_confinement, exact=True, speed=speed)
    chosen = with_given(where, env or [], share or [])
    if key:
        raise typer.Exit(checking.key(files, chosen, runs, ONCE_DECIDED, key))
    for_ci = ForCi(junit, summary, prometheus=prometheus)
    ask = input if blind else None
    raise typer.Exit(checking.check(files, chosen, runs, ask, ONCE_DECIDED, as_json, for_ci, answers, explain_clock))


app.command()(mark)
app.add_typer(classroom.app, name="classroom")
app.command()(analysis.trace)
app.command()(analysis.calibrate)


@app.command("mininet", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def mininet_program(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM", help="A Python file or mn, then its arguments.")],
    stp: StpOption = False,
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    require_confinement: ConfinementOption = False,
) -> None:
    """Run an unchanged Mininet program with slownet's networks, whose TCLinks do what they say."""
    from slownet.lab.place import choose

    chosen = choose(place, clock, tdf, memory, cpu, confined=require_confinement)
    words = [chosen.python, "-m", "slownet.net.standin", *(["--stp"] if stp else []), *program]
    named = [Path(program[0])] if Path(program[0]).is_file() else []
    terminal = foreground.are_terminals(0, 1, 2)
    raise typer.Exit(unchanged.run(chosen, words, [*named, *unchanged.files_in(program[1:])], terminal))


app.command(cls=WithExec)(compose)
app.command()(shell)
app.command()(clean)
app.command()(doctor)
app.command()(docs)
app.command("help")(help_)


explain(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"slownet {__version__}")
        raise typer.Exit


@app.callback()
def slownet(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Measure what a slow network does to a system, before the field trial."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; whatever goes wrong ends with one line and a status of its own."""
    with endings.one_line():
        run_words(argv)


def run_words(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, and exit with its status. Raises SlownetError, and KeyboardInterrupt."""
    try:
        words = list(sys.argv[1:] if argv is None else argv)
        status = app(args=_with_interfaces(words), prog_name="slownet", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        line = f"{error.format_message().rstrip('.')}: see {context.command_path if context else 'slownet'} --help"
        raise SlownetError(line) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    sys.exit(status or 0)


def _with_interfaces(words: list[str]) -> list[str]:
    """Insert the value "hosts" after a `run --capture` that names no interface: Typer requires a value."""
    if words[:1] != ["run"]:
        return words
    following = [*words[1:], "-"]
    return [
        f"{word}=hosts" if word == "--capture" and after.startswith("-") else word
        for word, after in zip(words, following, strict=True)
    ]
