"""Expected values with a margin, which a test compares with measured numbers by ``==`` and ``!=``.

>>> from slownet.judge.measured import Measured, Setting
>>> from slownet.theory.stats import from_moments
>>> near = Measured("time_per_request_ms", from_moments(11.8, 0.1, 100))
>>> far = Measured("time_per_request_ms", from_moments(51.8, 0.4, 100), Setting(10.06, "virtual clock, TDF 4"))
>>> far == slowed(near, round_trips=4, rtt="10ms", within=0.05)
True
>>> five = slowed(near, round_trips=5, rtt="10ms", within=0.05)
>>> far == five
False
>>> print(five)
5 round trips of 10 ms on 11.80 ms, within 5 %: refuted: ratio 4.390 (4.381 to 4.399), expected 5.237 (4.975 to 5.499); \
99 % interval; 51.80 against 61.80 expected; 4.00 round trips instead of 5; verified RTT 10.06 ms, virtual clock, TDF 4

The interval decides, as for claims: ``==`` holds if it lies inside the margin, ``!=`` if it lies wholly outside; neither
holds while the comparison is inconclusive. After a comparison the expectation's text describes its result.

A plain number on the left is exact and in the unit of the right side (ms if that is a number or a duration). A duration such
as "52ms" is exact too; a `Summary` has its own interval. Anything else on the left raises ExperimentError.

>>> 51.2 == slowed(11.8, round_trips=4, rtt="10ms"), "52ms" != about("60ms")
(True, True)
>>> None == about("52ms")
Traceback (most recent call last):
slownet.model.errors.ExperimentError: None is compared with 'about 52ms, within 5 %': write a measured number, a plain one, \
or a duration such as "52ms" on the left
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

from slownet.judge.claim import description, lateness, validation
from slownet.judge.claim.base import DECIDED, around, ends, verdict
from slownet.judge.measured import Measured, in_unit_of
from slownet.judge.records import comparisons
from slownet.judge.records.judgement import INCONCLUSIVE, REFUTED, SUPPORTED, Judgement, Reason, notify
from slownet.judge.records.quantity import interval
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.errors import ExperimentError
from slownet.model.truth import NoTruth
from slownet.model.units import duration, show_duration
from slownet.theory import stats
from slownet.theory.stats import DECIDING, Summary

PLAIN_UNIT = "time_ms"
"""A metric with the unit of plain numbers, used if neither side is a measured metric."""

MOST_TIMES = 1000.0
"""A larger ratio is not shown: T0 is a few microseconds that mean nothing."""


@dataclass(frozen=True)
class _Trips:
    """The round trips that a time is expected to have beyond its start, each of a duration such as "10ms"."""

    number: float
    rtt: str
    start: float
    times: float

    def unit(self, measured: Measured) -> float:
        """Return the length of one in the measured number's unit."""
        return in_unit_of(measured.name, self.rtt)

    def of(self, measured: Measured, time: float) -> float:
        """Return the number of round trips in a time."""
        return (time - self.start) / self.unit(measured)

    def alone(self, measured: Measured) -> bool:
        """Return True if only they are shown: the time without them means nothing: with a free CPU, or beside theirs."""
        if self.start <= 0 or self.times > MOST_TIMES:
            return True
        charging = measured.setting.charging
        return charging is not None and charging.means_nothing(self.start, measured.name)


@dataclass(frozen=True)
class _Said:
    """A comparison as it is shown: a number with its interval, what was expected, and the margin."""

    finding: Statement
    shown: Summary
    expected: float
    margin: tuple[float, float]
    is_trips: bool = False


