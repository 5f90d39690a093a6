"""`slownet reproduce`: the experiments of all articles."""

from __future__ import annotations

from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.ci import ForCi
from slownet.cli.options import (
    ConfinementOption,
    CpuOption,
    ExactClockOption,
    ExplainClockOption,
    JunitOption,
    MemoryOption,
    PlaceOption,
    PrometheusOption,
    RunsOption,
    SummaryOption,
    TdfOption,
)
from slownet.lab.boot import MEGABYTES
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
    from slownet.lab.clock import ClockRequest
    from slownet.lab.place import choose
    from slownet.runner.rule import read_rule

    rule, for_ci = read_rule(repeat, budget), ForCi(junit, summary, prometheus=prometheus)
    chosen = choose(place, ClockRequest(clock, tdf, cpu), memory, confined=require_confinement, exact=True)
    raise typer.Exit(reproduce_and_show(only or [], chosen, runs, rule, as_json, for_ci, every, explain_clock))
