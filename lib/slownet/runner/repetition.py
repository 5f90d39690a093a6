"""Repeats boots until claims are decided: the policy of runs for `slownet.runner.engine`.

A round of a plan is its boots between two looks at its claims (`slownet.runner.sampling`). They share as many labs as the plan
may have, numbered from 1. Where labs are short, a plan that is listed earlier comes first, but each plan's first lab before any
second one.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.claim.requirements import related
from slownet.judge.records import result
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import SampleLog, cell_key
from slownet.lab.host import cpu
from slownet.lab.run.events import Event
from slownet.lab.run.place import Place
from slownet.model.errors import SlownetError
from slownet.model.facts import Sampling
from slownet.model.sample import Sample
from slownet.runner import booting, sampling, sharing
from slownet.runner.job import Boot, Job
from slownet.runner.planning import Plan
from slownet.runner.warming import WarmUp

Follow = Callable[[str, Event], None]


def how_many_labs(plans: Sequence[Plan], place: Place) -> int:
    """Return the number of parallel labs: one for each processor, or the highest number that a plan asks for."""
    return max(cpu.count(), *(each.labs or 1 for each in plans)) if sharing.side_by_side(place) else 1


class Repetition:
    """The boots of some plans.

    follow: gets an experiment's name and each of its events; go_on: whether plans go on when one has failed or was interrupted,
    which is recorded; without that none begins another round.
    """

    def __init__(self, plans: Sequence[Plan], place: Place, follow: Follow, go_on: bool = False) -> None:
        self._place, self._follow, self._go_on = place, follow, go_on
        self._began = time.monotonic()
        self._groups = [{rank: self._round(each) for rank, each in group.items()} for group in _groups(plans, place)]
        self.runs: dict[str, RunData] = {}
        """The run of each experiment, as it was after its last round."""
        self.errors: dict[int, BaseException] = {}
        """Why plans failed, by their rank, if the others are not to go on."""

    def next(self) -> RoundBoot | None:
        """Return the boot that a lab measures next; None if none exists, or none before a round is over."""
        while ready := [(each.next_lab > 1, rank, each) for rank, each in self._rounds() if each.next_lab]:
            *_, first = min(ready, key=lambda each: each[:2])
            if found := first.begin():
                return found
        return None

    def done(self, results: Sequence[tuple[RoundBoot, None]]) -> None:
        """Note that boots have ended; their samples are in the log."""
        for each, _ in results:
            each.round.ended(each.lab)

    def failed(self, each: RoundBoot, error: BaseException) -> Sequence[RoundBoot]:
        """Note that a boot failed: its samples until then are kept, and its round begins no other."""
        each.round.ended(each.lab, error)
        return ()

    def close(self) -> None:
        """Close the logs of rounds that something has ended early."""
        for group in self._groups:
            for each in group.values():
                each.end()

    def _rounds(self) -> Iterator[tuple[int, Round]]:
        """Yield the rounds by their plans' ranks, new ones in place of those that are over."""
        for number, group in enumerate(self._groups):
            while group and all(each.is_over for each in group.values()):
                self._groups[number] = {}
                group = self._groups[number] = self._next_rounds(group)
            yield from group.items()

    def _round(self, plan: Plan) -> Round:
        return Round(plan, self._place.with_clock(plan.clock or self._place.clock), self._follow)

    def _next_rounds(self, group: Mapping[int, Round]) -> dict[int, Round]:
        """End the rounds of a group, look at its claims, and return the rounds of the plans that continue."""
        for each in group.values():
            each.end()
        errors = {rank: each.error for rank, each in group.items() if each.error}
        for error in errors.values():
            if not isinstance(error, SlownetError | KeyboardInterrupt):
                raise error
        if errors and not self._go_on:
            self.errors |= errors
            return {}
        for rank, error in errors.items():
            group[rank].plan.broke_off(error)
        plans = {rank: each.plan for rank, each in group.items()}
        self.runs |= {each.experiment.name: result.load(each.directory) for each in plans.values()}
        good = {rank: each for rank, each in plans.items() if not each.error}
        going = _still_open(good, self.runs, time.monotonic() - self._began, self._follow)
        return {} if self.errors else {rank: self._round(each) for rank, each in going.items()}


