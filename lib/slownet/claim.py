"""Claims: statements about a run that it can support or refute.

An experiment lists them; their names are lower case so that an experiment reads as a sentence::

    claims=[law("time_per_request_ms", round_trips=4, within=0.05), ...]

The interval of what was measured decides: inside the margin the claim is supported, wholly outside
refuted, else inconclusive. That rule needs no variance, so it holds for an exact run (TDF inf) too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from slownet.errors import ExperimentError, nearest
from slownet.law import Law, fit
from slownet.result import Cell, Judgement, RunData
from slownet.stats import Summary, ratio
from slownet.units import duration

__all__ = [
    "INCONCLUSIVE",
    "REFUTED",
    "SUPPORTED",
    "Claim",
    "Judgement",
    "constant_round_trips",
    "fitted",
    "law",
    "more_round_trips",
    "published_times",
    "verdict",
]

SUPPORTED, REFUTED, INCONCLUSIVE = "supported", "refuted", "inconclusive"
Siblings = Mapping[str, RunData]


class Claim(Protocol):
    """What every kind of claim can do."""

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the claim with a run; ``siblings`` are the runs of the same invocation by experiment.

        Raises ExperimentError when the run lacks a cell or a metric that the claim names.
        """


@dataclass(frozen=True)
class law:  # noqa: N801
    """One operation costs ``round_trips`` round trips, give or take ``within`` of it.

    ``round_trips`` is a number or a function of the run; ``metric`` is a time in ms, measured ``along``
    a condition in ms.
    """

    metric: str
    round_trips: float | Callable[[RunData], float]
    within: float = 0.05
    along: str = "rtt_ms"

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Fit the law over all cells and compare its k."""
        fixed = None if callable(self.round_trips) else float(self.round_trips)
        what = "the predicted round trips" if fixed is None else f"{fixed:g} round trip{'s' * (fixed != 1)}"
        name = f"{what} per operation, within {100 * self.within:g} %"
        if run.failed:
            return undecided(name, fixed, run.failed)
        expected = float(self.round_trips(run)) if callable(self.round_trips) else float(self.round_trips)
        margin = (expected * (1 - self.within), expected * (1 + self.within))
        k = fitted(run, self.metric, self.along).k
        text = f"{interval(k)} round trips per operation measured, {expected:g} expected"
        return judged(name, k, expected, margin, text)


@dataclass(frozen=True)
class constant_round_trips:  # noqa: N801
    """The round trips per operation are the same at two delays, so the law is a straight line.

    Each is taken from the baseline to one delay; their ratio is compared with 1.
    """

    metric: str
    at: tuple[str, str] = ("10ms", "40ms")
    within: float = 0.05
    along: str = "rtt_ms"

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the ratio of the two with 1."""
        name = f"the same round trips at {self.at[0]} and {self.at[1]}, within {100 * self.within:g} %"
        margin = (1 - self.within, 1 + self.within)
        base = run.baseline(self.along)
        cells = [run.cell(self.along, _ms(delay)) for delay in self.at]
        failed = [cell for cell in (base, *cells) if cell.status == "failed"]
        if failed:
            return undecided(name, 1.0, failed)
        start = base.summary(self.metric)
        gaps = [_ms(delay) - float(base.condition[self.along]) for delay in self.at]
        if 0 in gaps or gaps[0] == gaps[1]:
            where = f"in experiment {run.experiment}"
            raise ExperimentError(f"{name} compares a delay with itself", where, "name two other delays")
        pairs = zip(cells, gaps, strict=True)
        near, far = (_minus(cell.summary(self.metric), start).scaled(1 / gap) for cell, gap in pairs)
        shared = start.half_width**2 / (gaps[0] * gaps[1]) if start.known else 0.0
        text = (
            f"{near.mean:.2f} round trips per operation at {self.at[0]}, {far.mean:.2f} at {self.at[1]}: "
            f"ratio {interval(compared := ratio(far, near, shared), 3)}"
        )
        return judged(name, compared, 1.0, margin, text)


