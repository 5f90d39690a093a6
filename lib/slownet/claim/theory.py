"""Claims that hold cells against theory: round trips between two of them, a formula that all of them follow."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from slownet import stats
from slownet.claim import checked, theories
from slownet.claim.base import ALONE, Siblings, around, decide, described, interval, judged, placed, surely, undecided
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

    def __post_init__(self) -> None:
        claim = checked.named(self, self.metric, self.name)
        checked.within(self.within, claim)
        if (self.expected is None) == (self.most is None):
            how = "neither expected nor most" if self.expected is None else "both expected and most"
            raise checked.ClaimError(f"round trips with {how}", f"in {claim}", "give one of the two", "expected")
        if self.expected is not None:
            checked.number("expected", self.expected, claim, above=0)
        else:
            checked.number("most", self.most, claim)

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Divide the difference of the times by that of the delays."""
        limit, margin, words = self._margin()
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

    def _margin(self) -> tuple[float, tuple[float | None, float], str]:
        if self.expected is not None:
            margin = around(self.expected, self.within)
            return self.expected, margin, f"{self.expected:.4g} round trips, within {100 * self.within:g} %"
        assert self.most is not None
        return self.most, (None, self.most), f"at most {self.most:.4g}"


@dataclass(frozen=True)
class follows:  # noqa: N801
    """Every cell that ``theory`` speaks of has its value times ``least`` to ``most``.

    ``theory`` is a function of a cell's condition in numbers (``{"rtt_ms": 100.0}``), and if it takes two arguments of the
    cell too, that gives the expected value, or None where it has nothing to say. Of measured numbers
    (``cell.summary("loss")``) it makes a `Summary`, whose error counts too. The cell that is furthest off decides.
    """

    metric: str
    theory: Callable[..., theories.Value | None]
    least: float
    most: float
    because: str
    name: str

    def __post_init__(self) -> None:
        checked.ends({"least": self.least, "most": self.most}, f"'{self.name}'", positive=True)

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratios of measured and expected with the margin."""
        name = f"{self.name}: {self.least:g} to {self.most:g} times the theory"
        failed, spoken_of = self._spoken_of(run)
        if failed:
            return placed(undecided(name, 1.0, failed), run, (*failed, *spoken_of))
        if not spoken_of:
            raise ExperimentError(
                f"no cell for '{self.name}'", f"in experiment {run.experiment}", "measure one that it speaks of"
            )

        def judge(run: RunData) -> Judgement:
            pairs = [(cell, self._expected(cell, run, name)) for cell in self._spoken_of(run)[1]]
            return placed(self._furthest(name, pairs), run, spoken_of)

        return surely(judge, run, len(spoken_of))

    def _says(self, cell: Cell) -> theories.Value | None:
        two = len(inspect.signature(self.theory).parameters) > 1
        return self.theory(cell.condition, cell) if two else self.theory(cell.condition)

    def _spoken_of(self, run: RunData) -> tuple[list[Cell], list[Cell]]:
        """The cells that theory speaks of: those that failed, and the others. Of a failed one it may not have the numbers."""
        failed: list[Cell] = []
        good: list[Cell] = []
        for cell in run.cells:
            try:
                speaks = self._says(cell) is not None
            except ExperimentError:
                if cell.status == "ok":
                    raise
                speaks = True
            if speaks:
                (good if cell.status == "ok" else failed).append(cell)
        return failed, good

    def _expected(self, cell: Cell, run: RunData, name: str) -> theories.Expectation:
        def says(only: RunData) -> theories.Value:
            found = self._says(only.cells[0])
            assert found is not None
            return found

        return theories.expectation(says, replace(run, cells=(cell,)), name)

    def _furthest(self, name: str, expected: Sequence[tuple[Cell, theories.Expectation]]) -> Judgement:
        found = [(cell, says, stats.ratio(cell.summary(self.metric), says.summary)) for cell, says in expected]
        words = "; ".join(f"{cell.summary(self.metric).mean:.4g} ({says.mean:.4g}) at {cell.title}" for cell, says, _ in found)
        text = f"measured (theory): {words}: {self.because}"
        parts = [says.judged(judged(name, each, 1.0, (self.least, self.most), text)) for _, says, each in found]
        severity = (SUPPORTED, INCONCLUSIVE, REFUTED)
        return max(parts, key=lambda each: (severity.index(each.verdict), abs(math.log(max(each.measured or 0.0, 1e-12)))))
