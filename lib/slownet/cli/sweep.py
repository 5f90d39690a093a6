"""`slownet sweep`: measures an experiment under many conditions by many labs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slownet.cli.option_fields import of_fields
from slownet.cli.options import ExplainClockOption, InLabs, JsonOption
from slownet.cli.terminal import console, say_records
from slownet.lab.run.events import Event
from slownet.model.errors import SweepError
from slownet.model.options import changed
from slownet.report.bars import bars
from slownet.report.fitted import Fitted
from slownet.runner.sweep_options import OF_CELLS, SweepOptions
from slownet.runner.where import PLACED, Where

if TYPE_CHECKING:
    from slownet.sweep import Sweep

SHOWN = 20
"""Rows of the table on the terminal; the others are in the report."""


@of_fields
def sweep(
    experiment: Annotated[
        str | None,
        typer.Argument(metavar="EXPERIMENT", help="A name (see `slownet list`), a file, or a TOML file with [sweep]."),
    ] = None,
    *,
    options: SweepOptions,
    where: InLabs,
    explain_clock: ExplainClockOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure an experiment under many conditions, and draw maps."""
    from slownet.runner.boot_store.task import choice_of
    from slownet.runner.sharing import read_labs
    from slownet.sweep import factors, sweeping
    from slownet.sweep.spec import from_file, is_file

    given: dict[str, Any] = {**changed(options), **changed(where)}
    given |= {"vary": factors.parse(options.vary)} if options.vary else {}
    if experiment and is_file(experiment):
        given = from_file(Path(experiment)) | given
        experiment = given["experiment"]
    if given.get("out") is None:
        raise SweepError("no folder for the samples", "--out", "write --out FOLDER")
    placed = {name: _frozen(given[name]) for name in PLACED if name in given}
    where = Where(**placed, folder=str(Path.cwd()))
    if explain_clock and experiment:
        choice = choice_of(where.with_values(), experiment)
        print(f"slownet: {experiment}: {choice.place.clock}: {choice.why}", file=sys.stderr)
    with Follower(Path(given["out"])) as follower:
        done = sweeping.run(
            experiment, given.get("vary"), out=given["out"], resume=options.resume, merge=options.merge,
            labs=read_labs(options.labs), cluster=options.cluster, scheduler_file=options.scheduler_file, lab=options.lab,
            yes=options.yes, where=where, follow=follower, **{name: given[name] for name in OF_CELLS if name in given},
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


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


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
            print(f"slownet: {kept}. Continue with: slownet sweep --out {self._folder} --resume", file=sys.stderr)
