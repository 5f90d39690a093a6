"""The commands that measure nothing on an experiment's network: `slownet predict|field|compare|trace|calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.helping import Group
from slownet.cli.options import (
    ClockOption,
    ComparedOption,
    CpuOption,
    JsonOption,
    KernelOption,
    MemoryOption,
    PlaceOption,
    RunsOption,
    TdfOption,
)
from slownet.cli.outputs import OF_COMPARISONS, Outputs
from slownet.lab.run.boot import MEGABYTES
from slownet.links.ip import IPV4, IPV6
from slownet.runner import RUNS

FailOption = Annotated[
    str | None,
    typer.Option(
        "--fail-if-slower",
        metavar="PERCENT",
        help="Fail only if a time is longer or a rate lower by more than this, like 5%. A condition that was not measured "
        "again leaves it open.",
    ),
]
baseline = typer.Typer(cls=Group, help="Keep a run's numbers in a file to commit, and compare later runs with it.")


def predict(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The directory of a run at several delays.", autocompletion=completing.runs)
    ],
    t0: Annotated[str, typer.Option("--t0", metavar="TIME", help="Time per operation on your machine without delay.")],
    rtt: Annotated[str, typer.Option("--rtt", metavar="TIME", help="Round-trip time of your users.")],
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME", help="Which time to predict, if the run measured several.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Predict a time at another site from a run's law, your machine's T0 and your users' round trip."""
    from slownet.cli.predicting import run_and_show

    run_and_show(run, metric, t0, rtt, as_json)


def field(
    url: Annotated[str, typer.Argument(metavar="URL", help="An http or https page that you are allowed to measure.")],
    requests: Annotated[
        int, typer.Option("--requests", metavar="N", help="Number of requests, sent one at a time; at most 1000.")
    ] = 20,
    pause: Annotated[str, typer.Option("--pause", metavar="TIME", help="Pause between two requests.")] = "500ms",
    timeout: Annotated[str, typer.Option("--timeout", metavar="TIME", help="Time limit for one page.")] = "10s",
    http: Annotated[str, typer.Option("--http", metavar="VERSION", help="The version of HTTP: 1.1, 2 or 3.")] = "1.1",
    tls: Annotated[
        str, typer.Option("--tls", metavar="VERSION", help="The version of TLS: 1.2, 1.3, or the best that both sides have.")
    ] = "best",
    runs: RunsOption = RUNS,
    as_json: JsonOption = False,
) -> None:
    """Measure a real service without emulation: its round-trip time, and the time of a page and of its parts."""
    from slownet.cli.field import measure_and_show

    raise typer.Exit(measure_and_show(url, requests, pause, timeout, runs, as_json, http, tls))


def compare(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", autocompletion=completing.runs)],
    other: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FIELD",
            help="Another run's directory, or a field.json or its directory.",
            autocompletion=completing.runs,
        ),
    ],
    within: Annotated[
        str | None,
        typer.Option(
            "--within",
            metavar="PART",
            help="Relative difference that still counts as equal. Default: 0.05; of two runs whose numbers repeat 0.005; half "
            "of what run --repeat 2% asked for.",
        ),
    ] = None,
    fail_if_slower: FailOption = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", metavar="NAME", help="Compare only this metric. Repeatable.")
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=VALUE", help="Compare only at this condition, e.g. loss=0%. Repeatable."),
    ] = None,
    t0: Annotated[
        str | None, typer.Option("--t0", metavar="TIME", help="Time per operation at the field site without delay.")
    ] = None,
    out: ComparedOption = None,
) -> None:
    """Compare two runs, or a run and a field measurement: where they agree or differ, and by how much.

    The exit status is 0 if the second is equal or better, 1 if it is worse or differs, 3 if more repetitions are needed.
    """
    from slownet.cli.field import compare_and_show

    outputs = Outputs.read(out or [], OF_COMPARISONS)
    raise typer.Exit(compare_and_show(run, other, within, metric or [], at or [], t0, fail_if_slower, outputs))


@baseline.command()
def save(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", autocompletion=completing.runs)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The baseline to write.")] = Path("baseline.json"),
) -> None:
    """Write a run's numbers to a file."""
    from slownet.cli.field import save_baseline

    save_baseline(run, file)


@baseline.command()
def check(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="The directory of a run of the same experiment.", autocompletion=completing.runs),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The baseline.")] = Path("baseline.json"),
    fail_if_slower: FailOption = None,
    out: ComparedOption = None,
) -> None:
    """Compare a run with a baseline, all of it; the exit status is that of `slownet compare`."""
    from slownet.cli.field import check_baseline

    raise typer.Exit(check_baseline(run, file, fail_if_slower, Outputs.read(out or [], OF_COMPARISONS)))


def trace(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A trace (Mahimahi, Pensieve, TheaterQ, CellReplay, LENS, WetLinks), ping's output, or a capture.",
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Summarize a recorded trace: its length, rates or round-trip times, and losses."""
    from slownet.cli.tracing import show

    show(file, as_json)


def calibrate(
    clock: ClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    kernel: KernelOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this kind of condition, e.g. delay or loss. Repeatable."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Measure one condition of each kind.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**31, help="Seed of everything random.")] = 1,
    ipv6: Annotated[
        bool, typer.Option("--ipv6", help=f"Send IPv6 instead of IPv4 packets; the least MTU is {IPV6.least_mtu}.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare the stated and the measured effect of links, for a matrix of conditions."""
    from slownet.calibration.cases import choose as choose_cases
    from slownet.cli.calibrating import calibrate_and_show
    from slownet.lab.run.clock import ClockRequest
    from slownet.lab.run.place import choose

    choose_cases((), only or [])
    ip = IPV6 if ipv6 else IPV4
    chosen = choose(place, ClockRequest(clock, tdf, cpu), memory, kernel=kernel)
    raise typer.Exit(calibrate_and_show(chosen, only or [], quick, seed, ip, as_json))