@dataclass(frozen=True)
class more_round_trips:  # noqa: N801
    """This run's operation costs at least ``times`` the round trips of the experiment ``of``.

    If that experiment did not run in the same invocation, ``otherwise`` (a number from theory) stands in.
    """

    metric: str
    times: float
    of: str
    otherwise: float | None = None
    along: str = "rtt_ms"

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the ratio of the two k with ``times``."""
        name = f"at least {self.times:g} times the round trips of {self.of}"
        margin = (self.times, None)
        sibling = siblings.get(self.of)
        failed = (*run.failed, *(sibling.failed if sibling else ()))
        if failed:
            return undecided(name, self.times, failed)
        k = fitted(run, self.metric, self.along).k
        if sibling is not None:
            other = fitted(sibling, self.metric, self.along).k
            source = f"{self.of} of the same invocation"
        elif self.otherwise is not None:
            other = Summary(float(self.otherwise), float(self.otherwise), float(self.otherwise), 1)
            source = f"theory ({self.of} did not run)"
        else:
            known = nearest(self.of, siblings)
            raise ExperimentError(f"no run of '{self.of}' to compare with", f"in {run.experiment}", known)
        times = ratio(k, other)
        text = f"{k.mean:.2f} round trips against {other.mean:.2f} of {source}: {interval(times)} times"
        return judged(name, times, self.times, margin, text)


@dataclass(frozen=True)
class published_times:  # noqa: N801
    """The published time without delay, put into the measured law, gives the other published times.

    ``t0_ms`` and ``times_ms`` (``{"10ms": 51.825}``) are in ms; each ratio is compared with 1 and the one
    that is furthest off is reported.
    """

    metric: str
    t0_ms: float
    times_ms: Mapping[str, float] = field(default_factory=dict)
    within: float = 0.05
    along: str = "rtt_ms"

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare predicted with published times."""
        name = f"the published times from the published {self.t0_ms:g} ms, within {100 * self.within:g} %"
        margin = (1 - self.within, 1 + self.within)
        if not self.times_ms:
            raise ExperimentError(f"{name}: no times given", f"in experiment {run.experiment}")
        if run.failed:
            return undecided(name, 1.0, run.failed)
        k = fitted(run, self.metric, self.along).k
        predicted = {delay: _plus(k.scaled(_ms(delay)), self.t0_ms) for delay in self.times_ms}
        ratios = {delay: predicted[delay].scaled(1 / time) for delay, time in self.times_ms.items()}
        pairs = (f"{predicted[at].mean:.1f} ms ({time:.1f}) at {at}" for at, time in self.times_ms.items())
        text = f"predicted (published): {', '.join(pairs)}"
        judgements = [judged(name, each, 1.0, margin, text) for each in ratios.values()]
        severity = (SUPPORTED, INCONCLUSIVE, REFUTED)
        return max(judgements, key=lambda each: (severity.index(each.verdict), abs((each.measured or 0.0) - 1)))


def fitted(run: RunData, metric: str, along: str = "rtt_ms") -> Law:
    """The law of a metric over all cells of a run."""
    return fit((delay, cell.summary(metric)) for delay, cell in run.along(along))


def verdict(measured: Summary, least: float, most: float) -> str:
    """Supported when the interval lies inside ``least`` to ``most``, refuted when wholly outside."""
    if measured.known and least <= measured.low and measured.high <= most:
        return SUPPORTED
    if measured.known and (measured.high < least or measured.low > most):
        return REFUTED
    return INCONCLUSIVE


def judged(name: str, measured: Summary, expected: float, margin: tuple[float, float | None], text: str) -> Judgement:
    """The judgement of a claim that was compared with its margin; None as its upper end is open."""
    found = verdict(measured, margin[0], math.inf if margin[1] is None else margin[1])
    text += "" if measured.known else " (its interval is not known: measure more)"
    return Judgement(name, found, measured.mean, expected, measured.low, measured.high, margin, text)


def undecided(name: str, expected: float | None, failed: Sequence[Cell]) -> Judgement:
    """The judgement of a claim whose cells failed."""
    cells = "; ".join(f"{cell.title}: {cell.error}" for cell in failed)
    text = f"not decided, because {len(failed)} cell{'s' * (len(failed) > 1)} failed ({cells})"
    return Judgement(name, INCONCLUSIVE, None, expected, None, None, (None, None), text)


def _ms(text: str) -> float:
    return duration(text) * 1000


def interval(summary: Summary, digits: int = 2) -> str:
    """A summary for a claim's text: ``4.00 (3.96 to 4.04)``."""
    mean, low, high = (f"{each:.{digits}f}" for each in (summary.mean, summary.low, summary.high))
    return f"{mean} ({low} to {high})" if summary.known and low != high else mean


def _plus(summary: Summary, offset: float) -> Summary:
    return Summary(summary.mean + offset, summary.low + offset, summary.high + offset, summary.n)


def _minus(left: Summary, right: Summary) -> Summary:
    """A difference of independent means; half widths add in quadrature (inf stays inf)."""
    mean, half = left.mean - right.mean, math.hypot(left.half_width, right.half_width)
    return Summary(mean, mean - half, mean + half, min(left.n, right.n))
