"""Executes runs: measures an experiment's cells in a place, judges its claims and writes the records."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from slownet.hypotheses.experiment import Experiment
from slownet.judge.claim import DECIDING, SUPPORTED, Claim, Judgement, judge_all, not_judged
from slownet.judge.records.charging import Charging
from slownet.judge.records.result import RunData
from slownet.lab.host import ceiling
from slownet.lab.run.place import Place
from slownet.model import importing
from slownet.model.errors import ExperimentError, SlownetError
from slownet.runner import clock_choice, compose_project, repetition
from slownet.runner.engine import Engine
from slownet.runner.folder_lock import alone
from slownet.runner.planning import Plan
from slownet.runner.repetition import Follow, Repetition, RoundBoot
from slownet.runner.workers import Threads

# Asks an experiment for the answer to its question, as soon as its run is judged; a record keeps it.

LONGEST = 1000
"""Characters of an answer: two sentences have fewer."""


def answered(run: RunData, experiment: Experiment) -> RunData:
    """Return the run with the experiment's answer among its facts; without it if the experiment writes none.

    An answer about cells that were not measured is left out. A function that fails otherwise is reported in a line: the run is
    measured and judged, and nothing of it depends on a sentence.
    """
    facts = run.facts.copy()
    facts.pop("answer", None)
    if experiment.answered_by is not None and (said := _said(run, experiment)):
        facts["answer"] = said
    return replace(run, facts=facts)


def _said(run: RunData, experiment: Experiment) -> str:
    assert experiment.answered_by is not None
    try:
        with importing.going_on(whoever=True):
            said = experiment.answered_by(run.shown)
        if not isinstance(said, str):
            what = f"the answer of {experiment.name} must be a str, got {type(said).__name__}"
            raise ExperimentError(what, fix="return a sentence")
    except SlownetError as error:
        if all(cell.metrics and not cell.error for cell in run.cells) and _is_whole(run, experiment):
            sys.stderr.write(f"slownet: {error}\n")
        return ""
    except Exception as error:  # whatever a user's function raises
        sys.stderr.write(f"slownet: {importing.failure(error)}\n")
        return ""
    return " ".join(said.split())[:LONGEST]


def _is_whole(run: RunData, experiment: Experiment) -> bool:
    """Return whether all cells of the experiment were measured."""
    measured = [dict(cell.label) for cell in run.cells]
    return all(cell in measured for cell in experiment.cells())


class ClaimsError(ExperimentError):
    """A claim that cannot be judged on what was measured, such as one about a metric that no tool has."""

    runs: Sequence[RunData] = ()
    """All runs, recorded with what could be judged."""
    directories: Sequence[Path] = ()
    """Those of the runs with such claims."""

    @classmethod
    def of(cls, error: SlownetError, runs: Sequence[RunData], directories: Sequence[Path]) -> ClaimsError:
        """Return it with why the first one cannot."""
        found = cls(error.what, error.where, error.fix)
        found.runs, found.directories = runs, directories
        return found


def execute(plans: Sequence[Plan], place: Place, follow: Follow, go_on: bool = False) -> list[RunData]:
    """Run the plans, repeat them while claims are open and their rules allow it, and judge and record each.

    Where labs are short, an earlier plan comes first. `follow(experiment's name, event)` gets the progress. go_on: a run that
    fails or is interrupted is judged by its samples so far, its facts get `error`, and the others continue. Without it the
    first error is raised after all runs have ended; the samples are on disk by then. Raises ClaimsError.
    """
    with contextlib.ExitStack() as folders:
        for each in plans:
            folders.enter_context(alone(each.directory))
        runs = _measured(plans, place, follow, go_on)
        return judge([_weighed(each, runs[each.experiment.name], place) for each in plans], plans, go_on)


def _measured(plans: Sequence[Plan], place: Place, follow: Follow, go_on: bool) -> Mapping[str, RunData]:
    if place.clock.is_apart:  # on the real clock it would disturb the measurement
        threading.Thread(target=_import_ahead).start()
    boots = Repetition(plans, place, follow, go_on)
    try:
        labs = Threads(repetition.how_many_labs(plans, place))
        Engine(labs, RoundBoot.measure, boots, tries=1, ahead=1).run()
    finally:
        boots.close()
    if boots.errors:
        raise boots.errors[min(boots.errors)]
    return boots.runs


def _import_ahead() -> None:
    """Import the modules needed at the end of each run while this process waits for labs to boot."""
    for name in ("slownet.report.html_page", "pyarrow.json", "pyarrow.parquet"):
        import_module(name)


def judge(runs: Sequence[RunData], plans: Sequence[Plan], go_on: bool = False) -> list[RunData]:
    """Judge the runs' claims and write run.json, samples.parquet and report.html; go_on as in `execute`. Raises ClaimsError."""
    from slownet.report.html_page import write_report

    sure = {run.experiment: run.for_verdicts(_confidence(run)) for run in runs}
    judged, wrong = [], dict[Path, SlownetError]()
    for run, each in zip(runs, plans, strict=True):
        found, errors = _judgements(sure[run.experiment], each, sure)
        if errors:
            wrong[each.directory] = errors[0]
        if errors and go_on:
            each.broke_off(errors[0])
            run = replace(run, facts=each.facts)
        done = answered(run.judged(found), each.experiment)
        done.save()
        done.write_parquet()
        write_report(done)
        if not each.error:
            compose_project.end(each.directory)
        judged.append(done)
    if wrong and not go_on:
        first = next(iter(wrong.values()))
        raise ClaimsError.of(first, judged, list(wrong)) from first
    return judged


def _weighed(each: Plan, run: RunData, place: Place) -> RunData:
    """Return the run; if a link stated a rate, add the highest rate that the CPU carries to its facts, unless it is free."""
    if run.charging is not Charging.FREE and any(cell.rate_bit_s for cell in run.cells):
        each.state(ceiling_bit_s=ceiling.known(place))
        each.write()
    return replace(run, facts=each.facts)


def _confidence(run: RunData) -> float:
    """Return the confidence of the intervals behind the verdicts: that of the last look."""
    return float((run.facts.get("sampling") or {}).get("confidence", DECIDING))


def last_lines(runs: Sequence[RunData]) -> list[str]:
    """Return the lines on runs whose claims were not decided: why repetition ended, and which clock would decide them."""
    lines = [(run.experiment, (run.facts.get("sampling") or {}).get("last_line")) for run in runs]
    lines += [(run.experiment, clock_choice.what_decides(run)) for run in runs]
    return [f"{name}: {line}" for name, line in lines if line]


def status(runs: Sequence[RunData]) -> int:
    """Return 0 if every claim is supported, every cell was measured, nothing is damaged and no run failed, else 1."""
    verdicts = {claim.verdict for run in runs for claim in run.claims}
    return int(bool(verdicts - {SUPPORTED}) or any(run.failed or run.damage or run.facts.get("error") for run in runs))


def _judgements(run: RunData, each: Plan, siblings: Mapping[str, RunData]) -> tuple[list[Judgement], list[SlownetError]]:
    """Return the judgements, and why a claim of an experiment that was measured whole could not be judged."""
    own = each.experiment.cells()
    whole = each.cells[: len(own)] == own and all(cell in own for cell in each.cells) and len(run.cells) == len(own)
    wrong = list[SlownetError]()

    def cannot(claim: Claim, error: SlownetError) -> Judgement:
        if whole:  # only if the run lacks some of the experiment's cells may a claim find none to judge
            wrong.append(error)
        return not_judged(claim, error, run, own)

    return judge_all(each.experiment.judged_by, run, siblings, cannot), wrong
