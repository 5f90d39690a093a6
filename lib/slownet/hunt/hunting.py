"""A hunt: schedules of faults are tried until one breaks the system, and that one is made as small as it can be."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.hunt import drawing, strategy
from slownet.hunt.bench import Bench, Example, Subject
from slownet.hunt.hunt_outcome import Hunted
from slownet.judge.histories.checks import words_of
from slownet.judge.records.sweep_samples import HEADER, read_header
from slownet.links.fault_file import FaultFile
from slownet.links.faults import Faults
from slownet.model import whole_file
from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.importing import Terminated
from slownet.model.options import RESUME, Option
from slownet.runner import planning
from slownet.runner.boot_store import identity, task
from slownet.runner.boot_store.sweep_store import Store
from slownet.runner.where import Where
from slownet.runner.workers import Pool, how_many

EXAMPLES, SEED, BUDGET_S = 200, 1, 1800.0
SMALLEST, FIRST = "found", "first"
"""The files' names of the smallest schedule, and of the one that was found first: with .toml, and .jsonl for the history."""
ENDED = "ended"
"""The field of sweep.json with the outcome of a hunt that came to its end."""

Follow = Callable[[str, Mapping[str, Any]], None]
"""Gets "planned" {examples, known}, "example" {example, new}, "found" {example} and "smaller" {example}."""


class _Ended(BaseException):
    """Passes through Hypothesis, which would take an exception for a failure of the system."""

    def __init__(self, error: SlownetError | Terminated | None = None) -> None:
        super().__init__()
        self.error = error