def _groups(plans: Sequence[Plan], place: Place) -> list[dict[int, Plan]]:
    """Divide the plans, by their ranks, into groups that are measured and judged independently of each other.

    What a claim sees of another experiment's run must not depend on which is quicker: experiments whose claims need each
    other's runs are judged at the same time. On the real clock that holds for all, because judging disturbs a measurement.
    """
    ranks = {each.experiment.name: rank for rank, each in enumerate(plans)}
    related_names = related({each.experiment.name: each.experiment.judged_by for each in plans})
    groups = related_names if place.clock.is_apart else [list(ranks)]
    return [{ranks[name]: plans[ranks[name]] for name in names} for names in groups]


def _still_open(plans: Mapping[int, Plan], runs: Mapping[str, RunData], spent_s: float, follow: Follow) -> dict[int, Plan]:
    """Return the plans that continue, with the cells of their next boots; record why each one continues or ends.

    runs: the runs of all experiments of the group so far, by name.
    """
    again = {}
    for rank, each in plans.items():
        name = each.experiment.name
        decision = sampling.decide(runs[name], each.experiment.judged_by, runs, each.rule, spent_s, each.boot_s)
        each.add(decision.cells, decision.boots)
        why: Sampling = {"confidence": decision.confidence, "why": decision.why, "last_line": decision.last_line}
        if decision.finds is not None:
            why["finds"] = decision.finds
        each.state(sampling={**each.rule.to_json(), **why})
        each.write()
        if decision.cells:
            follow(name, {"event": "planned", "cells": len(each.cells), "why": decision.why})
            again[rank] = each
    return again


@dataclass(frozen=True, eq=False)
class RoundBoot:
    """A boot that a lab measures: the lab's number, and the places in the plan that are left."""

    round: Round
    lab: int
    boot: Boot
    indices: Sequence[int]

    def measure(self) -> None:
        """Measure the boot; its samples go to the run's log as they come. Raises SlownetError, KeyboardInterrupt."""
        self.round.measure(self)


