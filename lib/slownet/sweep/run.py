"""A run: an experiment's cells measured in a place, its claims judged, its records written."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slownet import __version__
from slownet.calibration import ceiling
from slownet.claim import DECIDING, INCONCLUSIVE, REFUTED, Judgement, foreseen
from slownet.errors import ExperimentError, ServiceError, SlownetError
from slownet.experiment import FILES, Cell, Experiment, condition, find
from slownet.lab.boot import Share
from slownet.lab.place import PACKAGE, Place
from slownet.records import result
from slownet.records.repeating import repeats
from slownet.records.result import RunData
from slownet.sweep import sampling
from slownet.sweep.sampling import Rule

ONCE_DECIDED = Rule()
INTERRUPTED = "interrupted"
Follow = Callable[[str, Mapping[str, Any]], None]


@dataclass
class Plan:
    """One experiment to be run, or to be continued, in its run directory."""

    experiment: Experiment
    directory: Path
    cells: list[Cell]
    """In the order in which they are measured; a repetition adds its own."""
    facts: dict[str, Any]
    rule: Rule = ONCE_DECIDED
    first: int = 0
    """Where the repetition that is to be measured begins."""
    last_s: float = 0.0
    """Wall time of the last repetition."""
    error: str = ""
    """Why it broke off; what it measured until then is kept."""

    def broke_off(self, error: BaseException) -> None:
        """Puts down why there is no more of it than there is."""
        self.error = str(error) or INTERRUPTED
        self.facts["error"] = self.error
        result.write_run_json(self.directory, self.facts)


def check(names: Sequence[str], chosen: Mapping[str, Sequence[str]]) -> None:
    """Raises SlownetError for what is wrong with the names, conditions or claims, before anything is made."""
    for name in names:
        found = find(name)
        if found.cells(chosen) == found.cells():  # of other cells a claim may have nothing to speak of
            foreseen.check(found.name, found.judged_by, [(cell, condition(cell)) for cell in found.cells()])


def plan(
    name: str,
    place: Place,
    root: Path,
    chosen: Mapping[str, Sequence[str]],
    rule: Rule = ONCE_DECIDED,
    capture: Sequence[str] = (),
) -> Plan:
    """The plan of a new run, with its run directory. Raises SlownetError."""
    experiment = find(name)
    place = place.on(experiment.tdf)
    cells = experiment.cells(chosen)
    directory = result.new_run_directory(root, experiment.name).resolve()
    facts = {
        "experiment": experiment.name,
        "source": str(Path(name).resolve()) if name.endswith(FILES) else name,
        "question": experiment.question,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "clock": place.clock.kind,
        "tdf": place.clock.tdf_json,
        **place.facts,
        "slownet": __version__,
        "git": _git(),
        "argv": sys.argv,
        "published": experiment.published,
        "capture": list(capture),
        "planned": cells,
        "sampling": rule.to_json(),
        "repeats": repeats(place.clock.kind, place.clock.tdf_json, experiment.name, experiment.service),
    }
    result.write_run_json(directory, facts)
    return Plan(experiment, directory, cells, facts, rule)


def resume(directory: Path) -> Plan:
    """The plan of a run that did not end. Raises SlownetError."""
    facts = {name: value for name, value in _facts(directory).items() if name != "error"}
    return Plan(
        find(facts["source"]), directory.resolve(), facts["planned"], facts, Rule.from_json(facts.get("sampling") or {})
    )


def where_it_ran(directory: Path) -> tuple[str, str, str | None]:
    """Place, clock and TDF of a run, as `choose` takes them. Raises SlownetError."""
    facts = _facts(directory)
    return facts["place"], facts["clock"], str(facts["tdf"]) if facts["tdf"] else None


def _facts(directory: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads((directory / "run.json").read_text())
        _ = facts["source"], facts["planned"], facts["place"], facts["clock"], facts["tdf"]
    except (OSError, ValueError, KeyError) as error:
        raise ExperimentError(f"{directory} is no run that can be continued", fix="name a directory with a run.json") from error
    return facts


def execute(plans: Sequence[Plan], place: Place, follow: Follow, go_on: bool = False) -> list[RunData]:
    """Runs the plans, again and again while their claims are open and their rules allow it; judges and records each.

    `follow(experiment's name, event)` sees the progress. go_on: one that breaks off or is interrupted is judged by what it
    measured, its facts say `error`, and the others go on. Otherwise the first error is raised after all have ended; what was
    measured is on disk by then.
    """
    began, open_plans = time.monotonic(), list(plans)
    while open_plans:
        broken = _measure_all(open_plans, place, follow)
        for each, error in broken:
            if not go_on:
                raise error
            each.broke_off(error)
        good = [each for each in open_plans if not each.error]
        open_plans = _still_open(plans, good, time.monotonic() - began, follow)
    return judge([_weighed(each, place) for each in plans], plans, go_on)


def _measure_all(plans: Sequence[Plan], place: Place, follow: Follow) -> list[tuple[Plan, BaseException]]:
    """One repetition: labs side by side on the virtual clock, one after the other where they would disturb each other.

    Returns the plans that broke off or were interrupted, and why. Raises whatever is no SlownetError, after all have ended.
    """
    side_by_side = place.kind == "lab" and place.clock.kind == "virtual"
    with ThreadPoolExecutor(max_workers=min(len(plans), os.cpu_count() or 1) if side_by_side else 1) as pool:
        futures = [pool.submit(_measure, each, place.on(each.experiment.tdf), follow) for each in plans]
        errors = [(each, error) for each, future in zip(plans, futures, strict=True) if (error := future.exception())]
    for _, error in errors:
        if not isinstance(error, SlownetError | KeyboardInterrupt):
            raise error
    return errors


def _still_open(plans: Sequence[Plan], measured: Sequence[Plan], spent_s: float, follow: Follow) -> list[Plan]:
    """The plans that go on, with the cells of their next repetition; the record of each says why it does or does not."""
    runs = {each.experiment.name: result.load(each.directory) for each in plans}
    again = []
    for each in measured:
        name = each.experiment.name
        decision = sampling.decide(runs[name], each.experiment.judged_by, runs, each.rule, spent_s, each.last_s)
        each.first = len(each.cells)
        each.cells = [*each.cells, *(dict(cell) for cell in decision.cells)]
        each.facts |= {
            "planned": each.cells,
            "sampling": {**each.rule.to_json(), "confidence": decision.confidence, "why": decision.why},
        }
        result.write_run_json(each.directory, each.facts)
        if decision.cells:
            follow(name, {"event": "planned", "cells": len(each.cells), "why": decision.why})
            again.append(each)
    return again


def judge(runs: Sequence[RunData], plans: Sequence[Plan], go_on: bool = False) -> list[RunData]:
    """The runs with their claims' verdicts, written with samples.parquet and report.html; go_on as in `execute`."""
    from slownet.report.page import write_report

    sure = {run.experiment: run.at_confidence(_confidence(run)) for run in runs}
    judged = []
    for run, each in zip(runs, plans, strict=True):
        try:
            found = _judgements(sure[run.experiment], each, sure)
        except SlownetError as error:
            if not go_on:
                raise
            each.broke_off(error)
            run, found = replace(run, facts=each.facts), []
        done = run.judged(found)
        done.save()
        done.write_parquet()
        write_report(done)
        judged.append(done)
    return judged


