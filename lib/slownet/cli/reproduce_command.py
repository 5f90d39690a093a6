"""`slownet reproduce`: the experiments of all articles."""

from __future__ import annotations

from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.options import (
    CpuOption,
    ExactClockOption,
    ExplainClockOption,
    KernelOption,
    MemoryOption,
    OutOption,
    PlaceOption,
    RunsOption,
    TdfOption,
)
from slownet.cli.outputs import OF_RUNS, Outputs
from slownet.lab.run.boot import MEGABYTES
from slownet.runner import RUNS
from slownet.runner.rule import BUDGET


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
    kernel: KernelOption = None,
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
    out: OutOption = None,
    runs: RunsOption = RUNS,
    explain_clock: ExplainClockOption = False,
) -> None:
    """Run the experiments of all articles and tabulate published, measured and predicted values."""
    from slownet.cli.reproducing import reproduce_and_show
    from slownet.lab.run.clock import ClockRequest
    from slownet.lab.run.place import choose
    from slownet.runner.rule import read_rule

    rule, outputs = read_rule(repeat, budget), Outputs.read(out or [], OF_RUNS)
    chosen = choose(place, ClockRequest(clock, tdf, cpu), memory, exact=True, kernel=kernel)
    raise typer.Exit(reproduce_and_show(only or [], chosen, runs, rule, outputs, every, explain_clock))
