"""The factors of a sweep, their values, and which combinations are measured: ``rtt=0:200:10ms``, ``condition=LTE,GEO``."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.hypotheses import value_texts
from slownet.hypotheses.experiment import VARY, Cell
from slownet.judge.records.samples import cell_key
from slownet.model.errors import SweepError
from slownet.model.options import Option

# A sample takes points from the unit cube and, for each, the value that covers it: the values of a factor share its side
# equally. Latin hypercube: each of n equal parts of every side holds one point (McKay, Beckman and Conover, Technometrics
# 1979). Sobol: scrambled (Owen 1998); the number of points is a power of two, for which its balance is proven.

GRID, RANDOM, LATIN, SOBOL = "grid", "random", "lhs", "sobol"
OPTION = Option("sample")


@dataclass(frozen=True)
class Design:
    """The choice of cells: ``kind`` is one of the four above; ``points`` and ``seed`` are those of a sample."""

    kind: str = GRID
    points: int = 0
    seed: int = 1

    @classmethod
    def read(cls, text: str, seed: int = 1) -> Design:
        """Read ``grid``, ``random:100``, ``lhs:100`` or ``sobol:128``. Raises SweepError."""
        found = re.fullmatch(r"(random|lhs|sobol):(\d{1,9})", text, re.ASCII)
        if text != GRID and not (found and int(found[2]) > 0):
            raise SweepError(f"unclear sample '{text}'", OPTION, "write grid, random:100, lhs:100 or sobol:128")
        design = cls(found[1], int(found[2]), seed) if found else cls()
        if design.kind == SOBOL and design.points & (design.points - 1):
            near = 2 ** round(math.log2(design.points))
            raise SweepError(f"{design.points} points", OPTION, f"Sobol points are a power of two: sobol:{near}")
        return design

    def size(self, factors: Factors) -> int:
        """Return how many cells these are at most."""
        grid = math.prod(map(len, factors.values()))
        return grid if self.kind == GRID else min(self.points, grid)

    def cells(self, factors: Factors) -> Iterator[Cell]:
        """Yield the cells, each once; a coarse grid may have fewer than ``points``."""
        if self.kind == GRID:
            for texts in itertools.product(*factors.values()):
                yield dict(zip(factors, texts, strict=True))
            return
        seen = set()
        for point in self._points(len(factors)):
            cell = {
                name: texts[min(int(at * len(texts)), len(texts) - 1)]
                for (name, texts), at in zip(factors.items(), point, strict=True)
            }
            if cell_key(cell) not in seen:
                seen.add(cell_key(cell))
                yield cell

    def _points(self, dimensions: int) -> list[list[float]]:
        """Return points of the unit cube, the same for the same seed."""
        import numpy as np
        from scipy.stats import qmc

        if self.kind == RANDOM:
            drawn: Any = np.random.default_rng(self.seed).random((self.points, dimensions))
        else:
            kind = qmc.LatinHypercube if self.kind == LATIN else qmc.Sobol
            drawn = kind(dimensions, seed=self.seed).random(self.points)
        found: list[list[float]] = drawn.tolist()
        return found


Factors = dict[str, tuple[str, ...]]


def parse(texts: Sequence[str]) -> Factors:
    """Return the values of each factor of ``--vary NAME=VALUES``. Raises SlownetError."""
    found: Factors = {}
    for text in texts:
        name, equals, values = (each.strip() for each in text.partition("="))
        if not equals or not name or not values:
            raise SweepError(f"invalid factor '{text}'", VARY, "write NAME=VALUES such as rtt=0:200:10ms")
        if name in found:
            raise SweepError(f"the factor '{name}' is given twice", VARY, "give all its values at once")
        found[name] = value_texts.values_of(name, values, f"{VARY} {name}")
    return found


def of_mapping(vary: Mapping[str, str | Sequence[str]]) -> Factors:
    """Return the values of factors that are given as texts like on the command line, or as lists of values.

    Raises ExperimentError.
    """
    return {
        name: value_texts.once(
            value_texts.values_of(name, each, f"{VARY} {name}") for each in ([values] if isinstance(values, str) else values)
        )
        for name, values in vary.items()
    }
