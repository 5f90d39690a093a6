"""One number of a run against the same number of another: equivalent, different, or not to be told yet. Pure.

Equivalence takes evidence: two one-sided tests (TOST) within a margin, a part of the first number. The intervals are as
sure as those that verdicts rest on (99 %). That two runs of the same say "differs" of any row is as rare as one wrong verdict
(1 %), however many rows there are: Holm's procedure. "Equivalent" needs none, for a comparison is equivalent if every row is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from slownet.claim.validation import PART_OF_ONE, within
from slownet.errors import ExperimentError
from slownet.stats import DECIDING, Summary, difference, equivalent, further, holm, ratio

EQUIVALENT, DIFFERS, INCONCLUSIVE = "equivalent", "differs", "inconclusive"
SIGNIFICANT = (1 - DECIDING) / 2


@dataclass(frozen=True)
class Row:
    """A metric under a condition, in two runs. ``ratio`` and ``difference`` are those of the second to the first."""

    condition: str
    metric: str
    first: Summary | None
    second: Summary | None
    ratio: Summary | None
    difference: Summary | None
    p: float | None
    """Of the test of equivalence, None where a spread is not known."""
    verdict: str
    note: str = ""
    p_differs: float | None = None
    """Of the test that the difference is beyond the margin."""

    def to_json(self) -> dict[str, Any]:
        """A dict that JSON can hold."""
        numbers = ("first", "second", "ratio", "difference")
        summaries = {name: getattr(self, name) for name in numbers}
        shown = {name: each.to_json() if each else None for name, each in summaries.items()}
        return {"condition": self.condition, "metric": self.metric, **shown, "p": self.p, "verdict": self.verdict} | (
            {"note": self.note} if self.note else {}
        )


def margin(text: str) -> float:
    """The margin of a comparison, ``0.05``: a part of one, as for claims, and above 0. Raises ExperimentError."""
    try:
        part = within(float(text), "the comparison")
    except ValueError:
        part = within(text, "the comparison")  # which says what a margin is
    if not part:
        raise ExperimentError(f"within is {text}", "in the comparison", PART_OF_ONE)
    return part


def compared(condition: str, metric: str, first: Summary, second: Summary, within: float, note: str = "") -> Row:
    """The row of two summaries; the margin is ``within`` of the first (of the second, where the first is 0)."""
    first, second = first.at_confidence(DECIDING), second.at_confidence(DECIDING)
    gap, width = difference(second, first), within * abs(first.mean or second.mean)
    p = equivalent(second, first, -width, width).p if width and gap.known else None
    beyond = further(gap, width) if gap.known else None
    if gap.known and gap.low == gap.high == 0:
        p, verdict = 0.0, EQUIVALENT
    elif p is not None and p <= SIGNIFICANT:
        verdict = EQUIVALENT
    elif beyond is not None and beyond <= SIGNIFICANT:
        verdict = DIFFERS
    else:
        verdict = INCONCLUSIVE
    return Row(condition, metric, first, second, ratio(second, first), gap, p, verdict, note, beyond)


def together(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows of one comparison: "differs" only where that is significant among all of them."""
    found = [row.p_differs for row in rows if row.p_differs is not None]
    kept = iter(holm(found, SIGNIFICANT))
    note = f"beyond the margin by itself, but not sure among {len(found)} comparisons (Holm)"
    return tuple(
        replace(row, verdict=INCONCLUSIVE, note=row.note or note)
        if row.p_differs is not None and not next(kept) and row.verdict == DIFFERS
        else row
        for row in rows
    )


def missing(condition: str, metric: str, note: str) -> Row:
    """The row of what was measured in one of the two only, or failed."""
    return Row(condition, metric, None, None, None, None, None, INCONCLUSIVE, note)
