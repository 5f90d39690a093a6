"""One repetition of a plan: its cells measured once, in one lab or shared among several side by side."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from slownet.errors import ServiceError, SlownetError
from slownet.experiment import FILES
from slownet.lab import cpu
from slownet.lab.boot import Share
from slownet.lab.place import PACKAGE, Place
from slownet.records import samples
from slownet.records.agreed import agreed
from slownet.records.samples import cell_key, of_lab
from slownet.sweep import sharing
from slownet.sweep.planning import Plan

Follow = Callable[[str, Mapping[str, Any]], None]


def measure(plans: Sequence[Plan], place: Place, follow: Follow) -> list[tuple[Plan, BaseException]]:
    """One repetition of each: labs side by side on the virtual clock, one after the other where they would disturb each other.

    Returns the plans that broke off or were interrupted, and why. Raises whatever is no SlownetError, after all have ended.
    """
    at_once = cpu.count() if sharing.side_by_side(place) else 1
    beside = min(len(plans), at_once)
    repetitions = [Repetition(each, place.on(each.experiment.tdf), follow, beside) for each in plans]
    at_once = max([at_once, *(each.labs for each in repetitions)])
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        begun = [(each, pool.submit(each.measure, lab)) for each in repetitions for lab in range(1, each.labs + 1)]
    for each in repetitions:
        each.end()
    return _broken(begun)


def _broken(begun: Sequence[tuple[Repetition, Future[None]]]) -> list[tuple[Plan, BaseException]]:
    """The first error of each plan."""
    broken: dict[int, tuple[Plan, BaseException]] = {}
    for each, future in begun:
        error = future.exception()
        if error and not isinstance(error, SlownetError | KeyboardInterrupt):
            raise error
        if error:
            broken.setdefault(id(each.plan), (each.plan, error))
    return list(broken.values())


class Repetition:
    """Puts together what its labs tell, each in a thread of its own. One that breaks off leaves the others' cells alone."""

    def __init__(self, plan: Plan, place: Place, follow: Follow, beside: int) -> None:
        self.plan, self._place, self._follow = plan, place, follow
        left = plan.left
        self.labs = sharing.how_many(plan.labs, place, len(left), beside, cpu.count())
        # Where the CPU is free the shares must be the same each time, whatever else this machine did.
        known = plan.costs if sharing.charges_cpu(place.clock) else {}
        costs = {index: known[key] for index in left if (key := cell_key(plan.cells[index])) in known}
        self._shares = sharing.share(left, self.labs, costs)
        self._telling = threading.Lock()
        self._virtual_s: list[float] = []
        self._spans: list[tuple[float, float]] = []
        plan.facts["labs"] = max(self.labs, plan.facts.get("labs", 1))

    def measure(self, lab: int) -> None:
        """Boots and measures the share of one lab, counted from 1. Raises SlownetError, KeyboardInterrupt."""
        errors: list[SlownetError] = []
        complaints = bytearray()
        began: dict[int, float] = {}
        booted = time.monotonic()

        def on_line(event: dict[str, Any]) -> None:
            now = time.monotonic()
            if event["event"] == "error":
                errors.append(ServiceError(event["line"], log=event["log"]))
            elif event["event"] == "cell":
                began[event["index"]] = now
            elif event["event"] == "sample" and event["index"] in began:
                self.plan.costs[cell_key(self.plan.cells[event["index"]])] = now - began[event["index"]]
            self._tell(event, lab)

        try:
            code = self._place.run(
                [self._place.python, "-m", "slownet.sweep.inside", self._job(lab)],
                shares=shares(self.plan),
                env={"PYTHONPATH": str(PACKAGE.parent)},
                stdout=events(on_line),
                stderr=complaints.extend,
            )
        finally:
            self._spans.append((booted, time.monotonic()))
        self._check(lab, code, errors, bytes(complaints))

    def end(self) -> None:
        """Puts down how long it took, when all labs have ended, and their samples into one file."""
        plan = self.plan
        samples.collect(plan.directory)
        booted, ended = zip(*self._spans, strict=True) if self._spans else ((0.0,), (0.0,))
        plan.last_s = max(ended) - min(booted)
        spans = {"wall_s": round(plan.last_s, 3), "virtual_s": round(sum(self._virtual_s), 6) if self._virtual_s else None}
        plan.facts |= {name: _added(plan.facts.get(name), seconds) for name, seconds in spans.items()}
        samples.write_run_json(plan.directory, plan.facts)

    def _job(self, lab: int) -> str:
        cells = {index: self.plan.cells[index] for index in self._shares[lab - 1]}
        asked = {"experiment": self.plan.facts["source"], "directory": str(self.plan.directory), "cells": cells}
        return json.dumps({**asked, "lab": lab, "capture": self.plan.facts.get("capture")})

    def _tell(self, event: dict[str, Any], lab: int) -> None:
        plan = self.plan
        with self._telling:
            if event["event"] == "facts":
                plan.facts = agreed(plan.facts, {key: value for key, value in event.items() if key != "event"})
                samples.write_run_json(plan.directory, plan.facts)
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
