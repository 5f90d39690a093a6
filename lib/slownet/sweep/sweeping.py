"""`slownet sweep` and `slownet.sweep.run`: from the description of a sweep to its report."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slownet.hypotheses.catalogue import find
from slownet.hypotheses.experiment import VARY, Cell, Experiment, once, tried
from slownet.judge.records import sweep_samples
from slownet.judge.records.charging import Terms
from slownet.judge.records.exactness import verdict_from
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import cell_key
from slownet.judge.records.sweep_samples import HEADER, Aside
from slownet.lab.run.place import Place
from slownet.model import whole_file
from slownet.model.errors import SlownetError, SweepError
from slownet.model.options import RESUME, Option
from slownet.model.units import show_duration
from slownet.runner import compose_project, planning
from slownet.runner.boot_store import task
from slownet.runner.boot_store.sweep_store import Store
from slownet.runner.engine import Workers
from slownet.runner.sharing import check_labs
from slownet.runner.where import Where
from slownet.runner.workers import Pool, how_many
from slownet.sweep import factors
from slownet.sweep import refine as refining
from slownet.sweep.factors import GRID, OPTION, Design, Factors
from slownet.sweep.refine import Criterion, Flip, Refinement
from slownet.sweep.spec import Spec

if TYPE_CHECKING:
    from slownet.transfer.lab_download import Source
from collections.abc import Callable
from typing import TYPE_CHECKING

from slownet.judge.records.result import gather
from slownet.judge.records.rows import SweepSample
from slownet.judge.records.run_json import merge_facts
from slownet.lab.run.events import Event
from slownet.runner.boot_store import identity
from slownet.runner.boot_store.task import LIMIT_S, Result, Task
from slownet.runner.engine import Engine
from slownet.runner.job import blocks_of

# Measures the cells of a sweep that its store does not have yet, by workers, and stores what they return.

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


# The cells of a sweep, and the limit on their number.

ASK = 100_000
"""More samples than that are only measured with ``--yes``."""
CELL_S = 1.5
"""Wall time of a cell in the estimate of a large sweep: about that of a page of WordPress, with its share of the boot."""


def factors_of(experiment: Experiment, vary: Mapping[str, Sequence[str]]) -> Factors:
    """Return the values of all factors: those chosen, and the experiment's own for the others. Raises SlownetError."""
    if experiment.listed:
        experiment.cells(vary)
        return {name: tuple(texts) for name, texts in experiment.conditions.items()}
    found = {**experiment.conditions, **experiment.whole(vary)}
    experiment.cells({name: texts[:1] for name, texts in found.items()})  # refuses a factor that it does not have
    return {name: tuple(texts) for name, texts in found.items()}


def _need_folders(directory: Path, merge: Iterable[Path | str]) -> None:
    """Raise SlownetError if samples cannot be written there, or nothing can be merged."""
    whole_file.need_folder(directory, Option("out"))
    if lacking := next((each for each in map(Path, merge) if not (each / HEADER).is_file()), None):
        raise SweepError(f"{lacking} contains no sweep", Option("merge"), f"name a folder with a {HEADER}")


def check_values(experiment: Experiment, vary: Mapping[str, Sequence[str]]) -> Factors:
    """Return the values of all factors. Raises SlownetError for a value that cannot be read, before there are many cells."""
    found = factors_of(experiment, vary)
    if not experiment.listed:
        for name, texts in found.items():
            tried(name, texts, f"{VARY} {name}" if name in vary else f"in {experiment.name}")
    return found


def cells_of(experiment: Experiment, vary: Mapping[str, Sequence[str]], design: Design) -> list[Cell]:
    """Return the cells of a sweep. Raises SlownetError, also for a value that cannot be read."""
    found = check_values(experiment, vary)
    if experiment.listed:
        if design.kind != GRID:
            raise SweepError(f"{experiment.name} lists its cells", OPTION, "leave it out: there is no grid to draw from")
        return experiment.cells(vary)
    return list(design.cells({name: once(name, texts) for name, texts in found.items()}))


def check_size(experiment: Experiment, vary: Mapping[str, Sequence[str]], design: Design, repeat: int, labs: int) -> None:
    """Raise SweepError for a sweep that takes days; it is not made for that."""
    cells = len(experiment.listed) or design.size(factors_of(experiment, vary))
    if cells * repeat <= ASK:
        return
    size = f"{cells:,} cells" + (f" with {repeat} repetitions" if repeat > 1 else "")
    takes = f"about {show_duration(cells * repeat * CELL_S / labs)} on {labs} lab{'s' * (labs > 1)}, if one takes {CELL_S:g} s"
    raise SweepError(
        f"{size} take {takes}",
        VARY,
        f"add {Option('yes')} if that is meant, name fewer values, or {Option('sample').set('sobol:1024')}",
    )