@dataclass
class Hunt:
    """A hunt as it was asked for.

    experiment: name or file.
    directory: where examples go.
    where: the place and its clock.
    examples, seed: of Hypothesis. Unless given, those of the hunt that goes on; of a new one `EXAMPLES` and `SEED`.
    budget_s: seconds of wall time.
    labs: labs side by side; None for one a processor.
    resume: whether the folder may have examples already.
    follow: see `Follow`.
    """

    experiment: str
    directory: Path
    where: Where = field(default_factory=Where)
    examples: int | None = None
    seed: int | None = None
    budget_s: float = BUDGET_S
    labs: int | None = None
    resume: bool = False
    follow: Follow = lambda event, facts: None

    def run(self) -> Hunted:
        """Hunt. Raises SlownetError; what was measured until then is stored."""
        strategy.need()
        subject = Subject.of(self.experiment, self.where)
        if (self.directory / HEADER).exists() and "hunt" not in read_header(self.directory):
            raise ExperimentError(f"{self.directory} contains a sweep", Option("out"), "name another folder")
        if (self.directory / HEADER).exists() and not self.resume:
            raise ExperimentError(f"{self.directory} has a hunt", Option("out"), f"go on with {RESUME}, or name another folder")
        whole_file.need_folder(self.directory, Option("out"))
        self._until = time.monotonic() + self.budget_s
        with Store(self.directory) as store:
            earlier = store.header.get("hunt") or {}
            self._examples: int = earlier.get("examples", EXAMPLES) if self.examples is None else self.examples
            self._seed: int = earlier.get("seed", SEED) if self.seed is None else self.seed
            facts = planning.described(subject.experiment, task.place_of(self.where, subject.source))
            store.describe({"hunt": self._facts(subject), "facts": facts | {"source": subject.source}})
            bench = Bench(subject, store, lambda example, new: self.follow("example", {"example": example, "new": new}))
            return self._hunt(subject, bench)

    def _facts(self, subject: Subject) -> dict[str, object]:
        return {
            "experiment": subject.source, "seed": self._seed, "examples": self._examples,
            "space": str(subject.experiment.space),
            "checks": [words_of(each) for each in subject.experiment.checks],
        }  # fmt: skip

    def _asked(self, subject: Subject) -> dict[str, object]:
        """Return what determines the outcome, so that a hunt that came to its end is not hunted again."""
        return self._facts(subject) | {"circumstances": identity.prefix(subject.common)}

    def _ended(self, subject: Subject, bench: Bench) -> Hunted | None:
        """Return the outcome of a hunt of the same kind that came to its end in this folder; None without one."""
        ended = bench.store.header.get(ENDED) or {}
        if ended.get("asked") != self._asked(subject):
            return None
        bench.know_all()
        first, smallest = (bench.examples.get(ended[name]) for name in ("first", "smallest"))
        if (ended["first"] and not first) or (ended["smallest"] and not smallest):
            return None  # its samples are not all there
        return self._done(subject, bench, first, smallest, ended["tried"], ended["repeats"])

    def _hunt(self, subject: Subject, bench: Bench) -> Hunted:
        if done := self._ended(subject, bench):
            return done
        if (bare := bench.baseline()).breaks:
            return self._result(subject, bench, bare, bare, 0)
        space = subject.experiment.space
        planned = strategy.planned(space, self._seed, self._examples)
        self.follow("planned", {"examples": len(planned), "known": sum(bench.known(each) is not None for each in planned)})
        workers = Pool(how_many(self.labs, task.place_of(self.where, subject.source)))
        bench.all(planned, workers, self._has_time)
        tried = next((number for number, each in enumerate(planned, 1) if self._breaks(bench, each)), len(planned))
        first = smallest = None

        def judge(schedule: Faults) -> bool:
            nonlocal first, smallest
            example = self._example(bench, schedule)
            if example.breaks and (smallest is None or _size(example) < _size(smallest)):
                self.follow("smaller" if first else "found", {"example": example})
                first, smallest = first or example, example
            return example.breaks

        try:
            found = strategy.search(space, judge, self._seed, self._examples)
        except _Ended as ended:
            if ended.error:
                raise ended.error from None
            return self._result(subject, bench, first, smallest, tried, is_over=True)
        return self._result(subject, bench, first, bench.known(found) if found else None, tried)

    def _has_time(self) -> bool:
        return time.monotonic() < self._until

    def _breaks(self, bench: Bench, schedule: Faults) -> bool:
        known = bench.known(schedule)
        return known is not None and known.breaks

    def _example(self, bench: Bench, schedule: Faults) -> Example:
        try:
            known = bench.known(schedule)
            if known is None and not self._has_time():
                raise _Ended
            return known or bench.example(schedule)
        except (SlownetError, Terminated) as error:  # the latter after SIGTERM
            raise _Ended(error) from error

    def _result(
        self, subject: Subject, bench: Bench, first: Example | None, smallest: Example | None, tried: int, is_over: bool = False
    ) -> Hunted:
        repeats = None
        for name, example in ((FIRST, first), (SMALLEST, smallest)):
            if example:
                save(bench.store, name, example, subject)
        if smallest and smallest.history:
            other = again(subject, smallest.faults)
            repeats = smallest.history.differs_from(other.history) if other.history else f"it was not measured: {other.error}"
        if not is_over and not any(each.error for each in bench.examples.values()):
            words = {name: str(each.faults) if each else "" for name, each in (("first", first), ("smallest", smallest))}
            asked = self._asked(subject)
            bench.store.describe({ENDED: {"asked": asked, "tried": tried, "repeats": repeats, **words}})
        return self._done(subject, bench, first, smallest, tried, repeats, is_over)

    def _done(
        self, subject: Subject, bench: Bench, first: Example | None, smallest: Example | None, tried: int, repeats: str | None,
        is_over: bool = False,
    ) -> Hunted:  # fmt: skip
        done = Hunted(self.directory, tuple(bench.examples.values()), first, smallest, tried, repeats, is_over)
        drawing.write(done, subject.experiment, self._facts(subject), bench.baseline())
        return done


def again(subject: Subject, faults: Faults) -> Example:
    """Measure a schedule in a boot of its own, whatever is known of it. Raises SlownetError."""
    asked = subject.task(faults, "")
    return subject.example(faults, task.measure(asked).samples[0])


def save(store: Store, stem: str, example: Example, subject: Subject) -> None:
    """Write a schedule as STEM.toml, and its history as STEM.jsonl, whose sums sweep.json then has. Raises SlownetError."""
    found = {"experiment": subject.source, "violation": "; ".join(map(str, example.violations))}
    if example.history:
        found["history_sha256"] = example.history.digest
        store.keep(f"{stem}.jsonl", example.history.to_text().encode())
    store.keep(f"{stem}.toml", FaultFile(example.faults, found).to_toml().encode())


def _size(example: Example) -> tuple[int, int]:
    return len(example.faults.steps), len(str(example.faults))
