"""The order of cells within a boot: forwards, then backwards, and so on, one block of each cell per pass. Pure.

A block is one call of an experiment's measuring function in one cell. With an even number of passes a linear drift in time adds
the same to every cell, so it does not become a slope over the conditions. With an odd number the same holds over two boots,
because every second boot starts backwards; this also varies which cell comes first after a boot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slownet.hypotheses.experiment import Cell, Experiment
from slownet.lab.run.clock import Clock
from slownet.model.facts import BootFacts, Facts

CHARGED, FREE = 2, 1
"""Default number of blocks of a cell per boot: two if something varies within a boot."""
EXACT = 1
"""Likewise on the exact clock, whatever an experiment says: nothing disturbs a boot there, and every page costs CPU."""


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
