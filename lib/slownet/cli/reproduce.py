"""`slownet reproduce`: the experiments of all articles."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli import completing
from slownet.cli.option_fields import Shown, of_fields
from slownet.cli.options import ExplainClockOption, InOneLab, OutOption
from slownet.cli.outputs import OF_RUNS, Outputs
from slownet.model import whole_file
from slownet.model.errors import ExperimentError
from slownet.model.options import Option, same, stated
from slownet.runner.rule import BUDGET
from slownet.runner.run_options import RunOptions

if TYPE_CHECKING:
    from slownet.lab.run.place import Place
    from slownet.runner.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """The options of `slownet reproduce`, besides where it measures."""

    only: Sequence[str] = field(
        default=(),
        metadata=stated("ARTICLE", "Only this article, e.g. wordpress-latency, or this experiment. Repeatable."),
    )
    all: bool = field(default=False, metadata=stated("", "Also the experiments on today's protocols: TLS, QUIC, HTTP/2..."))
    repeat: str = field(
        default="auto",
        metadata=stated(
            "N|PART%|auto",
            "Number of repetitions. 1%: until such a difference between two runs would be found. auto: until every claim is "
            "decided.",
        ),
    )
    budget: str = field(default=BUDGET, metadata=stated("N,TIME", "Limit on repetitions, wall time, or both."))
    runs: Path = same(RunOptions, "runs")  # noqa: RUF009  # it returns a field


@of_fields
def reproduce(
    options: Annotated[ReproduceOptions, Shown(completions={"only": completing.articles})],
    where: InOneLab,
    out: OutOption = None,
    explain_clock: ExplainClockOption = False,
) -> None:
    """Run the articles' experiments: published, measured, predicted."""
    from slownet.runner.rule import read_rule

    rule, outputs = read_rule(options.repeat, options.budget), Outputs.read(out or [], OF_RUNS)
    names = selected(options.only, options.all)
    whole_file.need_folder(options.runs, Option("runs"))
    chosen = where.choose(exact=True)
    raise typer.Exit(reproduce_and_show(names, chosen, options.runs, rule, outputs, explain_clock))


def selected(only: Sequence[str], every: bool) -> Sequence[str]:
    """Return the experiments of the named articles; if none is named, of all; with ``every`` those on today's protocols too.

    Raises SlownetError.
    """
    from slownet.hypotheses.catalogue import discover, layered
    from slownet.lab.run import foreground
    from slownet.reproductions import articles
    from slownet.runner import planning

    if every and only:
        raise ExperimentError("--all and --only contradict each other", fix="leave one of them out")
    names = articles.select(discover(), only, every)
    if every and (left := layered()):
        foreground.say(f"slownet: left out, because they need a layer of the lab (slownet run NAME): {', '.join(left)}")
    planning.check(names, {})
    return names


def reproduce_and_show(
    names: Sequence[str],
    place: Place,
    root: Path,
    rule: Rule,
    outputs: Outputs,
    explain_clock: bool,
) -> int:
    """Run experiments of articles, print the table and return the exit status.

    0 if every claim is supported; 1 if one is not, or a cell or an experiment failed; 128 + N after signal N, when the samples
    taken so far are still judged and shown. Raises SlownetError for a user error, before anything is created.
    """
    from slownet.cli.running import say_clocks, say_last, say_what_is_left
    from slownet.cli.terminal import console, interrupted, say_records
    from slownet.judge.records.samples import new_run_directory
    from slownet.lab.host import cpu
    from slownet.lab.run.place import Interrupts
    from slownet.report.progress import Follower
    from slownet.reproductions import articles
    from slownet.reproductions.reproduction import Reproduction, show
    from slownet.runner import planning
    from slownet.runner import run as runs

    directory = new_run_directory(root, "reproduce").resolve()
    plans = [planning.plan(name, place, directory, {}, rule) for name in articles.longest_first(names)]
    if explain_clock:
        say_clocks(plans)
    began, cpu_before = time.monotonic(), _cpu_s()
    with Interrupts(place) as interrupts, Follower(planning.totals(plans)) as follower:
        by_name = {run.experiment: run for run in runs.execute(plans, place, follower, go_on=True)}
    found = [by_name[name] for name in names]
    wall_s = round(time.monotonic() - began, 3)
    processors = cpu.count()
    done = Reproduction(directory, tuple(found), wall_s, round(_cpu_s() - cpu_before, 3), processors)
    page = done.save()
    if not outputs.write_json(lambda: {"runs": [run.to_json() for run in found], "reproduction": done.to_json()}):
        screen = console()
        screen.print(show(done))
        say_records(screen, page)
    say_last(found)
    outputs.write(found)
    if interrupts.received:
        for each in plans:
            say_what_is_left(each)
        return interrupted(interrupts)
    return runs.status(found)


def _cpu_s() -> float:
    """Return the CPU seconds of this process and of the labs that ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)
