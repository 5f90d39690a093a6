"""`slownet sweep`: measures an experiment under many conditions by many labs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slownet.cli.options import (
    CpuOption,
    EnvOption,
    ExactClockOption,
    ExplainClockOption,
    JsonOption,
    KernelOption,
    MemoryOption,
    PlaceOption,
    ShareOption,
    TdfOption,
)
from slownet.cli.terminal import console, say_records
from slownet.lab.run.boot import MEGABYTES
from slownet.lab.run.events import Event
from slownet.model.errors import SweepError
from slownet.report.bars import bars
from slownet.report.fitted import Fitted

if TYPE_CHECKING:
    from slownet.sweep import Sweep

SHOWN = 20
"""Rows of the table on the terminal; the others are in the report."""


def sweep(
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPERIMENT", help="A name (see `slownet list`), its file, or a TOML file with a table [sweep]."
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="NAME=VALUES", help="rtt=0:200:10ms, rate=1:64:x2Mbit or loss=0,0.1,1%. Repeatable."),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option("--sample", metavar="KIND:N", help="Part of the grid: random:100, lhs:100 or sobol:128. Default: grid."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Of the sample. Default: 1.")] = None,
    repeat: Annotated[
        int | None,
        typer.Option(
            "--repeat",
            metavar="N",
            help="Repetitions of each cell, with other seeds. Default: 1; with --criterion and programs of your own, up to 4.",
        ),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion", metavar="LIMIT", help="Each cell has to meet it: 'time_per_request_ms<300', 'p99 rtt_ms<9ms'."
        ),
    ] = None,
    refine: Annotated[
        str | None,
        typer.Option(
            "--refine", metavar="NAME:STEP", help="More values where the criterion flips, or else a metric bends: rtt:1ms."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Where samples and report go.")] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the sweep in --out, or measure more in it; only what failed is repeated."),
    ] = False,
    merge: Annotated[
        list[Path] | None,
        typer.Option("--merge", metavar="FOLDER", help="Take over the samples of another sweep. Repeatable."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Give each cell a lab of its own.")] = False,
    cold: Annotated[
        bool, typer.Option("--cold", help="Prepare services anew in each lab, not once (@experiment's prepare).")
    ] = False,
    labs: Annotated[
        str, typer.Option("--labs", metavar="N|auto", help="Labs at the same time. auto: one per processor, if they fit.")
    ] = "auto",
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster", metavar="ADDRESS|local", help="Measure by the workers of this Dask cluster: tcp://host:8786."
        ),
    ] = None,
    scheduler_file: Annotated[
        Path | None, typer.Option("--scheduler-file", metavar="FILE", help="Measure by the Dask cluster of this file.")
    ] = None,
    lab: Annotated[
        str | None,
        typer.Option("--lab", metavar="FILE|URL", help="Where the cluster's workers get a lab: http://HOST/lab.tar#sha256=..."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Measure even more than 100,000 samples.")] = False,
    clock: ExactClockOption = None,
    tdf: TdfOption = None,
    cpu: CpuOption = None,
    memory: MemoryOption = MEGABYTES,
    place: PlaceOption = "auto",
    kernel: KernelOption = None,
    env: EnvOption = None,
    share: ShareOption = None,
    explain_clock: ExplainClockOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure an experiment under many conditions, and draw maps."""
    from slownet.runner.boot_store.task import choice_of
    from slownet.runner.sharing import read_labs
    from slownet.runner.where import PLACED, Where
    from slownet.sweep import factors, sweeping
    from slownet.sweep.spec import from_file, is_file

    given: dict[str, Any] = {
        "experiment": experiment, "vary": factors.parse(vary or []) or None, "sample": sample, "seed": seed,
        "repeat": repeat, "fresh": fresh or None, "cold": cold or None, "clock": clock, "tdf": tdf, "cpu": cpu,
        "env": env, "share": share,
        "criterion": criterion, "refine": refine, "out": out, "memory": memory if memory != MEGABYTES else None,
        "place": place if place != "auto" else None, "kernel": kernel,
    }  # fmt: skip
    if experiment and is_file(experiment):
        given = from_file(Path(experiment)) | {
            name: value for name, value in given.items() if value is not None and name != "experiment"
        }
    if given.get("out") is None:
        raise SweepError("no folder for the samples", "--out", "write --out FOLDER")
    asked: dict[str, Any] = {name: given[name] for name in PLACED if given.get(name) is not None}
    asked |= {name: tuple(asked[name]) for name in ("env", "share") if name in asked}
    where = Where(**asked, folder=str(Path.cwd()))
    passed = ("sample", "seed", "repeat", "fresh", "cold", "criterion", "refine")
    options = {name: given[name] for name in passed if given.get(name) is not None}
    if explain_clock and given.get("experiment"):
        choice = choice_of(where.with_values(), given["experiment"])
        print(f"slownet: {given['experiment']}: {choice.place.clock}: {choice.why}", file=sys.stderr)
    with Follower(Path(given["out"])) as follower:
        done = sweeping.run(
            given.get("experiment"), given.get("vary"), out=given["out"], resume=resume, merge=merge or [],
            labs=read_labs(labs), cluster=cluster, scheduler_file=scheduler_file, lab=lab, yes=yes, where=where,
            follow=follower, **options,
        )  # fmt: skip
    show(done, as_json)
    raise typer.Exit(int(bool(done.aside or done.run.failed)))


