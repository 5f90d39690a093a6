"""The next boots of some plans, measured: each in a lab of its own, as many side by side as fit."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from slownet.catalogue import FILES
from slownet.errors import ServiceError, SlownetError
from slownet.lab import cpu, events
from slownet.lab.boot import Share
from slownet.lab.place import Place
from slownet.records import samples
from slownet.records.merging import merge_facts
from slownet.records.samples import cell_key, of_lab
from slownet.runner import sharing
from slownet.runner.boots import Boot
from slownet.runner.job import Job
from slownet.runner.planning import Plan

Follow = Callable[[str, Mapping[str, Any]], None]


def measure(plans: Sequence[Plan], place: Place, follow: Follow) -> list[tuple[Plan, BaseException]]:
    """The boots of each plan that are left: labs side by side on the virtual clock, one after the other where they would
    disturb each other.

    Returns the plans that broke off or were interrupted, and why. Raises whatever is no SlownetError, after all have ended.
    """
    rounds = [Round(each, place.on(each.experiment.tdf), follow) for each in plans]
    most = max((each.labs for each in rounds), default=0)
    # Every plan's first lab comes before any second one. One whose plan has no boot left when its turn comes has nothing to do.
    labs = [(each, lab) for lab in range(1, most + 1) for each in rounds if lab <= each.labs]
    with ThreadPoolExecutor(max_workers=max(cpu.count() if sharing.side_by_side(place) else 1, most)) as pool:
        begun = [(each, pool.submit(each.measure, lab)) for each, lab in labs]
    for each in rounds:
        each.end()
    return _broken(begun)


def _broken(begun: Sequence[tuple[Round, Future[None]]]) -> list[tuple[Plan, BaseException]]:
    """The first error of each plan."""
    broken: dict[int, tuple[Plan, BaseException]] = {}
    for each, future in begun:
        error = future.exception()
        if error and not isinstance(error, SlownetError | KeyboardInterrupt):
            raise error
        if error:
            broken.setdefault(id(each.plan), (each.plan, error))
    return list(broken.values())


class Round:
    """The boots of a plan between two looks at its claims, gone through by its labs, each in a thread of its own.

    A lab that breaks off leaves the others' boots alone, but none of them begins another one.
    """

    def __init__(self, plan: Plan, place: Place, follow: Follow) -> None:
        self.plan, self._place, self._follow = plan, place, follow
        left = plan.left
        self._left = [(boot, indices) for boot in plan.boots if (indices := [each for each in left if each in boot])]
        self._failed: set[str] = set()
        self.labs = sharing.how_many(plan.labs, place, len(self._left), cpu.count())
        self._used: set[int] = set()
        self._telling = threading.Lock()
        self._broken = False
        self._virtual_s: list[float] = []
        self._spans: list[tuple[float, float]] = []

    def measure(self, lab: int) -> None:
        """Measures boot after boot in one lab, counted from 1, while there are any. Raises SlownetError, KeyboardInterrupt."""
        while (following := self._next(lab)) is not None:
            try:
                self._boot(lab, *following)
            except BaseException:
                self._broken = True
                raise

    def end(self) -> None:
        """Puts down how long it took, when all labs have ended, and their samples into one file."""
        plan = self.plan
        samples.collect(plan.directory)
        booted, ended = zip(*self._spans, strict=True) if self._spans else ((0.0,), (0.0,))
        plan.last_s = max(ended) - min(booted)
        spans = {"wall_s": round(plan.last_s, 3), "virtual_s": round(sum(self._virtual_s), 6) if self._virtual_s else None}
        plan.facts |= {name: _added(plan.facts.get(name), seconds) for name, seconds in spans.items()}
        samples.write_run_json(plan.directory, plan.facts)

    def _next(self, lab: int) -> tuple[Boot, list[int]] | None:
        """The next boot that nobody has begun, and the places of the plan that are left of it."""
        with self._telling:
            if self._broken or not self._left:
                return None
            boot, left = self._left.pop(0)
            self.plan.note(boot, lab=lab, processor=None)
            self._used.add(lab)
            self.plan.facts["labs"] = max(len(self._used), self.plan.facts.get("labs", 1))
            # What failed in an earlier boot is not tried again: the cell has failed whatever comes.
            return boot, [index for index in left if cell_key(self.plan.cells[index]) not in self._failed]

    def _boot(self, lab: int, boot: Boot, indices: Sequence[int]) -> None:
        if not indices:
            return
        errors: list[SlownetError] = []
        complaints = bytearray()
        booted = time.monotonic()

        def on_line(event: dict[str, Any]) -> None:
            if event["event"] == "error":
                errors.append(ServiceError(event["line"], log=event["log"]))
            self._tell(event, lab)

        def on_processor(number: int) -> None:
            with self._telling:
                self.plan.note(boot, processor=number)
                samples.write_run_json(self.plan.directory, self.plan.facts)

        try:
            code = self._place.run(
                [self._place.python, "-m", "slownet.runner.inside", self._job(lab, boot, indices)],
                shares=shares(self.plan),
                stdout=events.reader(on_line),
                stderr=complaints.extend,
                turn=boot.number - 1,
                pinned=on_processor,
            )
        finally:
            self._spans.append((booted, time.monotonic()))
        self._check(lab, code, errors, bytes(complaints))

    def _job(self, lab: int, boot: Boot, indices: Sequence[int]) -> str:
        steps = [(index, boot.block(index), self.plan.cells[index]) for index in indices]
        job = Job(steps, boot.number, boot.blocks, lab, self.plan.facts.get("capture") or [])
        asked = {"experiment": self.plan.facts["source"], "directory": str(self.plan.directory)}
        return json.dumps(asked | job.to_json())

    def _tell(self, event: dict[str, Any], lab: int) -> None:
        plan = self.plan
        with self._telling:
            if event["event"] == "facts":
                plan.facts = merge_facts(plan.facts, {key: value for key, value in event.items() if key != "event"})
                samples.write_run_json(plan.directory, plan.facts)
            elif event["event"] == "sample" and event.get("status") == "failed":
                self._failed.add(cell_key(plan.cells[event["index"]]))
            elif event["event"] == "end":
                self._virtual_s.append(event["virtual_s"])
            self._follow(plan.experiment.name, {**event, "lab": lab})

    def _check(self, lab: int, code: int, errors: Sequence[SlownetError], complaints: bytes) -> None:
        log = self.plan.directory / of_lab("stderr.txt", lab)
        if complaints:
            log.write_bytes(complaints)
        if errors:
            raise errors[0]
        if code < 0:
            raise KeyboardInterrupt
        if code:
            last = complaints.decode(errors="replace").strip().splitlines()[-1:] or [f"status {code}"]
            raise SlownetError(f"{self.plan.experiment.name} broke off: {last[0]}", where=f"see {log}")


def _added(before: float | None, seconds: float | None) -> float | None:
    """The time of all repetitions so far."""
    return seconds if before is None else before + (seconds or 0.0)


def shares(plan: Plan) -> list[Share]:
    """The folders that a lab sees: the experiment's file, read-only, and the run's directory."""
    source = Path(plan.facts["source"])
    code = [Share(source.parent)] if source.suffix in FILES else []
    return [*code, Share(plan.directory, writable=True)]
