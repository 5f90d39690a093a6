"""What the command tells the part of a run that is where the network is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from slownet.experiment import Cell


@dataclass(frozen=True)
class Job:
    """What one boot measures.

    steps: (place in the plan, block, cell) in the order in which they are measured; boot: its number, from 1; blocks: of
    each cell in a boot; lab: which of those side by side, which share the run directory; capture: the interfaces whose
    packets are kept, a file each a sample.
    """

    steps: Sequence[tuple[int, int, Cell]]
    boot: int = 1
    blocks: int = 1
    lab: int = 1
    capture: Sequence[str] = ()

    @classmethod
    def read(cls, asked: Mapping[str, Any]) -> Job:
        """From what `main` is told."""
        steps = [(int(index), int(block), dict(cell)) for index, block, cell in asked["steps"]]
        return cls(steps, asked["boot"], asked["blocks"], asked["lab"], asked.get("capture") or [])

    def to_json(self) -> dict[str, Any]:
        """The reverse of ``read``."""
        return asdict(self)

    def turn(self, block: int) -> int:
        """How many blocks of a cell come before one of this boot's, in all boots: what `slownet.net.seeds` counts by."""
        return (self.boot - 1) * self.blocks + block - 1
