"""The job of one boot, passed from the command to the process in the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from slownet.hypotheses.experiment import Cell
from slownet.judge.records.samples import RAW, of_lab
from slownet.model.shapes import Json
from slownet.runner.warming import NONE, WarmUp

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
