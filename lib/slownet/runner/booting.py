"""Boots a place once, measures the steps of a job there, and passes its progress on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from slownet.errors import ServiceError, SlownetError
from slownet.lab import events
from slownet.lab.excerpt import Excerpt
from slownet.lab.place import Place
from slownet.records.samples import of_lab
from slownet.runner import boot_events, surroundings
from slownet.runner.job import Job
from slownet.runner.planning import Plan

Handle = Callable[[dict[str, Any]], None]


def boot(plan: Plan, place: Place, job: Job, handle: Handle, pinned: Callable[[int], None] = lambda processor: None) -> None:
    """Measure the steps of a job in one boot; the samples are in the plan's directory when this returns.

    handle: gets the events of `slownet.runner.inside`; pinned: the number of the processor. Raises SlownetError, and
    KeyboardInterrupt if a signal ended the boot.
    """
    errors: list[SlownetError] = []
    complaints = Excerpt()

    def on_line(event: dict[str, Any]) -> None:
        if event["event"] == "error":
            errors.append(ServiceError(event["line"], log=event["log"]))
        handle(event)

    around = surroundings.of(plan)
    asked = {"experiment": plan.facts["source"], "directory": str(plan.directory), "path": list(around.path)}
    with events.Reader(on_line, boot_events.grammar(index for index, _, _ in job.steps)) as stdout:
        code = place.run(
            [place.python, "-m", "slownet.runner.inside", json.dumps(asked | job.to_json())],
            shares=around.shares,
            env=around.env,
            cwd=around.cwd if place.kind == "lab" else None,
            stdout=stdout,
            stderr=complaints.add,
            turn=job.boot - 1,
            pinned=pinned,
        )
    _check(plan, job.lab, code, errors, complaints)


def _check(plan: Plan, lab: int, code: int, errors: Sequence[SlownetError], complaints: Excerpt) -> None:
    log = plan.directory / of_lab("stderr.txt", lab)
    if complaints:
        log.write_bytes(complaints.data())
    if errors:
        raise errors[0]
    if code < 0:
        raise KeyboardInterrupt
    if code:
        last = complaints.last_line(f"status {code}")
        raise SlownetError(f"{plan.experiment.name} failed: {last}", where=f"see {log}")
