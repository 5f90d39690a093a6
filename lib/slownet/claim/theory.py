"""Claims that hold cells against theory: round trips between two of them, a formula that all of them follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet import stats
from slownet.claim.base import ALONE, Siblings, decide, described, interval, judged, placed, undecided
from slownet.errors import ExperimentError
from slownet.records.cell import Cell
from slownet.records.judgement import INCONCLUSIVE, REFUTED, SUPPORTED, Judgement
from slownet.records.result import RunData
from slownet.stats import Summary
from slownet.units import spoken


@dataclass(frozen=True)
class round_trips_between:  # noqa: N801
    """What a time in ms gains from one cell to another is so many round trips.

    Either ``expected``, give or take ``within`` of it, or no more than ``most``.
    """

    metric: str
    at: Mapping[str, str]
    against: Mapping[str, str]
    because: str
    expected: float | None = None
    within: float = 0.05
    most: float | None = None
    name: str = ""
    along: str = "rtt_ms"

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Divide the difference of the times by that of the delays."""
        limit, margin, words = self._margin(run)
        what = self.name or f"{spoken(self.metric)} from {described(self.against)} to {described(self.at)}"
        name = f"{what}: {words}"
        far, near = run.at(self.at), run.at(self.against)

        def gained() -> Summary:
            gap = float(far.condition[self.along]) - float(near.condition[self.along])
            if not gap:
                raise ExperimentError(
                    f"{name} compares a delay with itself", f"in experiment {run.experiment}", "name two delays"
                )
            return stats.difference(far.summary(self.metric), near.summary(self.metric)).scaled(1 / gap)

        def said(found: Summary) -> str:
            times = f"{near.summary(self.metric).mean:.4g} ms become {far.summary(self.metric).mean:.4g}"
            return f"{times}, {interval(found)} round trips: {self.because}"

        return decide(run, name, gained, margin, limit, (far, near), said)

    def _margin(self, run: RunData) -> tuple[float, tuple[float | None, float], str]:
        if self.expected is not None and self.most is None:
            ends = (self.expected * (1 - self.within), self.expected * (1 + self.within))
            return self.expected, ends, f"{self.expected:.4g} round trips, within {100 * self.within:g} %"
        if self.most is not None and self.expected is None:
            return self.most, (None, self.most), f"at most {self.most:.4g}"
        raise ExperimentError("round trips to compare with", f"in experiment {run.experiment}", "give expected or most")


@dataclass(frozen=True)
class follows:  # noqa: N801
    """Every cell that ``theory`` speaks of has its value times ``least`` to ``most``.

    ``theory`` is a function of a cell's condition in numbers (``{"rtt_ms": 100.0}``) that gives the expected value, or
    None where it has nothing to say. The cell that is furthest off decides.
    """

    metric: str
    theory: Callable[[Mapping[str, Any]], float | None]
    least: float
    most: float
    because: str
    name: str

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratios of measured and expected with the margin."""
        expected = [(cell, value) for cell in run.cells if (value := self.theory(cell.condition)) is not None]
        name = f"{self.name}: {self.least:g} to {self.most:g} times the theory"
        cells = [cell for cell, _ in expected]
        if failed := [cell for cell in cells if cell.status == "failed"]:
            return placed(undecided(name, 1.0, failed), run, cells)
        if not expected:
            raise ExperimentError(
                f"no cell for '{self.name}'", f"in experiment {run.experiment}", "measure one that it speaks of"
            )
        return placed(self._furthest(name, expected), run, cells)

    def _furthest(self, name: str, expected: Sequence[tuple[Cell, float]]) -> Judgement:
        found = [(cell, value, cell.summary(self.metric).scaled(1 / value)) for cell, value in expected]
        words = "; ".join(f"{each.mean * value:.4g} ({value:.4g}) at {cell.title}" for cell, value, each in found)
        text = f"measured (theory): {words}: {self.because}"
        parts = [judged(name, each, 1.0, (self.least, self.most), text) for _, _, each in found]
        severity = (SUPPORTED, INCONCLUSIVE, REFUTED)
        return max(parts, key=lambda each: (severity.index(each.verdict), abs(math.log(max(each.measured or 0.0, 1e-12)))))
