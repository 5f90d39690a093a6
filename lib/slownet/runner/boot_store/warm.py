"""Snapshots of prepared services, with which boots of a sweep begin: made once a machine, whole or not at all."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from slownet.hypotheses.experiment import Experiment
from slownet.lab.build import cache, shelf
from slownet.lab.build.cache_cleanup import SNAPSHOTS, WARM
from slownet.lab.run.clock import Clock
from slownet.lab.run.lab import Share
from slownet.lab.run.outbox import Outbox, complaint
from slownet.lab.run.place import DAY_S, Place
from slownet.model.errors import LabError, SlownetError, SweepError
from slownet.model.options import COLD
from slownet.runner import compose_project
from slownet.runner.boot_store import identity
from slownet.runner.job import Job
from slownet.runner.lab_environment import ExperimentFolder

AT = "/opt/slownet/snapshot"
"""The path in a lab."""
MOST = 4 * 2**30
"""Bytes of all snapshots in the cache: beyond, those that were used longest ago go."""
EARLY_S = DAY_S // 2
"""The preparing boot's date precedes other boots' by this time, so that no file is dated in the future."""
CHARGED = 1.0
"""The TDF of the preparing boot, also where CPU is free: a program that computes for long would stop such a clock."""

Boot = Callable[[ExperimentFolder, Place, Job], None]


def is_wanted(experiment: Experiment, place: Place, cold: bool) -> bool:
    """Return whether boots of an experiment begin with a snapshot."""
    return bool(experiment.prepare) and place.kind == "lab" and not cold


@contextlib.contextmanager
def snapshot(of: ExperimentFolder, place: Place, boot: Boot) -> Iterator[Path]:
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


def _make(of: ExperimentFolder, place: Place, half: Path, boot: Boot) -> None:
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
