"""`slownet hunt` and `slownet hunt replay`: the schedule of faults that breaks a system, found, made small and repeated."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slownet.cli import completing
from slownet.cli.option_fields import of_fields
from slownet.cli.options import InLabs, JsonOption
from slownet.cli.terminal import console, say_records
from slownet.lab.run.caller import without_values
from slownet.model.errors import ExperimentError
from slownet.model.options import stated
from slownet.model.shapes import Json
from slownet.report.bars import bars
from slownet.report.fitted import Fitted
from slownet.runner.where import Where

if TYPE_CHECKING:
    from slownet.hunt.bench import Example
    from slownet.hunt.hunt_outcome import Hunted

HUNTS = Path("hunts")
LISTED = 12
"""Rows of what was tried; the others are summed up."""


@dataclass(frozen=True, kw_only=True)
class HuntOptions:
    """The options of a hunt."""

    examples: int | None = field(
        default=None, metadata=stated("N", "Schedules to try at most. Default: 200, or as before.", least=1)
    )
    budget: str = field(default="30m", metadata=stated("TIME", "Wall time, such as 30m."))
    labs: str = field(default="auto", metadata=stated("N|auto", "Labs at the same time. auto: one per processor, if they fit."))
    seed: int | None = field(
        default=None, metadata=stated("N", "Other schedules for another number. Default: 1, or as before.")
    )
    out: Path | None = field(default=None, metadata=stated("FOLDER", "The folder for examples. Default: hunts/NAME."))
    resume: bool = field(default=False, metadata=stated("", "Go on with the hunt in that folder; nothing is repeated."))


@of_fields
def hunt(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT", help="Its file, or its name (see `slownet list`).", autocompletion=completing.experiments
        ),
    ],
    options: HuntOptions,
    where: InLabs,
    as_json: JsonOption = False,
) -> None:
    """Look for the smallest schedule of faults that breaks a system."""
    from slownet.hunt.hunting import Hunt
    from slownet.runner.rule import wall_time
    from slownet.runner.sharing import read_labs

    folder = options.out or HUNTS / Path(experiment).stem
    with Follower() as follower:
        done = Hunt(
            experiment, folder, here(where), options.examples, options.seed, wall_time(options.budget), read_labs(options.labs),
            options.resume, follower,
        ).run()  # fmt: skip
    if as_json:
        print(json.dumps(_facts(done)))
    else:
        show(done)
    raise typer.Exit(int(done.smallest is not None or bool(done.failed)))


def show(done: Hunted) -> None:
    """Print what came of a hunt."""
    from slownet.hunt import drawing
    from slownet.hunt.hunt_outcome import in_words

    screen = console()
    tried = drawing.of(each.faults for each in done.measured)
    if done.smallest is None:
        more = "" if not done.is_over else " when the time was over"
        screen.print(f"nothing breaks in {in_words(tried.schedules)}{more}", highlight=False)
    elif not done.smallest.faults.steps:
        screen.print("it breaks without any fault:", highlight=False)
    else:
        more = ", not yet as small as can be: --resume goes on" if done.is_over else ""
        screen.print(f"found by schedule {done.tried}, of {done.schedules} tried in all{more}", highlight=False)
        screen.print(f"  {done.smallest.faults}", highlight=False, soft_wrap=True)
    for violation in done.smallest.violations if done.smallest else ():
        screen.print(f"  {violation}", highlight=False, soft_wrap=True)
    if done.repeats is not None:
        same = (
            f"another boot differs, {done.repeats}" if done.repeats else "another boot gives the same history, digit for digit"
        )
        screen.print(same, highlight=False, soft_wrap=True)
    _show_coverage(screen, tried)
    if done.failed:
        screen.print(done.failed_in_words, highlight=False, soft_wrap=True)
    if done.smallest:
        screen.print(f"replay: slownet hunt replay {done.directory / 'found.toml'}", highlight=False, soft_wrap=True)
    from slownet.report.html_page import REPORT

    say_records(screen, done.directory, page=REPORT)


def _show_coverage(screen: Any, tried: Any) -> None:
    if not tried.begun:
        return
    from slownet.hunt.drawing import parts
    from slownet.hunt.hunt_outcome import in_words

    table = Fitted()
    table.add_column("breaks tried, by their begin")
    for part in parts(tried):
        table.add_column(part, justify="right")
    rows = list(tried.begun.items())
    for name, counts in rows[:LISTED]:
        table.add_row(name, *map(str, counts))
    if rest := rows[LISTED:]:
        table.add_row(f"{len(rest)} more", *(str(sum(column)) for column in zip(*(counts for _, counts in rest), strict=True)))
    screen.print(table)
    screen.print(f"in {in_words(tried.together)} one break overlapped another", style="dim", highlight=False)


def here(where: Where) -> Where:
    """Return it with this folder and the values of its variables, for workers. Raises LabError."""
    return replace(where, folder=str(Path.cwd())).with_values()


def _facts(done: Hunted) -> dict[str, Json]:
    def shown(example: Example | None) -> dict[str, Json] | None:
        if example is None:
            return None
        return {
            "faults": example.faults.to_json(), "words": str(example.faults), "violations": violations(example),
            "history_sha256": digest(example),
        }  # fmt: skip

    return {
        "tried": done.tried, "schedules": len(done.examples), "first": shown(done.first), "smallest": shown(done.smallest),
        "same": None if done.repeats is None else not done.repeats, "over": done.is_over, "directory": str(done.directory),
        "failed": [{"words": str(each.faults), "error": each.error} for each in done.failed],
    }  # fmt: skip


def violations(example: Example) -> list[dict[str, Json]]:
    return [{"check": each.check, "what": each.what, "time": each.time} for each in example.violations]


def digest(example: Example) -> str:
    return example.history.digest if example.history else ""


class Follower:
    """A progress bar on standard error; how to go on, after an end before the last."""

    def __init__(self) -> None:
        self._known = 0
        self._progress = bars()
        self._task = self._progress.add_task("hunt", total=None, now="booting")

    def __enter__(self) -> Follower:
        self._progress.start()
        return self

    def __call__(self, event: str, facts: Mapping[str, Json]) -> None:
        if event == "planned":
            self._progress.update(self._task, total=facts["examples"], completed=facts["known"], now="")
        elif event == "example":
            self._known += 1
            self._progress.update(self._task, advance=int(facts["new"]), now=_short(facts["example"]))
        elif event in ("found", "smaller"):
            self._progress.console.print(f"{event}: {facts['example'].faults}", highlight=False, soft_wrap=True)
            self._progress.update(self._task, total=None, description="shrink")

    def __exit__(self, kind: object, *error: object) -> None:
        self._progress.stop()
        if kind and kind is not ExperimentError and self._known:
            stored = "1 example is stored" if self._known == 1 else f"{self._known} examples are stored"
            typed = [each for each in without_values(sys.argv[1:]) if each != "--resume"]
            go_on = f"slownet {shlex.join([*typed, '--resume'])}"
            print(f"slownet: {stored}. Continue with: {go_on}", file=sys.stderr)


def _short(example: Example) -> str:
    text = str(example.faults)
    return text if len(text) <= 60 else f"{text[:60]}..."
