"""Claims that a metric stays within limits: "p99 at most 300 ms"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace

from slownet.judge.claim import description, validation
from slownet.judge.claim.base import (
    ALONE,
    NO_INTERVAL,
    Judged,
    Margin,
    Siblings,
    all_hold,
    decide,
    ends,
    in_turn,
    judge_parts,
    reasons,
    verdict,
)
from slownet.judge.claim.description import with_description
from slownet.judge.measured import in_unit_of
from slownet.judge.records import intervals
from slownet.judge.records.cell import Cell
from slownet.judge.records.intervals import Scope
from slownet.judge.records.judgement import INCONCLUSIVE, Judgement, Reason
from slownet.judge.records.naming import metric_name
from slownet.judge.records.quantity import quantity
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.errors import TooFewError
from slownet.model.sample import cell_in_words
from slownet.model.units import rounded, unit_of
from slownet.theory.stats import DECIDING, Summary


@dataclass(frozen=True)
class bound(Judged):  # noqa: N801
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
        is_alone = bool(self.at) and len(cells) == 1
        name = self._name(cells[0].title if is_alone else cell_in_words(self.at or {}))

        def judge(run: RunData) -> Judgement:
            parts = [self._part(run, cell, name, is_alone) for cell in self._cells(run)]
            return all_hold(name, parts, (in_turn(parts), *reasons("" if is_alone else self.because)))

        return judge_parts(judge, run, len(cells))

    def _name(self, where: str) -> str:
        what = self.metric if self.percentile is None else f"p{self.percentile:g} of {self.metric}"
        return f"{what} {description.limits(self.at_least, self.at_most)}" + (f" at {where}" if where else "")

    def _cells(self, run: RunData) -> tuple[Cell, ...]:
        """Return the cells at the conditions, or the single cell that has exactly these conditions."""
        exact = run.exactly(self.at) if self.at else None
        return (exact,) if exact else run.where(self.at).cells

    def _part(self, run: RunData, cell: Cell, name: str, is_alone: bool) -> Judgement:
        least, most = (None if each is None else in_unit_of(self.metric, each) for each in (self.at_least, self.at_most))
        few: tuple[Statement, ...] = ()

        def measure() -> Summary:
            nonlocal few
            if self.percentile is None:
                return cell.summary(self.metric, Scope.BETWEEN_RUNS)
            try:
                return cell.percentile(self.metric, self.percentile, run.confidence)
            except TooFewError as error:
                few = (FEW_VALUES(what=error.what, fix=error.fix),)
                return cell.quantile(self.metric, self.percentile)

        def said(found: Summary) -> tuple[Statement, ...]:
            at = None if is_alone else cell.title
            start = METRIC_MEASURED(metric=self.metric, number=found, at=at)
            return (start, *few, *reasons(self.because if is_alone else ""))

        found = decide(run, name, measure, (least, most), cells=(cell,), text=said)
        if few:  # how many are needed is said; a few more boots are not enough
            found = found.saying(*(each for each in found.findings if each.code != NO_INTERVAL.code))
            if found.verdict == INCONCLUSIVE:
                return replace(found, reason=Reason.FEW_VALUES)
        return _unless_it_varies(found, cell, self.metric, (least, most))

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        what, fields = metric_name(claim.metric, run), claim.parameters
        if "percentile" in fields:
            share = rounded(fields["percentile"], 4)
            what = f"for {share} % of the values, {what}"
        at = fields.get("at")
        place_ = f" {description.apart(at, run)}" if at else " in every cell"
        plural = re.match(r"the (?!number of).*[^s]s$", what) and unit_of(claim.metric) in ("", "per second")
        verb = "are" if plural else "is"
        found = description.span(fields.get("at_least"), fields.get("at_most"), unit_of(claim.metric))
        return f"{what} {verb} {found}{place_}"


def _unless_it_varies(found: Judgement, cell: Cell, metric: str, margin: Margin) -> Judgement:
    """Note that more repetitions cannot decide a claim if the machine's speed alone, in another run, could turn it over."""
    if found.verdict != INCONCLUSIVE or found.measured is None or not math.isfinite(found.low or 0.0):
        return found
    # The interval that remains between runs however many boots each has.
    alone = Summary(found.measured, found.measured, found.measured, 1, None, DECIDING)
    always = intervals.across_runs(cell.samples, metric, cell.terms, alone)
    if always.low == always.high or verdict(always, *ends(margin)) != INCONCLUSIVE:
        return found
    varies = CPU_VARIES(part=cell.terms.cpu_variation)
    return found.adding(CPU_VARIES_TOO_MUCH(why=varies), stays_open=varies, reason=Reason.CPU_VARIES)


def _metric_measured(metric: str, number: Summary, at: str | None) -> str:
    return f"{quantity(number, metric)} measured" if at is None else f"{quantity(number, metric)} at {at}"


METRIC_MEASURED = Phrase("metric measured", _metric_measured)
FEW_VALUES = Phrase("few values", lambda what, fix: f", {what}: {fix}")
CPU_VARIES = Phrase("cpu varies", lambda part: f"CPU time differs by about {100 * part:g} % between runs")
CPU_VARIES_TOO_MUCH = Phrase("cpu varies too much", lambda why: f" ({why}, and more repetitions do not help)")