class Expectation(NoTruth):
    """An expected value with its margin; `slowed` and `about` make it.

    name: the expectation as text.
    expected: maps the measured number to the expected value, in the measured number's unit.
    within: margin around the expected value, as a fraction of it.
    kind, parameters: those of the resulting judgements.
    times: the ratio that is shown for the expected value.
    unit: name of a metric that has the unit of plain numbers.
    trips: the round trips that the expected value is made of.
    late: the share of the measured number that may be due to processors which wake late, and not to what is expected.
    Raises ClaimError: the margin is not a fraction below 1.
    """

    instead = "write the measured number on the other side: assert page.time_per_request == about(...)"

    __hash__ = None  # type: ignore[assignment]

    __array_ufunc__: ClassVar[None] = None  # makes numpy's numbers leave the comparison to this class

    def __init__(
        self,
        name: str,
        expected: Callable[[Measured], Summary],
        *,
        within: float,
        kind: str,
        parameters: Mapping[str, object],
        times: float = 1.0,
        unit: str = PLAIN_UNIT,
        trips: _Trips | None = None,
        late: Callable[[Measured], float] = lambda measured: 0.0,
    ) -> None:
        self._trips, self._late = trips, late
        self.within = validation.within(within, name)
        self.name = f"{name}, {description.within(self.within)}"
        self._expected = expected
        self._times = times
        self._unit = unit
        self._kind = kind
        self._parameters = {**parameters, "within": self.within}
        self.judgement: Judgement | None = None

    def judge(self, measured: Measured) -> Judgement:
        """Compare a measured number with the expected value, and publish the judgement to the observers.

        measured: the number on the other side of the comparison.
        returns: on the ratio of measured to expected.
        """
        expected = self._expected(measured)
        test = comparisons.current()
        test.compared.append((measured.name, measured.summary))
        against = test.take(f"{measured.name} {self._kind}", stats.ratio(measured.summary, expected), self._late(measured))
        found = verdict(against, *ends(around(1.0, self.within)))
        test.judged(against, found == INCONCLUSIVE)
        said = self._said(measured, expected, against)
        compared = COMPARED(confidence=against.confidence, boots=test.boots, number=measured.mean, expected=expected.mean)
        findings = [said.finding, compared]
        if found == REFUTED and self._trips and not said.is_trips:
            trips = self._trips.of(measured, measured.mean)
            findings.append(TRIPS_INSTEAD(round_trips=trips, expected=self._trips.number))
        why = DECIDED[found]
        if not against.known:
            why = Reason.NO_INTERVAL
            findings.append(INTERVAL_UNKNOWN())
        elif not self.within and against.low != against.high and found == INCONCLUSIVE:
            why = Reason.NO_WIDTH
            findings.append(MARGIN_OF_NOTHING())
        if found == INCONCLUSIVE and test.late:
            why = Reason.LATE
            findings.append(lateness.LATE(why=lateness.late(test.late)))
        if found == INCONCLUSIVE and measured.setting.advice:
            findings.append(ADVICE(advice=measured.setting.advice))
        self.judgement = Judgement(
            self.name, found, said.shown.mean, said.expected, said.shown.low, said.shown.high, said.margin,
            confidence=against.confidence, setting=str(measured.setting),
            kind=self._kind, metric=measured.name, parameters=self._parameters, reason=why,
        ).saying(*findings)  # fmt: skip
        notify(self.judgement)
        return self.judgement

    def _said(self, measured: Measured, expected: Summary, against: Summary) -> _Said:
        """Describe the comparison: as a ratio, or in round trips if a ratio would be one to a time that means nothing."""
        if self._trips and self._trips.alone(measured):
            trips, unit = self._trips, self._trips.unit(measured)
            shown = against.scaled(expected.mean).plus(-trips.start).scaled(1 / unit)
            low, high = (trips.of(measured, end) for end in around(expected.mean, self.within))
            said = TRIPS_FOUND(round_trips=shown, expected=trips.number, margin=(low, high))
            return _Said(said, shown, trips.number, (low, high), is_trips=True)
        shown, (low, high) = against.scaled(self._times), around(self._times, self.within)
        said = RATIO_FOUND(times=shown, expected=self._times, margin=(low, high))
        return _Said(said, shown, self._times, (low, high))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Expectation):
            return self is other
        return self.judge(self._measured(other)).verdict == SUPPORTED or comparisons.current().holds

    def __ne__(self, other: object) -> bool:
        if isinstance(other, Expectation):
            return self is not other
        return self.judge(self._measured(other)).verdict == REFUTED or comparisons.current().holds

    def _measured(self, other: object) -> Measured:
        """Convert the other side of the comparison. Raises ExperimentError if it is not a number, UnitError."""
        if isinstance(other, Measured):
            return other
        if isinstance(other, Summary):
            return Measured(self._unit, other)
        if isinstance(other, str):
            return Measured(self._unit, _exact(in_unit_of(self._unit, other)))
        if isinstance(other, Real) and not isinstance(other, bool) and math.isfinite(other):
            return Measured(self._unit, _exact(float(other)))
        fix = 'write a measured number, a plain one, or a duration such as "52ms" on the left'
        raise ExperimentError(f"{other!r} is compared with '{self.name}'", fix=fix)

    def __str__(self) -> str:
        if self.judgement is None:
            return self.name
        found = self.judgement
        return "; ".join(filter(None, (f"{self.name}: {found.verdict}: {found.text}", found.setting)))

    __repr__ = __str__