@dataclass(frozen=True)
class Sweep:
    """A measured sweep.

    run: the cells with their summaries, as those of a run; ``run.directory`` is the sweep's folder.
    aside: what could not be measured: ``{"cell", "repetition", "why"}``.
    new: cells and repetitions that were measured now; the others were in the folder before.
    criterion: what each cell was to meet.
    verdicts: whether each cell meets it, by the cell's title.
    flips: where that changes along the refined factor.
    """

    run: RunData
    aside: list[Aside]
    new: int
    criterion: Criterion | None = None
    verdicts: Mapping[str, Judgement] = field(default_factory=dict)
    flips: Sequence[Flip] = ()

    @property
    def directory(self) -> Path:
        """The folder of the sweep."""
        return self.run.directory

    def table(self) -> Any:
        """Return all samples as a `pyarrow.Table`, one row each; ``.to_pandas()`` makes a data frame of it."""
        import pyarrow.dataset as ds

        return ds.dataset(str(self.directory / sweep_samples.SAMPLES)).to_table()


def run(
    experiment: str | None = None,
    vary: Mapping[str, str | Sequence[str]] | None = None,
    *,
    out: Path | str,
    sample: str = "grid",
    seed: int = 1,
    repeat: int | None = None,
    fresh: bool = False,
    cold: bool = False,
    criterion: str = "",
    refine: str = "",
    resume: bool = False,
    merge: Sequence[Path | str] = (),
    labs: int | None = None,
    yes: bool = False,
    where: Where | None = None,
    cluster: str | None = None,
    scheduler_file: Path | str | None = None,
    lab: Path | str | None = None,
    follow: Follow = lambda event, facts: None,
) -> Sweep:
    """Measure an experiment under many conditions, by many labs, and write a report.

    experiment: its name (``slownet list``) or file; the folder's own if a sweep is resumed.
    vary: the values of each factor: ``{"rtt": "0:200:10ms", "loss": ["0%", "1%"]}``; the experiment's own for others.
    out: the folder of the sweep, new unless it is resumed.
    sample: ``"grid"`` for all combinations, or a sample of them: ``"random:100"``, ``"lhs:100"``, ``"sobol:128"``.
    seed: of the sample.
    repeat: repetitions of each cell, each with other seeds. Unless given, one; with a criterion, as many as a verdict needs on
        programs that slownet does not know: see `slownet.judge.records.exactness`.
    fresh: whether each cell gets a lab of its own, instead of sharing one with up to 15 others.
    cold: whether each lab prepares its services itself (`experiment`'s ``prepare``), instead of beginning with a snapshot.
    criterion: what each cell is to meet: ``"time_per_request_ms<300"``, ``"p99 latency_ms<300ms"``.
    refine: a factor and a step, ``"rtt:1ms"``: measure more of its values, down to that step, where the criterion's verdict
        flips; without a criterion, where the first metric bends.
    resume: whether the folder may hold a sweep already; only its failed boots are measured again.
    merge: folders of other sweeps of the experiment, whose samples are taken over.
    labs: how many labs run at the same time; unless given one per processor, as far as memory allows.
    yes: whether more than 100,000 samples may be measured.
    where: the place and its clock.
    cluster: the address of a Dask scheduler, whose workers measure; ``"local"`` starts one here, for its dashboard.
    scheduler_file: the file of a Dask scheduler, instead of its address.
    lab: where a cluster's workers get a lab that their machine lacks, once a machine: a file of ``slownet lab export`` at the
        same path everywhere, or ``http://host/lab.tar#sha256=...``.
    follow: gets the progress: see `slownet.sweep.sweeping.Follow`.
    Raises SlownetError: something is described wrongly, or cannot be used. What was measured until then is in the folder.
    """
    asked = Spec(
        experiment or "", dict(vary or {}), sample, seed, repeat or 0, fresh, cold, where or Where(), criterion, refine
    )
    directory = Path(out)
    exists = (directory / HEADER).exists()
    if exists and "hunt" in sweep_samples.read_header(directory):
        raise SweepError(f"{directory} contains a hunt", Option("out"), "name another folder")
    spec = _resumed(directory, asked) if exists and resume else asked
    if exists and not resume:
        raise SweepError(
            f"{directory} contains a sweep", Option("out"), f"add {RESUME} to go on with it, or name another folder"
        )
    spec = replace(spec, where=spec.where.with_values())
    if not spec.experiment:
        if resume:
            raise SweepError(
                f"{directory} contains no sweep", Option("resume"), f"name a folder with a {HEADER}, or an experiment"
            )
        raise SweepError("no experiment is named", "slownet sweep", "name one of slownet list, or resume a sweep")
    if repeat is not None and repeat < 1:
        raise SweepError(f"{repeat} repetitions", Option("repeat"), "write a whole number from 1")
    named = find(spec.experiment)
    on_file = Path(scheduler_file) if scheduler_file else None
    if cluster or on_file:
        from slownet.sweep.cluster import check

        check(cluster or "", on_file)
    compose_project.check(named.topology)
    values, design = factors.of_mapping(spec.vary), Design.read(spec.sample, spec.seed)
    check_values(named, values)
    test = Criterion.read(spec.criterion) if spec.criterion else None
    refinement = Refinement.read(spec.refine, factors_of(named, values)) if spec.refine else None
    _need_folders(directory, merge)
    place = task.place_of(spec.where, spec.experiment)  # after all that a mistake may be in: the lab may not be built
    check_labs(labs, place)
    spec = replace(spec, repeat=spec.repeat or _repetitions(named, place, bool(spec.criterion)))
    team = _team(cluster, on_file, labs, place, follow)
    fetched = _source(lab) if lab else None
    if not yes:
        check_size(named, values, design, spec.repeat, team.width)
    cells = cells_of(named, values, design)
    with _nothing_empty(directory), Store(directory) as store:
        session = Session(
            spec,
            store,
            place,
            team,
            follow,
            remote=not isinstance(team, Pool),
            lab=fetched,
            check=test.check if test else lambda sample: None,
            refine=partial(_more, refinement, test) if refinement else None,
        )
        store.clear_failed()
        for each in merge:
            store.merge(Path(each))
        before = len(store.done)
        session.measure(cells)
        found = session.run
        aside, verdicts = sweep_samples.read_aside(directory), test.judge(found) if test else {}
        done = Sweep(found, aside, len(store.done) - before, test, verdicts)
        if test and refinement:
            done = replace(done, flips=refining.flips(refinement, session.cells, _words(done.verdicts)))
        store.describe(_recorded(done))
    _write_report(done)
    return done


