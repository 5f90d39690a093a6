"""The command line: `slownet list|run|reproduce|check|predict|field|compare|trace|calibrate|shell|mininet|clean|lab`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from slownet import __version__
from slownet.commands import lab
from slownet.commands.cleaning import clean
from slownet.commands.options import ClockOption, CpuOption, MemoryOption, PlaceOption, TdfOption
from slownet.commands.shell import shell
from slownet.errors import ExperimentError, SlownetError
from slownet.lab import cache, foreground
from slownet.lab.boot import MEGABYTES
from slownet.runner.rule import BUDGET

app = typer.Typer(name="slownet", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(lab.app, name="lab")
app.command()(shell)
app.command()(clean)


ROOT = Path("runs")


@app.command("list")
def list_() -> None:
    """List the experiments and their questions."""
    from slownet.commands.listing import show

    show()


@app.command()
def run(
    experiments: Annotated[
        list[str] | None, typer.Argument(metavar="EXPERIMENT...", help="Names (slownet list) or Python files.")
    ] = None,
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    vary: Annotated[
        list[str] | None, typer.Option("--vary", metavar="NAME=V1,V2", help="Other conditions, such as rtt=0ms,25ms.")
    ] = None,
    capture: Annotated[
        str | None,
        typer.Option("--capture", metavar="[INTERFACE,...]", help="Keep packets of these interfaces, or every host's."),
    ] = None,
    repeat: Annotated[
        str | None,
        typer.Option("--repeat", metavar="N|auto", help="Repetitions; auto goes on while a claim is open (default)."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="N,TIME", help="Repetitions, their wall time at most, or both: 30,1h (default)."),
    ] = None,
    labs: Annotated[
        str,
        typer.Option(
            "--labs", metavar="N|auto", help="Repetitions of an experiment side by side, each in a lab; auto: one a processor."
        ),
    ] = "auto",
    resume: Annotated[Path | None, typer.Option("--resume", metavar="RUN", help="Continue a run that did not end.")] = None,
    runs: Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where run directories are made.")] = ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Run experiments, judge their claims and write the report."""
    from slownet.commands.running import run_and_show
    from slownet.lab.place import choose
    from slownet.runner.planning import where_it_ran
    from slownet.runner.rule import read_rule
    from slownet.runner.sharing import read_labs

    if resume:
        if clock or tdf or cpu:
            fix = "leave out --clock, --tdf and --cpu"
            raise ExperimentError("a run is continued on its own clock", where="--resume", fix=fix)
        if repeat or budget:
            raise ExperimentError("a run is continued as it was planned", "--resume", "leave out --repeat and --budget")
        place, clock, tdf, cpu = where_it_ran(resume)
    rule, sides = read_rule(repeat or "auto", budget or BUDGET), read_labs(labs)
    chosen = choose(place, clock, tdf, memory, cpu)
    captured = capture.split(",") if capture else []
    raise typer.Exit(run_and_show(experiments or [], chosen, runs, vary or [], resume, as_json, rule, captured, sides))


