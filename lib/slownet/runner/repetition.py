"""Measures the next boots of some plans, each in a lab of its own, in parallel where possible."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial

from slownet.judge.records.samples import SampleLog, cell_key
from slownet.lab import cpu
from slownet.lab.events import Event
from slownet.lab.place import Place
from slownet.model.errors import SlownetError
from slownet.model.sample import Sample
from slownet.runner import booting, sharing
from slownet.runner.boots import Boot
from slownet.runner.job import Job
from slownet.runner.labs import Labs
from slownet.runner.planning import Plan
from slownet.runner.warming import WarmUp

Follow = Callable[[str, Event], None]


def how_many_labs(plans: Sequence[Plan], place: Place) -> int:
    """Return the number of parallel labs: one for each processor, or the highest number that a plan asks for."""
    return max(cpu.count(), *(each.labs or 1 for each in plans)) if sharing.side_by_side(place) else 1


def measure(plans: Mapping[int, Plan], place: Place, follow: Follow, labs: Labs) -> list[tuple[Plan, BaseException]]:
    """Measure the remaining boots of each plan: in parallel on the virtual clock, one after the other on the real clock.

    ``plans`` by their rank: where labs are short, a plan of a lower one comes first. Every plan's first lab comes before any
    second one. A lab that finds no boot left in its plan does nothing. Returns the plans that failed or were interrupted, and
    why. Raises any error that is not a SlownetError, after all have ended.
    """
    batches = {rank: Batch(each, place.with_clock(each.clock or place.clock), follow) for rank, each in plans.items()}
    turns = sorted((lab > 1, rank, lab) for rank, each in batches.items() for lab in range(1, each.labs + 1))
    begun = [
        (batches[rank], labs.submit((is_further, rank), partial(batches[rank].measure, lab))) for is_further, rank, lab in turns
    ]
    wait([future for _, future in begun])
    for each in batches.values():
        each.end()
    return _broken(begun)


def _broken(begun: Sequence[tuple[Batch, Future[None]]]) -> list[tuple[Plan, BaseException]]:
    """Return the first error of each plan."""
    broken: dict[int, tuple[Plan, BaseException]] = {}
    for each, future in begun:
        error = future.exception()
        if error and not isinstance(error, SlownetError | KeyboardInterrupt):
            raise error
        if error:
            broken.setdefault(id(each.plan), (each.plan, error))
    return list(broken.values())


class Batch:
    """The boots of a plan between two looks at its claims, measured by its labs, one thread each.

    The samples of all labs go to one file, which this writes.

    If a lab fails, the other labs finish their boots but start no more.
    """

    def __init__(self, plan: Plan, place: Place, follow: Follow) -> None:
        self.plan, self._place, self._follow = plan, place, follow
        left = plan.left
        self._left = [(boot, indices) for boot in plan.boots if (indices := [each for each in left if each in boot])]
        self._failed: set[str] = set()
        self.labs = sharing.how_many(plan.labs, place, len(self._left), cpu.count())
        self._used: set[int] = set()
        self._lock = threading.Lock()
        self._broken = False
        self._virtual_s: list[float] = []
        self._spans: list[tuple[float, float]] = []
        self._log: SampleLog | None = None

    def measure(self, lab: int) -> None:
        """Measure boots in one lab (numbered from 1) until none is left. Raises SlownetError, KeyboardInterrupt."""
        while (following := self._next(lab)) is not None:
            try:
                self._boot(lab, *following)
            except SlownetError as error:
                self._broken = True
                if self._place.received:  # what a command reports while it is being ended is not why the run ended
                    raise KeyboardInterrupt from error
                raise
            except BaseException:
                self._broken = True
                raise

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

    def _next(self, lab: int) -> tuple[Boot, list[int]] | None:
        """Return the next boot that no lab has started, and its remaining places in the plan; None if there is none."""
        with self._lock:
            if self._broken or not self._left:
                return None
            boot, left = self._left.pop(0)
            self.plan.note(boot, lab=lab, processor=None)
            self._used.add(lab)
            self.plan.state(labs=max(len(self._used), self.plan.facts.get("labs", 1)))
            # A cell that failed in an earlier boot is not retried: it counts as failed in any case.
            return boot, [index for index in left if cell_key(self.plan.cells[index]) not in self._failed]

    def _boot(self, lab: int, boot: Boot, indices: Sequence[int]) -> None:
        if not indices:
            return
        booted = time.monotonic()

        def on_processor(number: int) -> None:
            with self._lock:
                self.plan.note(boot, processor=number)
                self.plan.write()

        steps = [(index, boot.block(index), self.plan.cells[index]) for index in indices]
        warm_up = WarmUp.of(self.plan.experiment, self.plan.cells, (cell for _, _, cell in steps))
        job = Job(steps, boot.number, boot.blocks, lab, self.plan.facts.get("capture") or [], warm_up=warm_up)
        try:
            booting.boot(self.plan.folder, self._place, job, lambda event: self._tell(event, lab), on_processor)
        finally:
            self._spans.append((booted, time.monotonic()))

    def _tell(self, event: Event, lab: int) -> None:
        plan = self.plan
        with self._lock:
            if event["event"] == "facts":
                plan.merge({key: value for key, value in event.items() if key != "event"})
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
