"""Measures the cells of a sweep that its store does not have yet, by workers, and stores what they return."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence

from slownet.hypotheses.catalogue import find
from slownet.hypotheses.experiment import Cell
from slownet.judge.records.merging import merge_facts
from slownet.lab.events import Event
from slownet.lab.place import Place
from slownet.model.errors import SweepError
from slownet.model.sample import Sample
from slownet.runner import planning
from slownet.runner.boots import blocks_of
from slownet.runner.engine import Engine, Workers
from slownet.runner.sweep import identity, task
from slownet.runner.sweep.spec import Spec
from slownet.runner.sweep.sweep_store import Store
from slownet.runner.sweep.task import LIMIT_S, Result, Task
from slownet.runner.transfer.lab_download import Source

LEAST, MOST = 2, 16
"""Cells of a boot: an eighth of all, within these limits, so that several labs have work. It does not depend on how many labs
there are, because that must not change a number."""
HOPELESS = 3
"""Cells that are set aside before any is measured, after which the others are not tried."""
WORK = ".work"
"""The folder of boots that are under way."""

Follow = Callable[[str, Event], None]
"""Gets "workers" {labs, dashboard} of a cluster, "planned" {cells, known}, "measured" {cells, worker, errors}, "aside"
{cell, why} and "ended" {saved}, the planned cells that are in the store."""


class Session:
    """A sweep that is being measured: the policy of its boots for `slownet.runner.engine`.

    remote: whether workers may be other machines, whose versions are checked; lab: where those without one get it; check: gets
    the first sample of a cell that was measured, stored already, and raises SlownetError to end the sweep.
    """

    def __init__(
        self, spec: Spec, store: Store, place: Place, workers: Workers, follow: Follow, remote: bool = False,
        lab: Source | None = None, check: Callable[[Sample], object] = lambda sample: None,
    ) -> None:  # fmt: skip
        self._lab = lab if remote else None
        self._spec, self._store, self._workers, self._follow = spec, store, workers, follow
        self._source = planning.source_of(spec.experiment)
        experiment = find(self._source)
        self._blocks = blocks_of(experiment, place.clock)
        common = identity.circumstances(self._source, place, spec.cold)
        self._common = identity.prefix(common)
        self._expected = task.versions(spec.where, self._source) if remote else ()
        self._measured = self._aside_first = 0
        self._check: Callable[[Sample], object] | None = check
        self._waiting: Iterator[Task] = iter(())
        self._work = store.directory.resolve() / WORK
        self._facts = planning.described(experiment, place) | {"source": self._source, "blocks": self._blocks}
        store.describe({"spec": spec.to_json(), "circumstances": common, "facts": self._facts})

    def measure(self, cells: Sequence[Cell]) -> None:
        """Measure the repetitions of these cells that are not in the store yet. Raises SweepError."""
        tasks = list(self._tasks(cells))
        missing = sum(map(len, tasks))
        self._waiting = iter(tasks)
        self._follow("planned", {"cells": missing, "known": len(cells) * self._spec.repeat - missing})
        if not tasks:
            return
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir()
        try:
            Engine(self._workers, task.measure, self, 2 * LIMIT_S).run()
        finally:
            shutil.rmtree(self._work, ignore_errors=True)  # what workers that were killed left there
            # Not what was followed: an interrupt may come after samples are on disk and before that is told.
            self._follow("ended", {"saved": sum(unit in self._store.done for each in tasks for unit in each.units)})
            self._store.describe({"facts": self._facts})

    def samples(self, cells: Sequence[Cell]) -> list[Sample]:
        """Return the samples of these cells that are in the store, in the order of the cells."""
        order = {unit: number for number, (_, unit) in enumerate(self._keyed(cells))}
        found = [(unit, sample) for unit, sample in self._store.samples() if unit in order]
        return [sample for _, sample in sorted(found, key=lambda each: (order[each[0]], each[1]["block"]))]

    def _keyed(self, cells: Sequence[Cell]) -> Iterator[tuple[int, str]]:
        """Yield the repetition and the key of each unit, cell by cell."""
        for cell in cells:
            for repetition in range(1, self._spec.repeat + 1):
                yield repetition, identity.unit(self._common, cell, repetition, self._blocks)

    def _tasks(self, cells: Sequence[Cell]) -> Iterator[Task]:
        together = 1 if self._spec.fresh else min(max(LEAST, len(cells) // 8), MOST)
        keyed = list(self._keyed(cells))
        for repetition in range(1, self._spec.repeat + 1):
            units = [unit for number, unit in keyed if number == repetition]
            for boot in task.boots_of(list(zip(cells, units, strict=True)), together):
                if missing := [pair for pair in boot if pair[1] not in self._store.done]:
                    chosen, wanted = zip(*missing, strict=True)
                    yield Task(
                        self._source,
                        chosen,
                        wanted,
                        repetition,
                        self._blocks,
                        self._spec.where,
                        self._expected,
                        str(self._work),
                        cold=self._spec.cold,
                        lab=self._lab,
                    )

    def next(self) -> Task | None:
        """Return the next boot."""
        return next(self._waiting, None)

    def done(self, results: list[tuple[Task, Result]]) -> None:
        """Store the samples of boots."""
        self._store.append([result.kept for _, result in results])
        for measured, result in results:
            self._measured += len(measured)
            self._facts = merge_facts(self._facts, result.facts)
            errors = [each.sample["error"] for each in result.kept if each.sample["status"] != "ok"]
            good = next((each.sample for each in result.kept if each.sample["status"] == "ok"), None)
            if self._check and good:
                self._check(good)
                self._check = None
            self._follow("measured", {"cells": len(measured), "worker": result.worker, "errors": errors})

    def failed(self, left: Task, error: BaseException) -> list[Task]:
        """Try each cell of a boot by itself; set one aside that fails then. Raises SweepError if no cell can be measured."""
        if parts := task.given_up(left, error):
            return parts
        (cell,), why = left.cells, task.reason(error)
        self._aside_first += not self._measured
        if self._aside_first == HOPELESS:
            raise SweepError(f"none of the first {HOPELESS} cells can be measured: {why}", fix="try one with slownet run")
        self._store.set_aside(cell, left.repetition, why)
        self._follow("aside", {"cell": cell, "why": why})
        return []
