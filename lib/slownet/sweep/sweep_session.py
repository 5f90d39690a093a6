"""Measures the cells of a sweep that its store does not have yet, by workers, and stores what they return."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from slownet.hypotheses.catalogue import find
from slownet.hypotheses.experiment import Cell
from slownet.judge.records.result import RunData, gather
from slownet.judge.records.rows import SweepSample
from slownet.judge.records.run_json import merge_facts
from slownet.lab.run.events import Event
from slownet.lab.run.place import Place
from slownet.model.errors import SweepError
from slownet.runner import planning
from slownet.runner.boot_store import identity, task
from slownet.runner.boot_store.sweep_store import Store
from slownet.runner.boot_store.task import LIMIT_S, Result, Task
from slownet.runner.engine import Engine, Workers
from slownet.runner.job import blocks_of
from slownet.sweep.spec import Spec

if TYPE_CHECKING:
    from slownet.transfer.lab_download import Source

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
Refine = Callable[[Sequence[Cell], RunData], Sequence[Cell]]
"""Gets the cells of a sweep and what was measured in them, and returns those to be measured as well."""


class Session:
    """A sweep that is being measured: the policy of its boots for `slownet.runner.engine`.

    remote: whether workers may be other machines, whose versions are checked; lab: where those without one get it; check: gets
    the first sample of a cell that was measured, stored already, and raises SlownetError to end the sweep; refine: is asked
    when all cells are measured.
    """

    def __init__(
        self, spec: Spec, store: Store, place: Place, workers: Workers, follow: Follow, remote: bool = False,
        lab: Source | None = None, check: Callable[[SweepSample], object] = lambda sample: None,
        refine: Refine | None = None,
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
        self._check: Callable[[SweepSample], object] | None = check
        self._refine = refine
        self._work = store.directory.resolve() / WORK
        self._facts = planning.described(experiment, place) | {"source": self._source, "blocks": self._blocks}
        self.cells: list[Cell] = []
        """All cells, in the order they were planned."""
        self._planned: list[Task] = []
        self._waiting: Iterator[Task] = iter(())
        self._open = 0
        """Cells of the planned boots that are not measured yet, and not set aside."""
        store.describe({"spec": spec.to_json(), "circumstances": common, "facts": self._facts})

    def measure(self, cells: Sequence[Cell]) -> None:
        """Measure these cells, and those that refine them, as far as the store does not have them yet. Raises SweepError."""
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir()
        try:
            self._plan(cells)
            Engine(self._workers, task.measure, self, 2 * LIMIT_S).run()
        finally:
            shutil.rmtree(self._work, ignore_errors=True)  # what workers that were killed left there
            # Not what was followed: an interrupt may come after samples are on disk and before that is told.
            self._follow("ended", {"saved": sum(unit in self._store.done for each in self._planned for unit in each.units)})
            self._store.describe({"facts": self._facts})

    @property
    def run(self) -> RunData:
        """The cells measured so far."""
        return gather(self._samples(), self._facts, self._store.directory)

    def _plan(self, cells: Sequence[Cell]) -> None:
        self.cells += cells
        self._planned = list(self._tasks())
        self._waiting, self._open = iter(self._planned), sum(map(len, self._planned))
        self._follow("planned", {"cells": self._open, "known": len(self.cells) * self._spec.repeat - self._open})

    def _samples(self) -> list[SweepSample]:
        """Return the samples of the cells that are in the store, in the order of the cells."""
        order = {unit: number for number, (_, unit) in enumerate(self._keyed())}
        found = [sample for sample in self._store.samples() if sample["unit"] in order]
        return sorted(found, key=lambda sample: (order[sample["unit"]], sample["block"]))

    def _keyed(self) -> Iterator[tuple[int, str]]:
        """Yield the repetition and the key of each unit, cell by cell."""
        for cell in self.cells:
            for repetition in range(1, self._spec.repeat + 1):
                yield repetition, identity.unit(self._common, cell, repetition, self._blocks)

    def _tasks(self) -> Iterator[Task]:
        together = 1 if self._spec.fresh else min(max(LEAST, len(self.cells) // 8), MOST)
        keyed = list(self._keyed())
        for repetition in range(1, self._spec.repeat + 1):
            units = [unit for number, unit in keyed if number == repetition]
            for boot in task.boots_of(list(zip(self.cells, units, strict=True)), together):
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
        """Return the next boot; when all are over, one of the cells that refine the sweep."""
        while (found := next(self._waiting, None)) is None and not self._open:
            if not (more := self._refine(self.cells, self.run) if self._refine else ()):
                return None
            self._plan(more)
        return found

    def done(self, results: list[tuple[Task, Result]]) -> None:
        """Store the samples of boots."""
        self._store.append([result.samples for _, result in results])
        for measured, result in results:
            self._measured += len(measured)
            self._open -= len(measured)
            self._facts = merge_facts(self._facts, result.facts)
            errors = [each["error"] for each in result.samples if each["status"] != "ok"]
            good = next((each for each in result.samples if each["status"] == "ok"), None)
            if self._check and good:
                self._check(good)
                self._check = None
            self._follow("measured", {"cells": len(measured), "worker": result.worker, "errors": errors})

    def failed(self, left: Task, error: BaseException) -> list[Task]:
        """Try each cell of a boot by itself; set one aside that fails then. Raises SweepError if no cell can be measured."""
        if parts := task.given_up(left, error):
            return parts
        self._open -= 1
        (cell,), why = left.cells, task.reason(error)
        self._aside_first += not self._measured
        if self._aside_first == HOPELESS:
            raise SweepError(f"none of the first {HOPELESS} cells can be measured: {why}", fix="try one with slownet run")
        self._store.set_aside(cell, left.repetition, why)
        self._follow("aside", {"cell": cell, "why": why})
        return []
