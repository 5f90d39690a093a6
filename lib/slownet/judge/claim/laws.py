"""Claims about the law: round trips per operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from slownet.judge.claim import description, expected_values, lateness, validation
from slownet.judge.claim.base import (
    ALONE,
    Judged,
    Margin,
    Siblings,
    around,
    decide,
    ends,
    judge_parts,
    placed,
    undecided,
    verdict,
)
from slownet.judge.claim.description import with_description
from slownet.judge.claim.expected_values import Expected
from slownet.judge.records.intervals import Scope
from slownet.judge.records.judgement import INCONCLUSIVE, NOT_JUDGED, REFUTED, SUPPORTED, Judgement, Reason
from slownet.judge.records.naming import conditions_phrase, counted
from slownet.judge.records.quantity import interval
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import cell_key
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.errors import ExperimentError, nearest
from slownet.model.shapes import Json
from slownet.model.units import duration, rounded, stated
from slownet.theory.law import Law, fit, milliseconds, trip
from slownet.theory.stats import Summary, ratio


@dataclass(frozen=True)
class law(Judged):  # noqa: N801
    """Claim about the round trips per operation: k of the law ``T(d) = T0 + k * d`` over all cells.

    Parameters
    ----------
    metric : str
        Name of a time in ms.
    round_trips : float, Summary or callable
        Round trips per operation, above 0, or a function of the run that returns them, as in `predicted`.
    within : float
        Margin around ``round_trips``, as a fraction of it: 0.05 for 5 %.
    along : str
        The condition in ms that is the law's d; a one-way ``delay`` counts twice, once in each direction.
    at : mapping of str to str, optional
        Conditions of the cells; all cells unless given.

    Raises
    ------
    ClaimError
        A number is invalid.
    """

    metric: str
    _: KW_ONLY
    round_trips: Expected
    within: float = 0.05
    along: str = "rtt_ms"
    at: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric)
        validation.within(self.within, claim)
        if callable(self.round_trips):
            validation.takes(self.round_trips, ("run",), "round_trips", claim)
        elif not isinstance(self.round_trips, Summary):
            validation.number("round_trips", self.round_trips, claim, above=0)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Fit the law over all cells and compare its k."""
        fixed = None if callable(self.round_trips) else expected_values.number(self.round_trips, run, "law").mean
        claimed = "the predicted round trips" if fixed is None else description.round_trips(fixed)
        name = f"{claimed} per operation, {description.within(self.within)}"
        chosen = run.where(self.at)
        if chosen.failed:
            return placed(undecided(name, fixed, chosen.failed), chosen)
        expected = expected_values.expectation(self.round_trips, chosen, name)
        margin = around(expected.mean, self.within)
        sources = frozenset(cell_key(cell.label) for cell in chosen.cells)
        line = fitted(chosen, self.metric, self.along)

        def k(laws: Sequence[Law]) -> Summary:
            return expected_values.against(replace(laws[0].k, sources=sources), expected.summary)

        def said(found: Summary) -> tuple[Statement, ...]:
            start = LAW_MEASURED(round_trips=line.k, expected=expected.summary)
            return (start, *expected_values.times(found, expected.summary))

        measured, punctual = k([line]), k([line.punctual()])
        found = decide(run, name, lambda: measured, margin, expected.mean, chosen.cells if self.at else (), said)
        found = unless_bent(found, (chosen,), self.metric, self.along, k, margin)
        return expected.judged(lateness.unless_late(found, chosen, self.metric, measured, punctual, margin))

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        label = claim.parameters.get("at") or {}
        at = f" with {conditions_phrase(label, label)}" if label else ""
        if claim.expected is None:
            return f"{description.timed(claim, run)} as many round trips as theory predicts{at}{description.margin(claim)}"
        return f"{description.timed(claim, run)} {counted(claim.expected, 'round trip')}{at}{description.margin(claim)}"