def _repetitions(named: Experiment, place: Place, is_judged: bool) -> int:
    """Return how often to measure a cell if the caller does not specify it."""
    terms = Terms.of(planning.described(named, place))
    return verdict_from((), terms) if is_judged and terms.own_programs else 1


@contextlib.contextmanager
def _nothing_empty(directory: Path) -> Iterator[None]:
    """Remove a folder that a failed sweep has made and left without a sample."""
    was_there = directory.exists()
    try:
        yield
    except SlownetError:
        if not was_there and not ((directory / HEADER).exists() and sweep_samples.read_samples(directory)):
            shutil.rmtree(directory, ignore_errors=True)
        raise


def _write_report(done: Sweep) -> None:
    from slownet.report.sweep_page import write_sweep

    text, metric = (done.criterion.text, done.criterion.metric) if done.criterion else ("", "")
    write_sweep(done.run, _words(done.verdicts), text, metric, [str(each) for each in done.flips], done.aside)


def _words(verdicts: Mapping[str, Judgement]) -> dict[str, str]:
    return {title: each.verdict for title, each in verdicts.items()}


def _recorded(done: Sweep) -> dict[str, object]:
    """Return the result as sweep.json records it."""
    return {"verdicts": _words(done.verdicts), "flips": [each.to_json() for each in done.flips]}


def _more(refinement: Refinement, test: Criterion | None, cells: Sequence[Cell], found: RunData) -> list[Cell]:
    """Return the cells that refine a sweep further: see `slownet.sweep.sweeping.Refine`.

    Raises ExperimentError for a metric that was not measured.
    """
    if test:
        added = refining.at_flips(refinement, cells, _words(test.judge(found)))
    else:
        metric = next((name for cell in found.cells for name in cell.metrics), "")
        means = {cell.title: cell.metrics[metric].mean for cell in found.cells if metric in cell.metrics}
        added = refining.at_bends(refinement, cells, means)
    known = {cell_key(cell) for cell in cells}
    return [cell for cell in added if cell_key(cell) not in known]


def _source(lab: object) -> Source:
    from slownet.transfer.lab_download import source

    return source(str(lab))


def _team(cluster: str | None, scheduler_file: Path | None, labs: int | None, place: Place, follow: Follow) -> Workers:
    """Return the workers: those of a cluster, or this machine's."""
    if not (cluster or scheduler_file):
        return Pool(how_many(labs, place))
    from slownet.sweep.cluster import LOCAL, Dask

    def opened(labs: int, dashboard: str) -> None:
        follow("workers", {"labs": labs, "dashboard": dashboard})

    here = how_many(labs, place) if cluster == LOCAL else 1
    return Dask(cluster or "", scheduler_file, here, opened=opened)


def _resumed(directory: Path, asked: Spec) -> Spec:
    """Return what is asked of a folder's sweep now: unless an experiment is named, what was asked before."""
    if asked.experiment:
        return asked
    before = Spec.from_json(sweep_samples.read_header(directory).get("spec") or {})
    again = {each.partition("=")[0]: each for each in asked.where.env}  # their values are in no file
    env = {**{name.partition("=")[0]: name for name in before.where.env}, **again}
    return replace(before, where=replace(before.where, env=tuple(env.values())))