def slowed(near: Measured | Summary | float, *, round_trips: float, rtt: str, within: float = 0.05) -> Expectation:
    """Return the time to expect when each round trip takes longer: T0 times ``1 + k d / T0``.

    Parameters
    ----------
    near : Measured, Summary or float
        The time T0 without the delay: measured, so that its interval counts too, or a number of ms. It may be 0 where the CPU
        is free. A ratio to a time that means nothing is not shown, only the round trips found: with a free CPU below 1 ms, or
        where T0 is below a thousandth of the expected time.
    round_trips : float
        Round trips per operation, k, above 0.
    rtt : str
        Round-trip delay added, d: ``"10ms"``.
    within : float
        Margin around the expected time, as a fraction of it: 0.05 for 5 %.

    Returns
    -------
    Expectation
        For the right-hand side of ``==`` or ``!=``.

    Raises
    ------
    UnitError
        A duration has no unit.
    ExperimentError
        A number is invalid.
    """
    trips = validation.number("round_trips", round_trips, "slowed", above=0)
    start, unit = _start(near)
    added = trips * duration(rtt)
    times = 1 + in_unit_of(unit, f"{added:.12f}s") / start.mean if start.mean > 0 else 1.0
    of = f"{show_duration(duration(rtt))} on {start.mean:.2f}{' ms' * unit.endswith('_ms')}"
    return Expectation(
        f"{trips:g} round trip{'s' * (trips != 1)} of {of}", lambda far: start.plus(in_unit_of(far.name, f"{added:.12f}s")),
        within=within, kind=slowed.__name__, parameters={"round_trips": trips, "rtt": rtt}, times=times, unit=unit,
        trips=_Trips(trips, rtt, start.mean, times),
        late=lambda far: far.late,
    )  # fmt: skip


def about(number: Measured | Summary | float | str, *, within: float = 0.05) -> Expectation:
    """Give a number a margin: ``far.time_per_request == about("52ms", within=0.05)``.

    Parameters
    ----------
    number : Measured, Summary, float or str
        A measured number, so that its interval counts too, a plain number in the unit of the left side, or a duration.
    within : float
        Margin around the number, as a fraction of it: 0.05 for 5 %.

    Returns
    -------
    Expectation
        For the right-hand side of ``==`` or ``!=``.

    Raises
    ------
    UnitError
        A duration has no unit.
    ExperimentError
        A number is invalid.
    """
    if isinstance(number, Measured | Summary):
        start, unit = _start(number)
        said = f"about {start.mean:.2f}"
        return Expectation(said, lambda other: start, within=within, kind=about.__name__, parameters={}, unit=unit)
    if isinstance(number, str):
        duration(number)
    else:
        number = validation.number("about", number, "an expectation")
    return Expectation(
        f"about {number}", lambda other: _exact(in_unit_of(other.name, number)),
        within=within, kind=about.__name__, parameters={"number": number},
    )  # fmt: skip


def _start(near: Measured | Summary | float) -> tuple[Summary, str]:
    """Return a reference number as a summary, and the metric that has its unit."""
    if isinstance(near, Measured):
        return near.summary, near.name
    if isinstance(near, Summary):
        return near.at_confidence(DECIDING), PLAIN_UNIT
    return _exact(validation.number("near", near, "slowed", least=0)), PLAIN_UNIT


def _exact(number: float) -> Summary:
    return Summary(number, number, number, 1, None, DECIDING)


def _ratio_found(times: Summary, expected: float, margin: Sequence[float]) -> str:
    return f"ratio {interval(times, 3)}, expected {expected:.3f} ({margin[0]:.3f} to {margin[1]:.3f})"


def _compared(confidence: float, boots: int, number: float, expected: float) -> str:
    several = f" of {boots} boots; the last one" if boots > 1 else ";"
    return f"; {100 * confidence:.4g} % interval{several} {number:.2f} against {expected:.2f} expected"


def _trips_found(round_trips: Summary, expected: float, margin: Sequence[float]) -> str:
    return f"found {interval(round_trips)} round trips, expected {expected:g} ({margin[0]:.2f} to {margin[1]:.2f})"


TRIPS_FOUND = Phrase("round trips found", _trips_found)
RATIO_FOUND = Phrase("ratio found", _ratio_found)
COMPARED = Phrase("compared", _compared)
TRIPS_INSTEAD = Phrase(
    "round trips instead", lambda round_trips, expected: f"; {round_trips:.2f} round trips instead of {expected:g}"
)
INTERVAL_UNKNOWN = Phrase("interval unknown", lambda: "; its interval is not known: measure more")
MARGIN_OF_NOTHING = Phrase(
    "margin of nothing", lambda: "; only numbers that do not vary can meet a margin of 0: widen it, such as within=0.05"
)
ADVICE = Phrase("advice", lambda advice: f"; {advice}")