@app.command()
def reproduce(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ARTICLE", help="Such as wordpress-latency, or an experiment; may be given again."),
    ] = None,
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    repeat: Annotated[
        str, typer.Option("--repeat", metavar="N|auto", help="Repetitions; auto goes on while a claim is open.")
    ] = "auto",
    budget: Annotated[
        str, typer.Option("--budget", metavar="N,TIME", help="Repetitions, their wall time at most, or both.")
    ] = BUDGET,
    runs: Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where the run directories are made.")] = ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Run all articles' experiments: one table of what was published, measured and foreseen."""
    from slownet.commands.reproducing import reproduce_and_show
    from slownet.lab.place import choose
    from slownet.runner.rule import read_rule

    rule = read_rule(repeat, budget)
    raise typer.Exit(reproduce_and_show(only or [], choose(place, clock, tdf, memory, cpu), runs, rule, as_json))


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run with a law.")],
    t0: Annotated[str, typer.Option("--t0", metavar="TIME", help="Time of an operation at your site without delay.")],
    rtt: Annotated[str, typer.Option("--rtt", metavar="TIME", help="Round trip of your users.")],
    metric: Annotated[str | None, typer.Option("--metric", help="A time of the run, if it measured several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict a time at another site: the law of a run, your machine's T0, your users' round trip."""
    from slownet.commands.predicting import run_and_show

    run_and_show(run, metric, t0, rtt, as_json)


@app.command()
def field(
    url: Annotated[str, typer.Argument(metavar="URL", help="A page of a service that may be measured: http or https.")],
    requests: Annotated[int, typer.Option("--requests", metavar="N", help="How many, one at a time, 1000 at most.")] = 20,
    pause: Annotated[str, typer.Option("--pause", metavar="TIME", help="Between two requests.")] = "500ms",
    timeout: Annotated[str, typer.Option("--timeout", metavar="TIME", help="For one page.")] = "10s",
    runs: Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where run directories are made.")] = ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Measure a real service, without emulation: its round trip and the time of its page."""
    from slownet.commands.field import measure_and_show

    raise typer.Exit(measure_and_show(url, requests, pause, timeout, runs, as_json))


@app.command()
def compare(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.")],
    other: Annotated[Path, typer.Argument(metavar="RUN|FIELD", help="Another, or a field.json or its directory.")],
    within: Annotated[str, typer.Option("--within", metavar="PART", help="The margin of what counts as equal.")] = "0.05",
    metric: Annotated[list[str] | None, typer.Option("--metric", help="Only this; may be given again.")] = None,
    at: Annotated[
        list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="Only at this condition, such as loss=0%.")
    ] = None,
    t0: Annotated[str | None, typer.Option("--t0", metavar="TIME", help="Time at the field's site without delay.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Say where two runs, or a run and the field, agree, where they differ and by how much."""
    from slownet.commands.field import compare_and_show

    raise typer.Exit(compare_and_show(run, other, within, metric or [], at or [], t0, as_json))


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Hypothesis files (TOML), see experiments/exercises.")],
    blind: Annotated[bool, typer.Option("--blind", help="Ask for what is left open, and record it before measuring.")] = False,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="Write a teacher's key instead: what is measured there.")
    ] = None,
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    runs: Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where run directories are made.")] = ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Run hypothesis files and mark each of their predictions."""
    from slownet.commands import checking
    from slownet.lab.place import choose
    from slownet.runner.planning import ONCE_DECIDED

    if key and (blind or as_json):
        raise ExperimentError("a key is made without predictions", "--key", "leave out --blind and --json")
    chosen = choose(place, clock, tdf, memory, cpu)
    if key:
        raise typer.Exit(checking.key(files, chosen, runs, ONCE_DECIDED, key))
    raise typer.Exit(checking.check(files, chosen, runs, input if blind else None, ONCE_DECIDED, as_json))


@app.command()
def trace(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Mahimahi trace, or what ping printed.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what a recording of a network is: its length, rates or round trips, losses."""
    from slownet.commands.tracing import show

    show(file, as_json)


@app.command()
def calibrate(
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Such as delay or loss; may be given again.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One condition of each kind.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**31, help="Another draw of what is chance.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Measure whether links do what they say: stated against measured, for a matrix of conditions."""
    from slownet.calibration.matrix import choose as choose_cases
    from slownet.commands.calibrating import calibrate_and_show
    from slownet.lab.place import choose

    choose_cases((), only or [])
    raise typer.Exit(calibrate_and_show(choose(place, clock, tdf, memory, cpu), only or [], quick, seed, as_json))


@app.command("mininet", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def mininet_program(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM ARGUMENT...", help="A Python file, or mn.")],
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
) -> None:
    """Run a Mininet program as it is: its networks are slownet's, its TCLinks do what they say."""
    from slownet.lab.place import choose

    chosen = choose(place, clock, tdf, memory, cpu)
    words = [chosen.python, "-m", "slownet.net.standin", *program]
    raise typer.Exit(foreground.run_here(chosen, words, [], terminal=foreground.are_terminals(0, 1, 2)))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"slownet {__version__}")
        raise typer.Exit


@app.callback()
def slownet(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """What a slow network does to a system, measured before the field trial."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command line; a mistake of the caller's ends in one line and status 2."""
    signal.signal(signal.SIGTERM, _end)
    os.environ.setdefault("MPLCONFIGDIR", str(cache.root() / "matplotlib"))  # not in the user's ~/.config
    try:
        words = list(sys.argv[1:] if argv is None else argv)
        status = app(args=_with_interfaces(words), prog_name="slownet", standalone_mode=False)
    except SlownetError as error:
        _complain(str(error))
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        _complain(f"{error.format_message().rstrip('.')}: see {context.command_path if context else 'slownet'} --help")
    except (KeyboardInterrupt, typer.Abort):
        print("slownet: interrupted", file=sys.stderr)
        sys.exit(130)
    else:
        sys.exit(status or 0)


def _with_interfaces(words: list[str]) -> list[str]:
    """A `run --capture` that names no interface names every host's: an option's value cannot be left out."""
    if words[:1] != ["run"]:
        return words
    following = [*words[1:], "-"]
    return [
        f"{word}=hosts" if word == "--capture" and after.startswith("-") else word
        for word, after in zip(words, following, strict=True)
    ]


def _end(number: int, frame: object) -> NoReturn:
    """A polite end is an end all the same: what was started is stopped on the way out."""
    sys.exit(128 + number)


def _complain(line: str) -> None:
    print(f"slownet: {line}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