def show(done: Sweep, as_json: bool) -> None:
    """Print a sweep."""
    if as_json:
        verdicts = {title: each.to_json() for title, each in done.verdicts.items()}
        flips = [each.to_json() for each in done.flips]
        print(json.dumps({**done.run.to_json(), "aside": done.aside, "new": done.new, "verdicts": verdicts, "flips": flips}))
        return
    metrics = list(dict.fromkeys(name for cell in done.run.cells for name in cell.metrics))[:3]
    table = Fitted()
    for name in ("cell", *metrics, *([done.criterion.text] if done.criterion else [])):
        table.add_column(name, justify="left" if name == "cell" else "right")
    for cell in done.run.cells[:SHOWN]:
        verdict = [done.verdicts[cell.title].verdict if cell.title in done.verdicts else "-"] if done.criterion else []
        numbers = (f"{cell.metrics[name].mean:.4g}" if name in cell.metrics else "-" for name in metrics)
        table.add_row(cell.title, *numbers, *verdict)
    screen = console()
    screen.print(f"{done.run.experiment}: {len(done.run.cells)} cells, {done.new} samples new", highlight=False)
    screen.print(table)
    if (more := len(done.run.cells) - SHOWN) > 0:
        screen.print(f"and {more} more cells", style="dim", highlight=False)
    test = done.criterion.text if done.criterion else ""
    for flip in done.flips:
        screen.print(f"{test}: {flip}", highlight=False)
    from slownet.judge.records.cell import by_error
    from slownet.report.view import position_notes

    for note in position_notes(done.run):
        screen.print(note, style="dim", highlight=False)
    for line in by_error((cell.title, cell.error) for cell in done.run.failed):
        screen.print(line, highlight=False, soft_wrap=True)
    for each in done.aside:
        print(f"slownet: set aside {_words(each['cell'])}: {each['why']}", file=sys.stderr)
    from slownet.report.html_page import REPORT

    say_records(screen, done.directory, page=REPORT)


def _words(cell: Mapping[str, str]) -> str:
    return " ".join(f"{name} {value}" for name, value in cell.items())


class Follower:
    """A progress bar on standard error, one step per cell; how to go on, after an end before the last."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._cells, self._done = folder, 0, 0
        self._progress = bars()
        self._task = self._progress.add_task("sweep", total=None, now="booting")

    def __enter__(self) -> Follower:
        self._progress.start()
        return self

    def __call__(self, event: str, facts: Event) -> None:
        if event == "workers":
            dashboard = f", dashboard {facts['dashboard']}" if facts["dashboard"] else ""
            self._progress.console.print(f"{facts['labs']} lab{'s' * (facts['labs'] > 1)}{dashboard}", highlight=False)
        elif event == "planned":
            self._cells, self._done = facts["cells"], 0
            self._progress.update(self._task, total=facts["cells"], completed=0, now="booting")
        elif event == "measured":
            self._done += facts["cells"]
            self._progress.update(self._task, advance=facts["cells"], now=facts["worker"])
            for error in facts["errors"][:1]:
                self._progress.console.print(f"slownet: {error}", style="yellow", soft_wrap=True)
        elif event == "ended":
            self._done = facts["saved"]
        elif event == "aside":
            line = f"slownet: set aside {_words(facts['cell'])}: {facts['why']}"
            self._progress.console.print(line, style="yellow", soft_wrap=True)

    def __exit__(self, kind: object, *error: object) -> None:
        self._progress.stop()
        if kind and 0 < self._done < self._cells:
            kept = f"{self._done} of {self._cells} samples are saved"
            print(f"slownet: {kept}, continue with: slownet sweep --out {self._folder} --resume", file=sys.stderr)
