"""Claims about a limit that a metric keeps: "p99 below 300 ms"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slownet.claim import checked
from slownet.claim.base import ALONE, Siblings, all_hold, decide, described, interval, surely
from slownet.errors import TooFewError
from slownet.measured import in_unit_of
from slownet.records.cell import Cell
from slownet.records.judgement import Judgement
from slownet.records.result import RunData
from slownet.stats import Summary


@dataclass(frozen=True)
class bound:  # noqa: N801
    """A metric stays ``below`` or ``above`` a limit, or between both, in every cell that ``at`` names (all without it).

    It is the mean that stays there, or the ``percentile`` (99, say) of the single values, of which a 99th takes hundreds.
    A limit is a number in the metric's unit, or for a metric in ms a duration: ``below="300ms"``.
    """

    metric: str
    below: float | str | None = None
    above: float | str | None = None
    percentile: float | None = None
    at: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        claim = checked.named(self, self.metric)
        checked.ends({"above": self.above, "below": self.below}, claim, self.metric)
        if self.percentile is not None:
            checked.percentile(self.percentile, claim)

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the metric with the limit in each cell; the one that decides is reported."""
        least, most = (None if each is None else in_unit_of(self.metric, each) for each in (self.above, self.below))
        margin = (least, most)
        limits = (f"{word} {limit}" for word, limit in (("above", self.above), ("below", self.below)) if limit is not None)
        what = self.metric if self.percentile is None else f"p{self.percentile:g} of {self.metric}"
        name = f"{what} {' and '.join(limits)}" + (f" at {described(self.at)}" if self.at else "")

        def judge(run: RunData) -> Judgement:
            parts = [self._part(run, cell, name, margin) for cell in run.where(self.at).cells]
            return all_hold(name, parts, "; ".join(part.text for part in parts))

        return surely(judge, run, len(run.where(self.at).cells))

    def _part(self, run: RunData, cell: Cell, name: str, margin: tuple[float | None, float | None]) -> Judgement:
        few = ""

        def measure() -> Summary:
            nonlocal few
            if self.percentile is None:
                return cell.summary(self.metric)
            try:
                return cell.percentile(self.metric, self.percentile, run.confidence)
            except TooFewError as error:
                few = f", {error.what}: {error.fix}"
                return cell.quantile(self.metric, self.percentile)

        expected = margin[1] if margin[0] is None else margin[0] if margin[1] is None else None
        return decide(run, name, measure, margin, expected, (cell,), lambda found: f"{interval(found)} at {cell.title}{few}")
