"""Lateness that the network did not cause is kept apart from claims: on the real clock, and of paints.

A processor that sleeps until a packet comes wakes a little later than it comes, in every round trip of every boot alike. At
most how much is known from the ping that verified the link (`slownet.lab.host.busy`). So an interval of round trips begins by
that much earlier: in a test (`slownet.judge.claim.slowed`) as in a run (`slownet.judge.claim.law`).

What a browser paints waits for the next frame on every clock, by any part of it, and at one distance always by about the same:
so an interval contains a whole frame.
"""

from __future__ import annotations

from dataclasses import replace

from slownet.judge.claim.base import Margin, ends, verdict
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import INCONCLUSIVE, Judgement, Reason
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.units import unit_of
from slownet.theory.stats import Summary


def late(share: float, waits: float = 0.0, unit: str = "") -> Statement:
    """State that lateness may be what keeps a comparison open. waits: how long at most for the next frame."""
    if waits and not share:
        return WAITS_FOR_A_FRAME(waits=waits, unit=unit)
    return WOKE_LATE(part=share)


def allowing(gained: Summary, far: Cell, near: Cell, metric: str) -> Summary:
    """Return how much longer a time is in one cell than in another, with what may be late in either in its interval.

    gained: the difference, in the metric's unit.
    far, near: the two cells.
    metric: the time.
    returns: the same mean.
    """
    early, later = (cell.late * cell.summary(metric).mean + cell.waits(metric) for cell in (far, near))
    return replace(gained, low=gained.low - early, high=gained.high + later) if early or later else gained


def unless_late(found: Judgement, run: RunData, metric: str, measured: Summary, punctual: Summary, margin: Margin) -> Judgement:
    """Mark an inconclusive judgement that may be due to processors which wake late.

    Wherever the number ends up within today's noise, if what is late keeps it open then, more repetitions do not help.

    found: the judgement on ``measured``.
    run: the run of the cells that it rests on.
    metric: the time.
    measured, punctual: the number with what may be late in its interval, and without.
    margin: lower and upper end.
    returns: with a sentence about it.
    """
    least, most = ends(margin)
    if found.verdict != INCONCLUSIVE or measured == punctual or verdict(punctual, least, most) == INCONCLUSIVE:
        return found
    waits = max(cell.waits(metric) for cell in run.cells)
    said = late(max(cell.late for cell in run.cells), waits, unit_of(metric))
    early, later = punctual.low - measured.low, measured.high - punctual.high
    places = (Summary(at, at - early, at + later, measured.n) for at in (punctual.low, punctual.mean, punctual.high))
    stays = all(verdict(each, least, most) == INCONCLUSIVE for each in places)
    still = found.stays_open or (said if stays else None)
    return found.adding(LATE(why=said), stays_open=still, reason=Reason.LATE)


WOKE_LATE = Phrase(
    "woke late",
    lambda part: f"for up to {100 * part:.2g} % of it processors woke late, which is a smaller part of a longer delay",
)
WAITS_FOR_A_FRAME = Phrase(
    "waits for a frame",
    lambda waits, unit: f"it waits for the next frame, for up to {waits:.2g} {unit}, which is a smaller part of a longer delay",
)
LATE = Phrase("late", lambda why: f"; {why}")
