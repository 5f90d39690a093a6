"""The job of one boot, passed from the command to the process in the place, and the order of cells within a boot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from slownet.hypotheses.experiment import Cell, Experiment
from slownet.judge.records.samples import RAW, of_lab
from slownet.lab.run.clock import Clock
from slownet.model.facts import BootFacts, Facts
from slownet.model.shapes import Json
from slownet.runner.warming import NONE, WarmUp

# A block is one call of an experiment's measuring function in one cell. With an even number of passes a linear drift in time
# adds the same to every cell, so it does not become a slope over the conditions. With an odd number the same holds over two
# boots, because every second boot starts backwards; this also varies which cell comes first after a boot.

CHARGED, FREE = 2, 1
"""Default number of blocks of a cell per boot: two if something varies within a boot."""
EXACT = 1
"""Likewise on the exact clock, whatever an experiment asks for: nothing disturbs a boot there, and every page costs CPU."""


@dataclass(frozen=True)
class Boot:
    """One repetition: ``places`` consecutive places of a plan, starting at ``first``, measured in ``blocks`` passes."""

    number: int
    first: int
    places: int
    blocks: int

    def block(self, index: int) -> int:
        """Return the pass that a place of the plan belongs to, from 1."""
        return 1 + (index - self.first) // (self.places // self.blocks)

    def steps(self, plan: Sequence[Cell], indices: Iterable[int]) -> list[tuple[int, int, Cell]]:
        """Return these places of a plan as a job's steps: place, block and cell."""
        return [(index, self.block(index), plan[index]) for index in indices]

    def __contains__(self, index: int) -> bool:
        return self.first <= index < self.first + self.places

    def to_json(self) -> BootFacts:
        """Return the boot as in run.json, which adds the lab and the processor that measured it."""
        return {"boot": self.number, "first": self.first, "places": self.places, "blocks": self.blocks}


def blocks_of(experiment: Experiment, clock: Clock) -> int:
    """Return how many blocks of each cell a boot measures on this clock."""
    if clock.is_exact:
        return EXACT
    if experiment.blocks is not None:
        return experiment.blocks
    return FREE if clock.cpu_is_free else CHARGED


def passes(cells: Sequence[Cell], blocks: int, boot: int) -> list[Cell]:
    """Return the cells of a boot (numbered from 1) in measuring order, each ``blocks`` times."""
    forwards, backwards = list(cells), list(reversed(cells))
    return [cell for number in range(boot - 1, boot - 1 + blocks) for cell in (backwards if number % 2 else forwards)]


def read(facts: Facts) -> list[Boot]:
    """Return the boots of a run's record."""
    return [Boot(each["boot"], each["first"], each["places"], each["blocks"]) for each in facts["boots"]]


SERVICES, CAPTURES = "services", "captures"


@dataclass(frozen=True)
class Job:
    """The measurements of one boot.

    steps: (place in the plan, block, cell) in measuring order; boot: its number, from 1; blocks: per cell in a boot; lab:
    number of the lab among the parallel ones that share the run directory; capture: interfaces whose packets are saved, in one
    file per interface and sample; aligned: with a free CPU, measure each cell from the same phase of the kernel's timers on, so
    that it hardly matters which cells the boot measured before; queues: whether to watch how full those of links are; snapshot:
    the folder of one in the place, with which the boot begins; saves: whether the boot makes that snapshot instead; warm_up:
    what is done before the first cell.
    """

    steps: Sequence[tuple[int, int, Cell]]
    boot: int = 1
    blocks: int = 1
    lab: int = 1
    capture: Sequence[str] = ()
    aligned: bool = False
    queues: bool = True
    snapshot: str = ""
    saves: bool = False
    warm_up: WarmUp = NONE

    @classmethod
    def read(cls, asked: Mapping[str, Json]) -> Job:
        """Return the job of the JSON that `slownet.runner.inside.main` gets."""
        steps = [(int(index), int(block), dict(cell)) for index, block, cell in asked["steps"]]
        return cls(
            steps, asked["boot"], asked["blocks"], asked["lab"], asked.get("capture") or [], bool(asked.get("aligned")),
            bool(asked.get("queues", True)),
            asked.get("snapshot") or "", bool(asked.get("saves")), WarmUp(**(asked.get("warm_up") or {})),
        )  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """Return the job as JSON for ``read``."""
        return asdict(self)

    def common(self) -> Job:
        """Return what of it is the same for all boots: what is done before the first step depends on nothing else."""
        return Job([], lab=self.lab, capture=self.capture, snapshot=self.snapshot, saves=self.saves)

    def folders(self) -> list[str]:
        """Return the names of the run directory's folders that the boot writes to; it can only read the others.

        Labs side by side share none: who opens a FIFO that another lab has planted waits for ever.
        """
        return [of_lab(name, self.lab) for name in (RAW, CAPTURES, SERVICES)]

    def turn(self, block: int) -> int:
        """Return how many blocks of a cell precede this one over all boots; `slownet.net.seeds` derives seeds from it."""
        return (self.boot - 1) * self.blocks + block - 1