def _weighed(each: Plan, place: Place) -> RunData:
    """The run as measured, with what the CPU carries in its facts where a link stated a rate and CPU time is charged."""
    run = result.load(each.directory)
    if any(cell.rate_bit_s for cell in run.cells):
        each.facts["ceiling_bit_s"] = ceiling.known(place)
        result.write_run_json(each.directory, each.facts)
        run = result.load(each.directory)
    return run


def _confidence(run: RunData) -> float:
    """Of the intervals that the verdicts rest on: that of the last look."""
    return float((run.facts.get("sampling") or {}).get("confidence", DECIDING))


def status(runs: Sequence[RunData]) -> int:
    """0 if every claim is supported, every cell was measured and no run broke off, else 1."""
    verdicts = {claim.verdict for run in runs for claim in run.claims}
    return int(bool(verdicts & {REFUTED, INCONCLUSIVE}) or any(run.failed or run.facts.get("error") for run in runs))


def _judgements(run: RunData, each: Plan, siblings: Mapping[str, RunData]) -> list[Judgement]:
    own = each.experiment.cells()
    whole = each.cells[: len(own)] == own and all(cell in own for cell in each.cells) and len(run.cells) == len(own)
    judgements = []
    for claim in each.experiment.judged_by:
        try:
            judgements.append(claim.judge(run, siblings))
        except SlownetError:
            if whole:  # with other cells than the experiment's own, or not all, a claim may have nothing to speak of
                raise
    return judgements


