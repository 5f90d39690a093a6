"""The unit of a worker's work: a boot that measures some cells, from its description to its samples."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.hypotheses.catalogue import find
from slownet.hypotheses.experiment import Cell
from slownet.hypotheses.uses import is_project
from slownet.judge.records.rows import SweepSample
from slownet.judge.records.run_json import merge_facts
from slownet.judge.records.samples import RAW, RawOutput, cell_key
from slownet.lab.run.events import Event
from slownet.lab.run.place import Place, choose, with_given
from slownet.model.errors import LabError, SlownetError, SweepError
from slownet.model.facts import Facts
from slownet.model.options import LAB, RESUME, Option
from slownet.model.sample import Sample
from slownet.model.units import show_duration
from slownet.model.version import __version__
from slownet.runner import booting, clock_choice, compose_project
from slownet.runner.boot_store import identity
from slownet.runner.job import Boot, Job, passes
from slownet.runner.lab_environment import ExperimentFolder
from slownet.runner.warming import WarmUp
from slownet.runner.where import Where

if TYPE_CHECKING:
    from slownet.transfer.lab_download import Source
import json
from collections.abc import Callable

from slownet.hypotheses.experiment import Experiment
from slownet.lab.build import cache, shelf
from slownet.lab.build.cache_cleanup import SNAPSHOTS, WARM
from slownet.lab.run.clock import Clock
from slownet.lab.run.lab import Share
from slownet.lab.run.outbox import Outbox, complaint
from slownet.lab.run.place import DAY_S
from slownet.model.options import COLD

# Snapshots of prepared services, with which boots of a sweep begin: made once a machine, whole or not at all.

AT = "/opt/slownet/snapshot"
"""The path in a lab."""
MOST = 4 * 2**30
"""Bytes of all snapshots in the cache: beyond, those that were used longest ago go."""
EARLY_S = DAY_S // 2
"""The preparing boot's date precedes other boots' by this time, so that no file is dated in the future."""
CHARGED = 1.0
"""The TDF of the preparing boot, also where CPU is free: a program that computes for long would stop such a clock."""

Booted = Callable[[ExperimentFolder, Place, Job], None]


def is_wanted(experiment: Experiment, place: Place, cold: bool) -> bool:
    """Return whether boots of an experiment begin with a snapshot."""
    return bool(experiment.prepare) and place.kind == "lab" and not cold


@contextlib.contextmanager
def snapshot(of: ExperimentFolder, place: Place, boot: Booted) -> Iterator[Path]:
    """Return the folder of the snapshot, which stays during the block; make it if necessary.

    boot: see `slownet.runner.booting.boot`. Raises LabError, and SweepError if the preparation itself fails.
    """
    common = identity.circumstances(of.source, place)
    name = cache.key(json.dumps(common, sort_keys=True, default=str))
    base = cache.writable_root()
    SNAPSHOTS.say_if_damaged(base / WARM / name)
    with shelf.used(lambda: SNAPSHOTS.place(name, lambda half: _make(of, place, half, boot), base)[0], MOST) as folder:
        yield folder


def with_snapshot(place: Place, folder: Path, writable: bool = False) -> Place:
    """Return the place whose labs see the snapshot."""
    return replace(place, shares=[*place.shares, Share(folder, writable=writable, at=AT)])


def _make(of: ExperimentFolder, place: Place, half: Path, boot: Booted) -> None:
    with tempfile.TemporaryDirectory(prefix="prepare-") as name:
        own = replace(of, directory=Path(name))
        compose_project.hand_over(of.experiment.topology, own.directory)
        clock = Clock("virtual", CHARGED) if place.clock.kind == "virtual" else place.clock
        quiet = replace(with_snapshot(place, half, writable=True), clock=clock, early_s=EARLY_S)
        try:
            boot(own, quiet, Job([], snapshot=AT, saves=True))
        except LabError:
            raise
        except SlownetError as error:  # of a service or of the experiment's own code, which another lab would not change
            what = f"{of.experiment.name} cannot be prepared: {error.what}"
            raise SweepError(what, error.where, error.fix or "try it with slownet run") from error
    refused: list[str] = []
    if not list(Outbox(half).files(refused.append)):
        raise LabError("the lab made no snapshot", fix=f"measure with {COLD}")
    if refused:
        raise LabError(f"the lab's snapshot cannot be used: {complaint(refused)}", fix=f"measure with {COLD}")


LIMIT_S = 1800.0
"""Wall time of one boot, after which a lab counts as hung."""

FULL = os.strerror(errno.ENOSPC)
FREE_SPACE = f"free space, then {RESUME}"
"""The fix for a full disk."""
LEAST_FREE = 2**20
"""A disk with fewer free bytes counts as full."""


@dataclass(frozen=True)
class Task:
    """Some cells that share a boot: one repetition of each.

    source: the experiment's name or file; units: their keys; where: the place; expected: what the worker must have as the
    planner has it, {name: value}; empty if it is the same machine; folder: where the worker may write, "" for its own; cold:
    whether each boot prepares its services itself; lab: where a worker without one gets it.
    """

    source: str
    cells: tuple[Cell, ...]
    units: tuple[str, ...]
    repetition: int
    blocks: int
    where: Where
    expected: tuple[tuple[str, str], ...] = ()
    folder: str = ""
    limit_s: float = LIMIT_S
    cold: bool = False
    lab: Source | None = None

    def split(self) -> list[Task]:
        """Return one task per cell."""
        pairs = zip(self.cells, self.units, strict=True)
        return [replace(self, cells=(cell,), units=(unit,)) for cell, unit in pairs]

    def __len__(self) -> int:
        return len(self.cells)


@dataclass(frozen=True)
class Result:
    """The result of a task: its samples with the tools' output, and facts such as the service's settings."""

    samples: tuple[SweepSample, ...]
    facts: Facts
    worker: str


def measure(task: Task) -> Result:
    """Boot a lab, measure the cells and return their samples. Raises SlownetError.

    A SweepError states that this worker cannot take part; any other error, that this boot failed.
    """
    check(task)
    own = _folder(task.folder)
    with (
        _disk_watched(own or tempfile.gettempdir()),
        tempfile.TemporaryDirectory(prefix="boot-", dir=own) as folder,
        _disk_watched(folder),  # before the folder goes, and makes space
    ):
        facts, samples = _boot(task, Path(folder))
        whole = tuple(collected(task, samples, Path(folder)))
    return Result(whole, facts, worker())


@contextlib.contextmanager
def _disk_watched(folder: str) -> Iterator[None]:
    """Raise SweepError in place of an error that a full disk causes: it is not a cell's fault. A lab's disk is another one."""
    try:
        yield
    except SweepError:
        raise
    except (SlownetError, OSError) as error:
        if FULL in str(error) and shutil.disk_usage(folder).free < LEAST_FREE:
            raise SweepError(f"the disk of worker {worker()} is full", f"in {folder}", FREE_SPACE) from error
        raise


def worker() -> str:
    """Return a name of this process among all workers."""
    return f"{platform.node()}:{os.getpid()}"


def _folder(wanted: str) -> str | None:
    return wanted if wanted and os.access(wanted, os.W_OK) else None


def choice_of(where: Where, source: str) -> clock_choice.Choice:
    """Return the clock of an experiment, and why it has that. Raises LabError."""
    place = _chosen(where)  # first, because it sets variables that the experiment's file may read
    return clock_choice.choose(find(source), place, (), is_sweep=True)


def place_of(where: Where, source: str) -> Place:
    """Return the place for an experiment, on its final clock. Raises LabError."""
    place = choice_of(where, source).place
    experiment = find(source)
    if place.clock.is_exact and is_project(experiment.topology):
        raise compose_project.not_on_the_exact_clock()
    return place


@lru_cache
def _chosen(where: Where) -> Place:
    folder = Path(where.folder) if where.folder and Path(where.folder).is_dir() else None
    place = choose(where.place, where.asked, where.memory, folder=folder, exact=True, kernel=where.kernel)
    if place.only_exact and place.parts:
        place.parts.need_kernel()  # all workers of a sweep have the same clock
    return with_given(place, where.env, where.share)


def versions(where: Where, source: str) -> tuple[tuple[str, str], ...]:
    """Return what has to be the same at all workers of a sweep. Raises SlownetError."""
    common = identity.circumstances(source, place_of(where, source))
    names = {"kernel": "the kernel", "image": "the image", "layer": "the project's layer", "code": f"the code of {source}"}
    return (("slownet", __version__), *((said, str(common[name])) for name, said in names.items()))


def check(task: Task) -> None:
    """Raise SweepError if this worker has another version of something than the sweep."""
    if not task.expected:
        return
    if task.lab:
        _fetch(task, task.lab)
    own = dict(_own(task.where, task.source))
    for name, wanted in task.expected:
        if own.get(name) != wanted:
            what = f"worker {worker()} has another version of {name}"
            fix = (
                "install the same version there" if name == "slownet" else "share the folder with it, and run slownet lab build"
            )
            raise SweepError(f"{what}: {own.get(name, 'none')[:16]}, not {wanted[:16]}", Option("cluster"), fix)


@lru_cache
def _own(where: Where, source: str) -> tuple[tuple[str, str], ...]:
    try:
        return versions(where, source)
    except LabError as error:
        what = ", ".join(filter(None, [error.what, error.where]))
        raise SweepError(
            f"worker {worker()}: {what}", Option("cluster"), f"{error.fix} there, or name one with {LAB}"
        ) from error


def _fetch(task: Task, source: Source) -> None:
    """Get the lab that this machine lacks. Raises SweepError."""

    def is_there() -> bool:
        try:
            _own(task.where, task.source)
        except SweepError:
            return False
        return True

    from slownet.transfer.lab_download import take

    try:
        take(source, is_there)
    except LabError as error:
        raise SweepError(f"worker {worker()}: {error.what}", error.where, error.fix) from error


def _boot(task: Task, directory: Path) -> tuple[Facts, list[Sample]]:
    place, experiment = place_of(task.where, task.source), find(task.source)
    compose_project.hand_over(experiment.topology, directory)
    own = ExperimentFolder(experiment, directory, task.source, place.given)
    ordered = passes(task.cells, task.blocks, task.repetition)
    boot = Boot(task.repetition, 0, len(ordered), task.blocks)
    warm_up = WarmUp.of(experiment, task.cells, task.cells)
    steps = boot.steps(ordered, range(len(ordered)))
    job = Job(steps, boot.number, boot.blocks, aligned=True, queues=False, warm_up=warm_up)  # queues: for reports of runs
    if not is_wanted(experiment, place, task.cold):
        return limited(own, place, job, task.limit_s)

    def prepare(own: ExperimentFolder, place: Place, job: Job) -> None:
        limited(own, place, job, task.limit_s)

    with snapshot(own, place, prepare) as folder:
        return limited(own, with_snapshot(place, folder), replace(job, snapshot=AT), task.limit_s)


def limited(own: ExperimentFolder, place: Place, job: Job, limit_s: float) -> tuple[Facts, list[Sample]]:
    """Boot a lab for a job, for a limited wall time; return the facts that it states, and its samples. Raises LabError."""
    facts: Facts = {}
    samples: list[Sample] = []

    def follow(event: Event) -> None:
        nonlocal facts
        if event["event"] == "facts":
            facts = merge_facts(facts, booting.reported(event))
        elif event["event"] == "sample":
            samples.append(event["sample"])

    late = threading.Timer(limit_s, place.signal, [signal.SIGKILL])
    late.daemon = True
    late.start()
    try:
        booting.boot(own, place, job, follow)
    except SlownetError as error:
        if not late.is_alive():
            what = f"finish {len(job.steps)} measurements" if job.steps else "prepare its services"
            hung = f"the lab did not {what} within {show_duration(limit_s)}"
            raise LabError(hung, fix="the boot counts as failed") from error
        if str(own.directory) not in error.where:
            raise
        raise LabError(error.what, fix=error.fix) from error  # the folder is removed
    finally:
        late.cancel()
    return facts, samples


def collected(task: Task, samples: Sequence[Sample], directory: Path) -> list[SweepSample]:
    """Return the samples of a boot with their units and the tools' output. Raises LabError if a cell has none."""
    files = RawOutput(directory)
    unit_of = {cell_key(cell): unit for cell, unit in zip(task.cells, task.units, strict=True)}
    found: list[SweepSample] = []
    for sample in samples:
        output = {name.removeprefix(f"{RAW}/"): files.read(name) for name in sample.get("raw") or ()}
        found.append({**sample, "unit": unit_of[cell_key(sample["cell"])], "output": output})
    if missing := {*task.units} - {each["unit"] for each in found}:
        raise LabError(f"{len(missing)} of {len(task)} cells have no sample", fix="the boot counts as failed")
    return found


def given_up(task: Task, error: BaseException) -> list[Task]:
    """Return what is tried in place of a task that failed each time: each cell by itself; nothing if it has but one.

    Raises what is not a failure of a boot, such as an interrupt.
    """
    if not isinstance(error, Exception):
        raise error
    return task.split() if len(task) > 1 else []


def reason(error: BaseException) -> str:
    """Return why a cell cannot be measured, in a line."""
    return error.line if isinstance(error, SlownetError) else f"{type(error).__name__}: {error}"


def boots_of(cells: Sequence[tuple[Cell, str]], together: int) -> list[list[tuple[Cell, str]]]:
    """Divide cells with their keys over boots of at most ``together`` cells.

    Neighbours get different boots, so that what differs between boots does not look like an effect of a factor.
    """
    count = -(-len(cells) // together)
    return [list(cells[number::count]) for number in range(count)]
