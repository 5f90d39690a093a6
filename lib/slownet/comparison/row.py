"""Compares one metric of two runs: equivalent, different or inconclusive. Pure.

Equivalence is shown by two one-sided tests (TOST) on the logarithms. The margin is a factor: within 5 % is 1.05 times as much
or as little, so that a number and its reciprocal, as the time of a request and requests per second, have the same verdict.
Numbers that are not above 0 are compared by their difference.

Intervals have the confidence of verdicts (99 %). Holm's procedure keeps the probability that two identical runs get any
"differs" at 1 %, no matter how many rows there are. "Equivalent" needs no correction, because a comparison is equivalent only
if every row is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from slownet.judge.claim.validation import PART_OF_ONE, within
from slownet.judge.records.judgement import Verdict
from slownet.model.errors import ExperimentError
from slownet.model.options import Option
from slownet.model.units import percent
from slownet.theory.stats import DECIDING, Summary, difference, equivalent, exceeds, holm, ratio

EQUIVALENT, DIFFERS, INCONCLUSIVE = Verdict.SUPPORTED.compared, Verdict.REFUTED.compared, Verdict.INCONCLUSIVE.compared
SLOWER = Option("fail_if_slower")
SIGNIFICANT = (1 - DECIDING) / 2


@dataclass(frozen=True)
class Row:
    """A metric of one condition in two runs; ``ratio`` and ``difference`` compare the second with the first."""

    condition: str
    metric: str
    first: Summary | None
    second: Summary | None
    ratio: Summary | None
    difference: Summary | None
    p: float | None
    """The p-value of the test of equivalence; None if a deviation is unknown."""
    verdict: str
    note: str = ""
    p_differs: float | None = None
    """The p-value of the test that the difference is beyond the margin."""
    beyond: tuple[Summary, float] | None = None
    """The quantity that was tested: the difference, of logarithms if they exist, and its margin on either side."""

    @property
    def name(self) -> str:
        """The metric and the cell, such as "time_ms at rtt 10ms"; the one that exists, if the other is missing."""
        return " at ".join(each for each in (self.metric, self.condition) if each)

    def to_json(self) -> dict[str, object]:
        """Return the row as JSON."""
        numbers = ("first", "second", "ratio", "difference")
        summaries = {name: getattr(self, name) for name in numbers}
        shown = {name: each.to_json() if each else None for name, each in summaries.items()}
        return {"condition": self.condition, "metric": self.metric, **shown, "p": self.p, "verdict": self.verdict} | (
            {"note": self.note} if self.note else {}
        )


def margin(text: str) -> float:
    """Parse the margin of a comparison, such as ``0.05``: a fraction above 0, as for claims. Raises ExperimentError."""
    try:
        part = within(float(text), "the comparison")
    except ValueError:
        part = within(text, "the comparison")  # raises an error that says what a margin is
    if not part:
        raise ExperimentError(f"within is {text}", "in the comparison", PART_OF_ONE)
    return part


def asked_margin(within: float | str | None, slower: str | None) -> float | None:
    """Return the margin that ``--within`` or ``--fail-if-slower`` states; None if neither does. Raises SlownetError."""
    if slower is None:
        return None if within is None else margin(str(within))
    if within is not None:
        raise ExperimentError(
            "a margin for both directions excludes one for slower values", SLOWER, f"leave out {Option('within')}"
        )
    part = percent(slower, str(SLOWER))
    if not part:
        raise ExperimentError("a margin of 0 %", SLOWER, "write a percentage above 0, such as 5%")
    return part


def compared(condition: str, metric: str, first: Summary, second: Summary, within: float, note: str = "") -> Row:
    """Return the row of two summaries; the margin is a factor of ``1 + within`` either way.

    Of numbers that are not both above 0 it is ``within`` times the first mean (the second, if the first is 0).
    """
    first, second = first.at_confidence(DECIDING), second.at_confidence(DECIDING)
    absolute = difference(second, first)
    one, other, width = first, second, within * abs(first.mean or second.mean)
    if min(first.mean, second.mean) > 0:
        one, other, width = _logarithm(first), _logarithm(second), math.log1p(within)
    gap = difference(other, one)
    p = equivalent(other, one, -width, width).p if width and gap.known else None
    beyond = exceeds(gap, width) if gap.known else None
    if gap.known and gap.low == gap.high == 0:
        p, verdict = 0.0, EQUIVALENT
    elif p is not None and p <= SIGNIFICANT:
        verdict = EQUIVALENT
    elif beyond is not None and beyond <= SIGNIFICANT:
        verdict = DIFFERS
    else:
        verdict = INCONCLUSIVE
    times = ratio(second, first)
    return Row(condition, metric, first, second, times, absolute, p, verdict, note, beyond, (gap, width))


def as_equal(row: Row) -> Row:
    """Return the row of two numbers whose difference is too small to mean anything, however narrow the margin is."""
    return replace(row, verdict=EQUIVALENT, p=0.0, p_differs=1.0 if row.p_differs is not None else None)


def _logarithm(number: Summary) -> Summary:
    """Return the natural logarithm of a positive number, whose error is the relative one."""
    middle, half = math.log(number.mean), number.half_width / number.mean
    return replace(number, mean=middle, low=middle - half, high=middle + half)


def with_holm(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows of one comparison with "differs" only where it is significant among all rows (Holm)."""
    found = [row.p_differs for row in rows if row.p_differs is not None]
    kept = iter(holm(found, SIGNIFICANT))
    note = f"beyond the margin, but not significant among {len(found)} comparisons (Holm)"
    return tuple(
        replace(row, verdict=INCONCLUSIVE, note=row.note or note)
        if row.p_differs is not None and not next(kept) and row.verdict == DIFFERS
        else row
        for row in rows
    )


def missing(condition: str, metric: str, note: str) -> Row:
    """Return the row of a metric that was measured in only one of the two, or of a failed cell."""
    return Row(condition, metric, None, None, None, None, None, INCONCLUSIVE, note)