def _measure(each: Plan, place: Place, follow: Follow) -> None:
    name = each.experiment.name
    errors: list[SlownetError] = []
    complaints = bytearray()
    span: dict[str, float] = {}

    def on_line(event: dict[str, Any]) -> None:
        if event["event"] == "facts":
            each.facts |= {key: value for key, value in event.items() if key != "event"}
            result.write_run_json(each.directory, each.facts)
        elif event["event"] == "error":
            errors.append(ServiceError(event["line"], log=event["log"]))
        elif event["event"] == "end":
            span["virtual_s"] = event["virtual_s"]
        follow(name, event)

    began = time.monotonic()
    asked = {"experiment": each.facts["source"], "directory": str(each.directory), "cells": each.cells}
    job = json.dumps({**asked, "first": each.first, "capture": each.facts.get("capture")})
    code = place.run(
        [place.python, "-m", "slownet.sweep.inside", job],
        shares=_shares(each),
        env={"PYTHONPATH": str(PACKAGE.parent)},
        stdout=events(on_line),
        stderr=complaints.extend,
    )
    each.last_s = time.monotonic() - began
    spans = {"wall_s": round(each.last_s, 3), "virtual_s": span.get("virtual_s")}
    each.facts |= {name: _added(each.facts.get(name), seconds) for name, seconds in spans.items()}
    result.write_run_json(each.directory, each.facts)
    if complaints:
        (each.directory / "stderr.txt").write_bytes(complaints)
    if errors:
        raise errors[0]
    if code < 0:
        raise KeyboardInterrupt
    if code:
        last = complaints.decode(errors="replace").strip().splitlines()[-1:] or [f"status {code}"]
        raise SlownetError(f"{name} broke off: {last[0]}", where=f"see {each.directory}/stderr.txt")


def _added(before: float | None, seconds: float | None) -> float | None:
    """The time of all repetitions so far."""
    return seconds if before is None else before + (seconds or 0.0)


def _shares(each: Plan) -> list[Share]:
    source = Path(each.facts["source"])
    code = [Share(source.parent)] if source.suffix in FILES else []
    return [*code, Share(each.directory, writable=True)]


def events(handle: Callable[[dict[str, Any]], None]) -> Callable[[bytes], None]:
    """Splits what the inner part prints into events; a line that is none (an experiment's print) is shown as it is."""
    pending = bytearray()
    lock = threading.Lock()

    def take(data: bytes) -> None:
        with lock:
            pending.extend(data)
            *lines, rest = bytes(pending).split(b"\n")
            pending[:] = rest
        for line in lines:
            try:
                event = json.loads(line)
                event["event"]
            except (ValueError, KeyError, TypeError):
                print(line.decode(errors="replace"), file=sys.stderr)
            else:
                handle(event)

    return take


def _git() -> dict[str, Any]:
    """Revision of the caller's checkout and whether it has changes; empty outside one."""

    def ask(*words: str) -> str:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        revision = ask("rev-parse", "HEAD")
        return {"revision": revision, "changed": bool(ask("status", "--porcelain"))} if revision else {}
    except OSError:
        return {}