@dataclass(frozen=True)
class constant_round_trips(Judged):  # noqa: N801
    """Claim that the round trips per operation are the same at two delays, so that the law is a straight line.

    They are computed from the baseline to each delay; their ratio is compared with 1.

    Parameters
    ----------
    metric : str
        Name of a time in ms.
    at : tuple of str
        The two delays: ``("10ms", "40ms")``.
    within : float
        Margin around 1, as a fraction: 0.05 for 5 %.
    along : str
        The condition in ms that the delays are values of.

    Raises
    ------
    ClaimError
        Not two different delays, or the margin is not a fraction below 1.
    """

    metric: str
    _: KW_ONLY
    at: tuple[str, str] = ("10ms", "40ms")
    within: float = 0.05
    along: str = "rtt_ms"

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric)
        validation.within(self.within, claim)
        if len(self.at) != 2:
            raise validation.ClaimError(f"{len(self.at)} delays", f"in {claim}", 'name two, such as ("10ms", "40ms")', "at")
        first, second = (validation.milliseconds("at", delay, claim) for delay in self.at)
        if first == second:
            raise validation.ClaimError(f"{claim} compares {self.at[0]} with itself", fix="name two delays", field="at")

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the round trips at the two delays with 1."""
        name = f"the same round trips at {self.at[0]} and {self.at[1]}, {description.within(self.within)}"
        delays = [validation.milliseconds("at", delay, name) for delay in self.at]
        cells = [run.cell(self.along, delay) for delay in delays]
        base = run.baseline_of(cells[0].label)
        gaps = [(delay - float(base.condition[self.along])) * trip(self.along) for delay in delays]
        if 0 in gaps:
            where = f"in experiment {run.experiment}"
            raise ExperimentError(f"{name} compares a delay with itself", where, "name two other delays")

        def both() -> list[Summary]:
            start, pairs = base.summary(self.metric), zip(cells, gaps, strict=True)
            gained = ((_minus(cell.summary(self.metric), start), cell, gap) for cell, gap in pairs)
            return [lateness.allowing(more, cell, base, self.metric).scaled(1 / gap) for more, cell, gap in gained]

        def compared() -> Summary:
            near, far = both()
            start = base.summary(self.metric)
            return ratio(far, near, start.half_width**2 / (gaps[0] * gaps[1]) if start.known else 0.0)

        def said(found: Summary) -> Statement:
            return CONSTANT_MEASURED(at=self.at, round_trips=[each.mean for each in both()], times=found)

        return decide(run, name, compared, around(1.0, self.within), 1.0, (base, *cells), said)

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        near, far = claim.parameters["at"]
        return f"{description.timed(claim, run)} as many round trips at {near} as at {far}{description.margin(claim)}"


@dataclass(frozen=True)
class more_round_trips(Judged):  # noqa: N801
    """Claim that an operation takes at least a multiple of the round trips of another experiment's operation.

    Parameters
    ----------
    metric : str
        Name of a time in ms, in both runs.
    at_least : float
        The multiple, above 0.
    of : str
        The other experiment's name.
    otherwise : float, optional
        Theoretical round trips to use if the other experiment did not run in the same invocation; without them the claim is
        not judged then.
    along : str
        The condition in ms that is the laws' d.

    Raises
    ------
    ClaimError
        A number is invalid.
    """

    metric: str
    _: KW_ONLY
    at_least: float
    of: str
    otherwise: float | None = None
    along: str = "rtt_ms"

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric)
        validation.number("at_least", self.at_least, claim, above=0)
        if self.otherwise is not None:
            validation.number("otherwise", self.otherwise, claim, above=0)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two k with ``at_least``."""
        name = f"at least {stated(self.at_least)} times the round trips of {self.of}"
        margin = (self.at_least, None)
        sibling = siblings.get(self.of)
        failed = (*run.failed, *(sibling.failed if sibling else ()))
        if failed:
            return placed(undecided(name, self.at_least, failed), run)
        if sibling is not None:
            other = fitted(sibling, self.metric, self.along).k
        elif self.otherwise is not None:
            other = expected_values.number(self.otherwise, run, name)
        else:
            why = OTHER_DID_NOT_RUN(of=self.of, near=nearest(self.of, siblings))
            found = Judgement(name, NOT_JUDGED, expected=self.at_least, margin=margin, reason=Reason.NOT_MEASURED)
            return placed(found.saying(why), run)
        k = fitted(run, self.metric, self.along).k

        def said(times: Summary) -> Statement:
            return MORE_MEASURED(round_trips=k.mean, other=other.mean, of=self.of, is_theory=sibling is None, times=times)

        found = decide(run, name, lambda: ratio(k, other), margin, self.at_least, (), said)
        runs = (run,) if sibling is None else (run, sibling)
        return unless_bent(
            found, runs, self.metric, self.along, lambda laws: ratio(laws[0].k, laws[1].k if sibling else other), margin
        )

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        times, of = claim.parameters["at_least"], claim.parameters["of"]
        return f"{description.timed(claim, run)} at least {stated(times)} times as many round trips as in {of}"


