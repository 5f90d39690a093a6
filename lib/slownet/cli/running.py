"""`slownet run`: shows progress, then prints the tables and the paths of the records."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from slownet.cli.outputs import Outputs
from slownet.cli.terminal import console, interrupted, say_records
from slownet.judge.records.result import RunData
from slownet.lab.run.place import Interrupts
from slownet.model.errors import SlownetError
from slownet.report import table
from slownet.report.progress import Follower
from slownet.runner import planning
from slownet.runner import run as runs
from slownet.runner.run_request import RunRequest, what_is_left


def run_and_show(asked: RunRequest, outputs: Outputs, explain_clock: bool) -> int:
    """Run, judge and print; return the exit status. Raises SlownetError."""
    plans, place = asked.plans()
    if explain_clock:
        say_clocks(plans)
    for line in [*asked.notices(plans), *(f"{line}: what it had is measured again" for each in plans for line in each.damage)]:
        print(f"slownet: {line}", file=sys.stderr)
    wrong: runs.ClaimsError | None = None
    try:
        with Interrupts(place) as interrupts, Follower(planning.totals(plans)) as follower:
            done: Sequence[RunData] = runs.execute(plans, place, follower)
    except runs.ClaimsError as error:
        wrong, done = error, error.runs
    except (SlownetError, KeyboardInterrupt):
        for each in plans:
            say_what_is_left(each)
        if interrupts.received:
            return interrupted(interrupts)
        raise
    _show(done, outputs)
    say_last(done)
    outputs.write(done)
    if wrong:
        say_how_to_judge(wrong)
        raise wrong
    return runs.status(done)


def _show(done: Sequence[RunData], outputs: Outputs) -> None:
    if outputs.write_json(lambda: {"runs": [{**run.to_json(), "directory": str(run.directory)} for run in done]}):
        return
    from slownet.report.html_page import REPORT  # which was imported while the lab ran

    screen = console()
    for run in done:
        screen.print(table.show(run))
        say_records(screen, run.directory, end="\n\n", page=REPORT)


def say_clocks(plans: Sequence[planning.Plan]) -> None:
    """Print which clock each plan has, and why."""
    for each in plans:
        print(f"slownet: {each.experiment.name}: {planning.clock_of(each)}", file=sys.stderr)


def say_last(done: Sequence[RunData]) -> None:
    """Print, as the last lines, which runs ended before their claims were decided and what to do about it."""
    for line in runs.last_lines(done):
        print(f"slownet: {line}", file=sys.stderr)


def say_how_to_judge(wrong: runs.ClaimsError) -> None:
    """Print how to judge again, without measuring, the runs with a claim that could not be judged."""
    for directory in wrong.directories:
        print(f"slownet: corrected, it is judged without measuring again: slownet run --resume {directory}", file=sys.stderr)


def say_what_is_left(plan: planning.Plan) -> None:
    """Print how to continue a run that has some of its samples."""
    if left := what_is_left(plan):
        print(f"slownet: {left}. Continue with: slownet run --resume {plan.directory}", file=sys.stderr)