class Round:
    """The boots of a plan between two looks at its claims. If one fails, those under way are finished, and no more begin.

    The samples of all labs go to one file, which this writes.
    """

    def __init__(self, plan: Plan, place: Place, follow: Follow) -> None:
        self.plan, self._place, self._follow = plan, place, follow
        left = plan.left
        self._left = [(boot, indices) for boot in plan.boots if (indices := [each for each in left if each in boot])]
        self._labs = set(range(1, 1 + sharing.how_many(plan.labs, place, len(self._left), cpu.count())))
        self._free, self._used = self._labs.copy(), set[int]()
        self._failed: set[str] = set()
        self._errors: dict[int, BaseException] = {}
        self._lock = threading.Lock()
        self._virtual_s: list[float] = []
        self._spans: list[tuple[float, float]] = []
        self._log: SampleLog | None = None

    @property
    def error(self) -> BaseException | None:
        """The error of the lab with the least number that has one."""
        return self._errors[min(self._errors)] if self._errors else None

    @property
    def is_over(self) -> bool:
        """True if no boot is under way, and none is left to begin."""
        return self._free == self._labs and not self._goes_on

    @property
    def next_lab(self) -> int:
        """The number of the lab that can measure another boot now; 0 if none can."""
        return min(self._free) if self._goes_on and self._free else 0

    @property
    def _goes_on(self) -> bool:
        return bool(self._left) and not self._errors

    def begin(self) -> RoundBoot | None:
        """Return the next boot, for the lab `next_lab`; None if all its cells have failed before."""
        lab = self.next_lab
        boot, left = self._left.pop(0)
        with self._lock:
            self.plan.note(boot, lab=lab, processor=None)
            self._used.add(lab)
            self.plan.state(labs=max(len(self._used), self.plan.facts.get("labs", 1)))
            # A cell that failed in an earlier boot is not retried: it counts as failed in any case.
            indices = [index for index in left if cell_key(self.plan.cells[index]) not in self._failed]
        if not indices:
            return None
        self._free.remove(lab)
        return RoundBoot(self, lab, boot, indices)

    def ended(self, lab: int, error: BaseException | None = None) -> None:
        """Note that a lab's boot has ended, perhaps by an error."""
        self._free.add(lab)
        if error:
            self._errors[lab] = error

    def end(self) -> None:
        """Record how long the round took and close the file of samples; for when all labs have ended."""
        plan = self.plan
        if self._log:
            self._log.close()
        self._discard_empty_folders()
        booted, ended = zip(*self._spans, strict=True) if self._spans else ((0.0,), (0.0,))
        plan.last_s = max(ended) - min(booted)
        virtual_s = round(sum(self._virtual_s), 6) if self._virtual_s else None
        plan.state(
            wall_s=_added(plan.facts.get("wall_s"), round(plan.last_s, 3)),
            virtual_s=_added(plan.facts.get("virtual_s"), virtual_s),
        )
        plan.write()

    def _discard_empty_folders(self) -> None:
        """Remove the folders that the labs left empty: not before the last one has ended, since labs share some of them."""
        for lab in {1, *self._used}:  # the log of samples makes the first lab's
            for name in Job([], 1, 1, lab).folders():
                with contextlib.suppress(OSError):  # it has something
                    (self.plan.directory / name).rmdir()

    def measure(self, one: RoundBoot) -> None:
        """Measure a boot. Raises SlownetError, KeyboardInterrupt."""
        plan, booted = self.plan, time.monotonic()

        def on_processor(number: int) -> None:
            with self._lock:
                plan.note(one.boot, processor=number)
                plan.write()

        steps = one.boot.steps(plan.cells, one.indices)
        warm_up = WarmUp.of(plan.experiment, plan.cells, (cell for _, _, cell in steps))
        job = Job(steps, one.boot.number, one.boot.blocks, one.lab, plan.facts.get("capture") or [], warm_up=warm_up)
        try:
            booting.boot(plan.folder, self._place, job, lambda event: self._tell(event, one.lab), on_processor)
        except SlownetError as error:
            if self._place.received:  # what a command reports while it is being ended is not why the run ended
                raise KeyboardInterrupt from error
            raise
        finally:
            self._spans.append((booted, time.monotonic()))

    def _tell(self, event: Event, lab: int) -> None:
        plan = self.plan
        with self._lock:
            if event["event"] == "facts":
                plan.merge(booting.reported(event))
            elif event["event"] == "sample":
                sample = event["sample"]
                self._keep(sample)
                event = {"event": "sample", "index": event["index"], **news(sample)}
                if sample["status"] == "failed":
                    self._failed.add(cell_key(sample["cell"]))
            elif event["event"] == "end":
                self._virtual_s.append(event["virtual_s"])
            # what breaks while labs are being ended is not the run's failure, so nobody is told
            told = {**event, "error": None} if self._place.received and event.get("error") else event
            self._follow(plan.experiment.name, {**told, "lab": lab})

    def _keep(self, sample: Sample) -> None:
        """Put a sample on the disk, before anything else uses it."""
        if self._log is None:
            self._log = SampleLog(self.plan.directory)
        self._log.append(sample)
        self.plan.state(samples=self._log.seal)


def news(sample: Sample) -> Event:
    """Return what those who follow the run need of a sample; all of it is in the log."""
    numbers = {
        name: {key: each.get(key) for key in ("mean", "sd", "n")} for name, each in (sample.get("metrics") or {}).items()
    }
    return {**{name: sample.get(name) for name in ("status", "error", "virtual_s")}, "metrics": numbers}


def _added(before: float | None, seconds: float | None) -> float | None:
    """Return the total time of all repetitions so far."""
    return seconds if before is None else before + (seconds or 0.0)