@dataclass(frozen=True)
class published_times(Judged):  # noqa: N801
    """Claim that the published T0 and the measured k give the other published times.

    It tests the same k as a `law` claim of the same run, so it is not additional evidence: it shows whether the article's times
    agree with this k. The ratio of predicted to published time is compared with 1 at each delay; the worst one decides.

    Parameters
    ----------
    metric : str
        Name of a time in ms.
    t0_ms : float
        The published time without delay, in ms.
    times_ms : mapping of str to float
        The published times in ms by their delay: ``{"10ms": 51.825}``.
    within : float
        Margin around 1, as a fraction: 0.05 for 5 %.
    along : str
        The condition in ms that is the law's d; a one-way ``delay`` counts twice, once in each direction.

    Raises
    ------
    ClaimError
        No time is given, or a number is invalid.
    """

    metric: str
    _: KW_ONLY
    t0_ms: float
    times_ms: Mapping[str, float] = field(default_factory=dict)
    within: float = 0.05
    along: str = "rtt_ms"

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric)
        validation.within(self.within, claim)
        validation.number("t0_ms", self.t0_ms, claim, least=0)
        if not self.times_ms:
            raise validation.ClaimError(f"{claim} without a time", fix='give times_ms={"10ms": 51.8}', field="times_ms")
        for delay, time in self.times_ms.items():
            validation.milliseconds("times_ms", delay, claim)
            validation.number("times_ms", time, claim, above=0)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare predicted with published times."""
        name = f"the published times follow from the published {self.t0_ms:g} ms, {description.within(self.within)}"
        if run.failed:
            return placed(undecided(name, 1.0, run.failed), run)
        return judge_parts(lambda run: self._furthest(run, name), run, len(self.times_ms))

    def _furthest(self, run: RunData, name: str) -> Judgement:
        found = fitted(run, self.metric, self.along)
        added = {delay: duration(delay) * 1000 * trip(self.along) for delay in self.times_ms}
        predicted = {delay: found.predict(self.t0_ms, added[delay]) for delay in self.times_ms}
        times = [{"at": at, "predicted_ms": predicted[at].mean, "published_ms": time} for at, time in self.times_ms.items()]
        text = TIMES_PREDICTED(times=times)
        margin = around(1.0, self.within)

        def judged(delay: str, time: float) -> Judgement:
            def of(laws: Sequence[Law]) -> Summary:
                return laws[0].predict(self.t0_ms, added[delay]).scaled(1 / time)

            each = decide(run, name, lambda: of((found,)), margin, 1.0, (), text)
            return unless_bent(each, (run,), self.metric, self.along, of, margin)

        parts = [judged(delay, time) for delay, time in self.times_ms.items()]
        severity = (SUPPORTED, INCONCLUSIVE, REFUTED)
        return max(parts, key=lambda each: (severity.index(each.verdict), abs((each.measured or 0.0) - 1)))

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        start = rounded(float(claim.parameters["t0_ms"]), 4)
        sources = f"its own {start} ms without delay and the round trips measured here"
        return f"the article's times follow from {sources}{description.margin(claim)}"


def expected_round_trips(run: RunData, metric: str) -> float | None:
    """Return the round trips that a judged run's law claims on a metric expect; None without a value or several."""
    laws = [each for each in run.claims if each.kind == law.__name__ and each.metric == metric]
    known = {each.expected for each in laws if each.expected is not None}
    return known.pop() if len(known) == 1 else None


