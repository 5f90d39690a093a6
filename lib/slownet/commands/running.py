"""`slownet run`: shows progress, then prints the tables and the paths of the records."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slownet.catalogue import discover
from slownet.commands.ci import ForCi
from slownet.commands.terminal import bars, console, interrupted
from slownet.errors import ExperimentError, SlownetError, nearest
from slownet.lab.place import Interrupts, Place
from slownet.records.result import RunData
from slownet.report import table
from slownet.runner import planning
from slownet.runner import run as runs
from slownet.runner.rule import Rule
from slownet.runner.sharing import check_labs

if TYPE_CHECKING:
    from slownet.hypotheses.composed import Composed


def run_and_show(
    names: Sequence[str | Composed],
    place: Place,
    root: Path,
    vary: Sequence[str],
    resume: Path | None,
    as_json: bool,
    rule: Rule = planning.ONCE_DECIDED,
    capture: Sequence[str] = (),
    labs: int | None = None,
    for_ci: ForCi | None = None,
) -> int:
    """Run, judge and print; return the exit status. Raises SlownetError.

    labs: how many labs repeat an experiment in parallel; None lets `slownet.runner.sharing` decide.
    """
    check_labs(labs, place)
    plans = _plans(names, place, root, vary, resume, rule, capture, labs)
    try:
        with Interrupts(place) as interrupts, Follower(plans) as follower:
            done = runs.execute(plans, place, follower)
    except (SlownetError, KeyboardInterrupt):
        for each in plans:
            say_what_is_left(each)
        if interrupts.received:
            return interrupted(interrupts)
        raise
    if as_json:
        print(json.dumps({"runs": [{**run.to_json(), "directory": str(run.directory)} for run in done]}))
    else:
        screen = console()
        for run in done:
            screen.print(table.show(run))
            screen.print(f"[dim]records[/] {run.directory}\n", highlight=False, soft_wrap=True)
    say_last(done)
    if for_ci:
        for_ci.write(done)
    return runs.status(done)


def _plans(
    names: Sequence[str | Composed],
    place: Place,
    root: Path,
    vary: Sequence[str],
    resume: Path | None,
    rule: Rule,
    capture: Sequence[str],
    labs: int | None,
) -> list[planning.Plan]:
    if resume:
        if names or vary:
            raise ExperimentError("a resumed run keeps its plan", where="--resume", fix="leave out the experiments and --vary")
        return [planning.resume(resume, labs)]
    if not names:
        raise ExperimentError("no experiment is named", fix=nearest("", discover()))
    chosen = chosen_conditions(vary)
    planning.check(names, chosen)
    return [planning.plan(name, place, root, chosen, rule, capture, labs) for name in _once(names)]


def _once(names: Sequence[str | Composed]) -> list[str | Composed]:
    return [each for number, each in enumerate(names) if each not in names[:number]]


def chosen_conditions(vary: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each condition that ``--vary`` names. Raises ExperimentError."""
    chosen = {}
    for text in vary:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise ExperimentError(
                f"invalid condition '{text}'", where="--vary", fix="write NAME=VALUE,VALUE such as rtt=0ms,25ms"
            )
        chosen[name] = values.split(",")
    return chosen


def say_last(done: Sequence[RunData]) -> None:
    """Print, as the last lines, which runs ended before their claims were decided and what to do about it."""
    for line in runs.last_lines(done):
        print(f"slownet: {line}", file=sys.stderr)


def say_what_is_left(plan: planning.Plan) -> None:
    """Print how to continue a run that has some of its samples."""
    samples = plan.directory / "samples.jsonl"
    count = len(samples.read_text().splitlines()) if samples.exists() else 0
    if 0 < count < len(plan.cells):
        kept = f"{count} of {len(plan.cells)} measurements of {plan.experiment.name} are saved"
        print(f"slownet: {kept}, continue with: slownet run --resume {plan.directory}", file=sys.stderr)


class Follower:
    """One progress bar per experiment on standard error; an experiment may use several labs."""

    def __init__(self, plans: Sequence[planning.Plan]) -> None:
        self._progress = bars()
        self._tasks = {
            each.experiment.name: self._progress.add_task(
                each.experiment.name, total=len(each.cells), start=False, now="waiting"
            )
            for each in plans
        }
        self._now: dict[str, dict[int, str]] = {each.experiment.name: {} for each in plans}

    def __enter__(self) -> Follower:
        self._progress.start()
        return self

    def __call__(self, name: str, event: Mapping[str, Any]) -> None:
        task = self._tasks[name]
        self._progress.start_task(task)
        if event["event"] == "facts":
            self._progress.update(task, now="services up")
        elif event["event"] == "cell":
            now = self._now[name]
            now[event.get("lab", 1)] = " ".join(f"{key} {value}" for key, value in event["cell"].items())
            self._progress.update(task, now="; ".join(now[lab] for lab in sorted(now)))
        elif event["event"] == "planned":
            self._now[name].clear()
            self._progress.update(task, total=event["cells"], now="booting again")
        elif event["event"] == "end":
            self._now[name].pop(event.get("lab", 1), None)
        elif event["event"] == "sample":
            self._progress.advance(task)
            if event["error"]:
                self._progress.console.print(f"slownet: {name}: {event['error']}", style="yellow")

    def __exit__(self, *error: object) -> None:
        self._progress.stop()
