"""Claims that a metric stays within limits: "p99 at most 300 ms"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace

from slownet.judge.claim import validation
from slownet.judge.claim.base import (
    ALONE,
    UNKNOWN,
    Margin,
    Siblings,
    all_hold,
    decide,
    ends,
    judge_parts,
    reason,
    span,
    verdict,
)
from slownet.judge.claim.description import with_description
from slownet.judge.measured import in_unit_of
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import INCONCLUSIVE, Judgement, Reason
from slownet.judge.records.quantity import quantity
from slownet.judge.records.result import RunData
from slownet.model.errors import TooFewError
from slownet.model.sample import cell_in_words
from slownet.theory.stats import Summary


@dataclass(frozen=True)
class bound:  # noqa: N801
    """Claim that a metric's mean, or a percentile of its values, stays within limits in every cell at some conditions.

    Parameters
    ----------
    metric : str
        Name with unit: ``"time_per_request_ms"``.
    at : mapping of str to str, optional
        Conditions of the cells, ``{"rtt": "10ms"}``; all cells unless given.
    at_least, at_most : float or str, optional
        Limits in the metric's unit, or a duration such as ``"300ms"`` if it is a time. One of them or both.
    percentile : float, optional
        Above 0 and below 100. A 99th percentile needs hundreds of values; with fewer the claim is inconclusive.
    because : str
        Why it should hold; appended to the measured numbers.

    Raises
    ------
    ClaimError
        No limit, contradictory limits, or an invalid number.
    """

    metric: str
    at: Mapping[str, str] | None = None
    _: KW_ONLY
    at_least: float | str | None = None
    at_most: float | str | None = None
    percentile: float | None = None
    because: str = ""

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric)
        validation.ends({"at_least": self.at_least, "at_most": self.at_most}, claim, self.metric)
        if self.percentile is not None:
            validation.percentile(self.percentile, claim)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the metric with the limits in each cell; the judgement has the numbers of the deciding cell."""
        cells = self._cells(run)
        what = self.metric if self.percentile is None else f"p{self.percentile:g} of {self.metric}"
        is_alone = bool(self.at) and len(cells) == 1
        where = cells[0].title if is_alone else cell_in_words(self.at or {})
        name = f"{what} {span(self.at_least, self.at_most)}" + (f" at {where}" if self.at else "")

        def judge(run: RunData) -> Judgement:
            parts = [self._part(run, cell, name, is_alone) for cell in self._cells(run)]
            return all_hold(name, parts, "; ".join(part.text for part in parts) + reason("" if is_alone else self.because))

        return judge_parts(judge, run, len(cells))

    def _cells(self, run: RunData) -> tuple[Cell, ...]:
        """Return the cells at the conditions, or the single cell that has exactly these conditions."""
        exact = run.exactly(self.at) if self.at else None
        return (exact,) if exact else run.where(self.at).cells

    def _part(self, run: RunData, cell: Cell, name: str, is_alone: bool) -> Judgement:
        least, most = (None if each is None else in_unit_of(self.metric, each) for each in (self.at_least, self.at_most))
        few = ""

        def measure() -> Summary:
            nonlocal few
            if self.percentile is None:
                return cell.across_runs(self.metric)
            try:
                return cell.percentile(self.metric, self.percentile, run.confidence)
            except TooFewError as error:
                few = f", {error.what}: {error.fix}"
                return cell.quantile(self.metric, self.percentile)

        def said(found: Summary) -> str:
            if is_alone:
                return f"{quantity(found, self.metric)} measured{few}{reason(self.because)}"
            return f"{quantity(found, self.metric)} at {cell.title}{few}"

        found = decide(run, name, measure, (least, most), cells=(cell,), text=said)
        if few:  # how many are needed is said; a few more boots are not enough
            found = replace(found, text=found.text.partition(UNKNOWN)[0])
            if found.verdict == INCONCLUSIVE:
                return replace(found, reason=Reason.FEW_VALUES)
        return _unless_it_varies(found, cell, self.metric, (least, most))


def _unless_it_varies(found: Judgement, cell: Cell, metric: str, margin: Margin) -> Judgement:
    """Say that more repetitions do not decide a claim if the machine's speed alone, in another run, could turn it over."""
    if found.verdict != INCONCLUSIVE or found.measured is None or not math.isfinite(found.low or 0.0):
        return found
    always = cell.between_runs(metric, found.measured)
    if always.low == always.high or verdict(always, *ends(margin)) != INCONCLUSIVE:
        return found
    varies = f"CPU time differs by about {100 * cell.terms.cpu_variation:g} % between runs"
    return replace(
        found, text=f"{found.text} ({varies}, and more repetitions do not help)", stays_open=varies, reason=Reason.CPU_VARIES
    )