def fitted(run: RunData, metric: str, along: str = "rtt_ms") -> Law:
    """Fit the law of a metric (a time) over all cells of a run, in ms, against the round trips that ``along`` (in ms) adds."""
    unit = milliseconds(metric)
    points = [
        (delay * trip(along), cell.summary(metric, Scope.WITHIN_RUN).scaled(unit), cell) for delay, cell in run.along(along)
    ]
    found = fit(((delay, time) for delay, time, _ in points), run.lasting)
    return replace(found, late=tuple(cell.late * time.mean + unit * cell.waits(metric) for _, time, cell in points))


def unless_bent(
    found: Judgement,
    runs: Sequence[RunData],
    metric: str,
    along: str,
    measure: Callable[[Sequence[Law]], Summary],
    margin: Margin,
) -> Judgement:
    """Mark an inconclusive judgement that more repetitions cannot decide, because the law is bent.

    ``measure(laws)`` computes the judged number. Infinitely many repetitions would remove the noise but not the bend. If the
    number is still inconclusive then, wherever it ends up within today's noise, repeating does not help. The noise is known
    from two repetitions on.
    """
    if found.verdict != INCONCLUSIVE or any(cell.repetitions < 2 for run in runs for cell in run.cells):
        return found
    laws = [fitted(run, metric, along) for run in runs]
    if not any(each.bent for each in laws):
        return found
    noise, endless = measure([each.straight() for each in laws]), measure([each.endless() for each in laws])
    least, most = ends(margin)
    within = math.isfinite(least) and math.isfinite(most)
    middle = min(max((least + most) / 2 if within else max(least, most, key=abs), noise.low), noise.high)
    places = (endless.plus(at - endless.mean) for at in (noise.low, middle, noise.high))
    if not noise.known or any(verdict(place, least, most) != INCONCLUSIVE for place in places):
        return found
    bends = BENDS(bends=[{"off_ms": off, "at_ms": at} for off, at in (each.furthest for each in laws if each.bent)])
    return found.adding(BENT(why=bends, noise=noise), stays_open=bends, reason=Reason.BENT)


def _minus(left: Summary, right: Summary) -> Summary:
    """Subtract independent means; half widths add in quadrature (inf stays inf)."""
    mean, half = left.mean - right.mean, math.hypot(left.half_width, right.half_width)
    return replace(left, mean=mean, low=mean - half, high=mean + half, n=min(left.n, right.n), is_positive=False)


def _law_measured(round_trips: Summary, expected: Summary) -> str:
    number = stated(expected.mean) if expected.low == expected.high else interval(expected)
    return f"{interval(round_trips)} round trips per operation measured, {number} expected"


def _constant_measured(at: Sequence[str], round_trips: Sequence[float], times: Summary) -> str:
    (near, far), (less, more) = at, round_trips
    return f"{less:.2f} round trips per operation at {near}, {more:.2f} at {far}: ratio {interval(times, 3)}"


def _more_measured(round_trips: float, other: float, of: str, is_theory: bool, times: Summary) -> str:
    source = f"theory ({of} did not run)" if is_theory else f"{of} of the same invocation"
    return f"{round_trips:.2f} round trips against {other:.2f} of {source}: {interval(times)} times"


def _other_did_not_run(of: str, near: str) -> str:
    hint = f" ({near})" if near.startswith("did you mean") else ""
    return f"{of} did not run in the same invocation{hint}, and otherwise= is not given"


def _published_times_predicted(times: Sequence[Mapping[str, Json]]) -> str:
    pairs = (f"{each['predicted_ms']:.1f} ms ({each['published_ms']:.1f}) at {each['at']}" for each in times)
    return f"predicted (published): {', '.join(pairs)}"


def _bends(bends: Sequence[Mapping[str, float]]) -> str:
    return "; ".join(f"the law is bent by {each['off_ms']:.2g} ms at {each['at_ms']:g} ms" for each in bends)


LAW_MEASURED = Phrase("law measured", _law_measured)
CONSTANT_MEASURED = Phrase("constant measured", _constant_measured)
MORE_MEASURED = Phrase("more measured", _more_measured)
OTHER_DID_NOT_RUN = Phrase("other did not run", _other_did_not_run)
TIMES_PREDICTED = Phrase("published times predicted", _published_times_predicted)
BENDS = Phrase("bends", _bends)
BENT = Phrase(
    "bent", lambda why, noise: f"; {why}, and more repetitions do not help: with noise alone it would be {interval(noise)}"
)
