"""Measures schedules of faults, one boot each, and keeps what came of them in a store like a sweep's.

A schedule that was measured, by this hunt or before it was interrupted, is not measured again: boots of the same schedule give
the same history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from slownet.hypotheses.catalogue import find
from slownet.hypotheses.experiment import FAULTS, Experiment
from slownet.judge.histories import log_lines
from slownet.judge.histories.checks import Violation, violations
from slownet.judge.histories.history import FILE, History
from slownet.judge.histories.log_lines import LOGS, LogLine
from slownet.judge.records.condition_columns import NONE
from slownet.judge.records.rows import SweepSample
from slownet.judge.records.sweep_samples import read_samples
from slownet.links.faults import Faults
from slownet.model.errors import ExperimentError, SlownetError, SweepError
from slownet.runner import planning
from slownet.runner.boot_store import identity, task
from slownet.runner.boot_store.sweep_store import Store
from slownet.runner.boot_store.task import LIMIT_S, Result, Task
from slownet.runner.engine import TRIES, Engine, Workers
from slownet.runner.where import Where


@dataclass(frozen=True)
class Example:
    """A schedule that was tried.

    faults: the schedule.
    history: what clients saw; None if it could not be measured.
    violations: what is wrong with that.
    error: why it could not be measured.
    logs: lines that the services logged meanwhile.
    """

    faults: Faults
    history: History | None = None
    violations: tuple[Violation, ...] = ()
    error: str = ""
    logs: Sequence[LogLine] = ()

    @property
    def breaks(self) -> bool:
        """True if the schedule breaks the system."""
        return bool(self.violations)


@dataclass(frozen=True)
class Subject:
    """The subject of a hunt: an experiment by its name or file, with its place.

    source: the experiment's name or file.
    where: the place and its clock.
    """

    source: str
    where: Where

    @classmethod
    def of(cls, name: str, where: Where) -> Subject:
        """Return it. Raises ExperimentError if the experiment does not describe a hunt."""
        subject = cls(planning.source_of(name), where)
        if not subject.experiment.checks:
            fix = "write NAME.hunt(faults([...]), no_lost_writes()) below the function"
            raise ExperimentError("it does not define what to hunt", f"experiment {name}", fix)
        return subject

    @cached_property
    def experiment(self) -> Experiment:
        """The experiment; its file is run once, and not for each schedule."""
        return find(self.source)

    @property
    def common(self) -> dict[str, Any]:
        """The circumstances that all its examples share. Raises SlownetError."""
        return identity.circumstances(self.source, task.place_of(self.where, self.source))

    def task(self, faults: Faults, common: str) -> Task:
        """Return the boot that measures a schedule."""
        cell = {**self.experiment.cells()[0], FAULTS: str(faults)}
        return Task(self.source, (cell,), (identity.unit(common, cell, 1, 1),), 1, 1, self.where)

    def example(self, faults: Faults, sample: SweepSample) -> Example:
        """Return what came of a schedule. Raises SlownetError if a check cannot judge it."""
        if sample["status"] != "ok":
            return Example(faults, error=str(sample.get("error") or "it failed"))
        raw = next((content for name, content in sample["output"].items() if name.endswith(FILE)), None)
        if raw is None:
            raise ExperimentError(f"{self.experiment.name} returned no history", fix="return the Recorder of its clients")
        history = History.read(raw.decode(errors="replace"))
        logs = next((content for name, content in sample["output"].items() if name.endswith(LOGS)), b"")
        found = tuple(violations(history, self.experiment.checks))
        return Example(faults, history, found, logs=log_lines.read(logs.decode(errors="replace")))


class Bench:
    """Measures schedules for one hunt; `store` is open while it is used. The policy of its boots for `slownet.runner.engine`.

    follow: gets each example when it is known, and whether it was measured now.
    """

    def __init__(
        self, subject: Subject, store: Store, follow: Callable[[Example, bool], None] = lambda example, is_new: None
    ) -> None:
        self._subject, self.store, self._follow = subject, store, follow
        facts = subject.common
        self._common = identity.prefix(facts)
        store.describe({"circumstances": facts})
        self._known = {each["unit"]: each for each in read_samples(store.directory, with_output=True)}
        self._waiting: Iterator[Task] = iter(())
        self.examples: dict[str, Example] = {}

    def baseline(self) -> Example:
        """Measure without any fault. Raises ExperimentError if that fails."""
        found = self.example(Faults.parse(NONE))
        if found.error:
            name = self._subject.experiment.name
            raise ExperimentError(f"{name} fails without any fault: {found.error}", self._subject.source, "fix that first")
        return found

    def example(self, faults: Faults) -> Example:
        """Return what comes of a schedule, measured now unless it was before. Raises SlownetError."""
        known = self.known(faults)
        if known is None:
            asked = self._task(faults)
            for turn in range(TRIES):
                try:
                    self.done([(asked, task.measure(asked))])
                    break
                except SweepError:
                    raise
                except SlownetError as error:  # a boot that failed; the cell's own errors are in its sample
                    if isinstance(error, ExperimentError) or turn == TRIES - 1:
                        raise
            known = self.known(faults)
            assert known is not None
        return known

    def known(self, faults: Faults) -> Example | None:
        """Return what came of a schedule, if that is known. Raises SlownetError if a check cannot judge it."""
        words = str(faults)
        if words not in self.examples:
            sample = self._known.get(self._task(faults).units[0])
            if sample is None:
                return None
            self._add(self._subject.example(faults, sample), False)
        return self.examples[words]

    def know_all(self) -> None:
        """Take all that the store has. Raises SlownetError if a check cannot judge it."""
        for each in self._known.values():
            self.known(Faults.parse(each["cell"][FAULTS]))

    def all(self, planned: Sequence[Faults], workers: Workers, goes_on: Callable[[], bool]) -> None:
        """Measure schedules side by side, in their order, until one breaks the system or `goes_on` returns False.

        Raises SlownetError.
        """
        self._waiting = self._missing(planned, goes_on)
        Engine(workers, task.measure, self, 2 * LIMIT_S).run()

    def _missing(self, planned: Iterable[Faults], goes_on: Callable[[], bool]) -> Iterator[Task]:
        for each in planned:
            if any(example.breaks for example in self.examples.values()) or not goes_on():
                return
            if self.known(each) is None:
                yield self._task(each)

    def _task(self, faults: Faults) -> Task:
        return self._subject.task(faults, self._common)

    def next(self) -> Task | None:
        """Return the next boot."""
        return next(self._waiting, None)

    def done(self, results: list[tuple[Task, Result]]) -> None:
        """Store what came of schedules."""
        self.store.append([result.samples for _, result in results])
        for done, result in results:
            self._known[done.units[0]] = result.samples[0]
            self._add(self._subject.example(Faults.parse(done.cells[0][FAULTS]), result.samples[0]), True)

    def failed(self, left: Task, error: BaseException) -> list[Task]:
        """Note a schedule that cannot be measured."""
        parts = task.given_up(left, error)
        self._add(Example(Faults.parse(left.cells[0][FAULTS]), error=task.reason(error)), True)
        return parts

    def _add(self, example: Example, is_new: bool) -> None:
        self.examples[str(example.faults)] = example
        self._follow(example, is_new)
