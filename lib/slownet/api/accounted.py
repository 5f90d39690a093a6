"""The account of a cell of a run, which is measured once more if the run has no captures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.options import CAPTURE, CELL
from slownet.model.sample import Sample, cell_in_words
from slownet.net import sleeping_calls
from slownet.runner import RUNS
from slownet.waits import of_run, timers
from slownet.waits.account_text import milliseconds

if TYPE_CHECKING:
    from pathlib import Path

    from slownet.hypotheses import commanded
    from slownet.hypotheses.recorded import Recorded
    from slownet.lab.run.clock import ClockRequest
    from slownet.lab.run.place import Place
    from slownet.waits.account import Account


def accounted(
    run: RunData, label: Mapping[str, str], client: str | None = None, *, whole: bool = False,
    notify: Callable[[str], None] = lambda line: None,
) -> tuple[Account, RunData]:  # fmt: skip
    """Return where the time of a cell went, and the run whose captures show it.

    run: the run.
    label: the cell's conditions, as they were given.
    client: the host that began the operation; by default the one that was the first to send.
    whole: whether several connections to a server, one after the other, are one operation.
    notify: gets a line about what is measured.
    Raises SlownetError: no such cell, its captures cannot be read, or the run cannot be measured again.
    """
    sample = of_run.sample_of(run, label)
    if not of_run.has_captures(sample):
        notify(f"{run.directory.name} has no captures: {cell_in_words(sample['cell'])} is measured once more with them")
        cell = sample["cell"]
        run = again(run, cell)
        sample = captured(run, cell)
    found = of_run.of_sample(run, sample, client, whole=whole)
    return with_calls(found, run, sample, client, whole=whole, notify=notify), run


Again = Callable[[Mapping[str, str], Mapping[str, str]], RunData]
"""Measures a cell once more, by its conditions and variables of the lab."""
LONGEST_S = 60.0
"""Wall time of a sample that is measured again only for the names of its timers."""


def with_calls(
    found: Account, run: RunData, sample: Sample, client: str | None = None, *, whole: bool = False,
    notify: Callable[[str], None] = lambda line: None, measure: Again | None = None,
) -> Account:  # fmt: skip
    """Return an account whose timers have their process and call, which strace prints while the cell is measured once more.

    Where they are a small part of the time, were traced already, or where the clock is not free, nothing is measured. If that
    fails, the account has a note.

    found: the account.
    run, sample: what it is of.
    client, whole, notify: as for `accounted`.
    measure: measures the cell once more; by default as the run was.
    """
    wait = timers.unnamed(found)
    if not wait or not found.clock_is_free or of_run.is_traced(sample) or wait < timers.LEAST * found.elapsed_ns:
        return found
    if (sample.get("wall_s") or 0) > LONGEST_S:
        return found
    notify(f"{milliseconds(wait)} are timers of programs: measured once more under strace, which names their calls")
    try:
        other = (measure or partial(again, run))(sample["cell"], {sleeping_calls.VARIABLE: "1"})
        traced = of_run.of_sample(other, captured(other, sample["cell"]), client, whole=whole)
    except SlownetError as error:
        return replace(found, notes=(*found.notes, f"the timers have no names: {error.line}"))
    made = timers.named_alike(found, traced)
    if (left := timers.nameless(made)) < timers.LEAST * made.elapsed_ns:
        return made
    note = (
        f"no call was found for {milliseconds(left)} of timers: those of slownet's own process and of sockets "
        "(SO_RCVTIMEO, as ping has) are not traced"
    )
    return replace(made, notes=(*made.notes, note))


def captured(run: RunData, cell: Mapping[str, str]) -> Sample:
    """Return the sample of a cell that has captures. Raises SlownetError."""
    sample = of_run.sample_of(run, dict(cell))
    if not of_run.has_captures(sample):
        what = f"the cell was not captured: {sample.get('error') or 'it has no packets'}"
        raise ExperimentError(what, f"run {run.directory}", f"name another cell with {CELL}")
    return sample


def again(run: RunData, cell: Mapping[str, str], env: Mapping[str, str] | None = None) -> RunData:
    """Measure a cell once more, with captures, and where it was measured: clock, kernel. Raises SlownetError.

    env: variables of the lab.
    """
    from slownet.api import calls
    from slownet.runner import planning

    facts = run.facts
    if facts.get("compose") or not facts.get("source"):
        fix = f"run it again with {CAPTURE}"
        raise ExperimentError("a compose project's run is not measured again", f"run {run.directory}", fix)
    place, asked, kernel = planning.where_it_ran(run.directory)
    return calls.run(
        str(facts["source"]), vary={name: [value] for name, value in cell.items()}, capture=True, repeat=1, env=env,
        clock=asked.clock, tdf=asked.tdf, cpu=asked.cpu, place=place, kernel=kernel, runs=run.directory.parent, progress=False,
    )  # fmt: skip


def of_experiment(
    name: str, label: Mapping[str, str], place: str, asked: ClockRequest, kernel: str | None = None, runs: Path = RUNS
) -> RunData:
    """Measure a cell of an experiment once, with captures; by default its last one. Raises SlownetError."""
    from slownet.api import calls
    from slownet.hypotheses.catalogue import find

    cells = [each for each in find(name).cells({key: [value] for key, value in label.items()}) if label.items() <= each.items()]
    return calls.run(
        name, vary={key: [value] for key, value in cells[-1].items()}, capture=True, repeat=1, clock=asked.clock, tdf=asked.tdf,
        cpu=asked.cpu, place=place, kernel=kernel, runs=runs, progress=False,
    )  # fmt: skip


def check_command(asked: commanded.Request) -> Recorded:
    """Return a command as an experiment. Raises SlownetError for what is wrong with it, before a lab is looked for."""
    from slownet.hypotheses import commanded
    from slownet.hypotheses.catalogue import find
    from slownet.runner import planning

    made = commanded.make(asked, find)
    planning.check([made], {})
    return made


def of_command(asked: commanded.Request, place: Place, runs: Path = RUNS) -> RunData:
    """Run a command once, with captures of all hosts, and return the run.

    Raises SlownetError, and KeyboardInterrupt for an interrupt while it does not run; one while it runs ends the command alone.
    """
    from slownet.runner import planning
    from slownet.runner import run as execution
    from slownet.runner.rule import BUDGET, read_rule

    made = check_command(asked)
    plan = planning.plan(made, place, runs, {}, read_rule("1", BUDGET), [planning.HOSTS])
    (done,) = execution.execute([plan], place, lambda name, event: None)
    return done
