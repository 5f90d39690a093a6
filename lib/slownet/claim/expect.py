"""What a test expects of a measured number, on the right of ``==``.

>>> from slownet.measured import Measured, Setting
>>> from slownet.stats import from_moments
>>> near = Measured("time_per_request_ms", from_moments(11.8, 0.1, 100))
>>> far = Measured("time_per_request_ms", from_moments(51.8, 0.4, 100), Setting(10.06, "virtual clock, TDF 4"))
>>> far == slowed(near, round_trips=4, rtt="10ms", within=0.05)
True
>>> five = slowed(near, round_trips=5, rtt="10ms", within=0.05)
>>> far == five
False
>>> print(five)
5 round trips of 10 ms on 11.80 ms, within 5 %: refuted: ratio 4.390 (4.381 to 4.399), expected 5.237 (4.975 to 5.499); \
99 % interval; 51.80 against 61.80 expected; verified RTT 10.06 ms, virtual clock, TDF 4

The interval decides, as for claims: ``==`` holds if it lies inside the margin, ``!=`` if it lies wholly outside, so that
neither does while it is open. After a comparison the expectation's text says all of it.
"""

from __future__ import annotations

from collections.abc import Callable

from slownet import stats
from slownet.claim.base import around, interval, margin_is_wide_enough, verdict
from slownet.measured import DECIDING, Measured, in_unit_of
from slownet.records.heard import tell
from slownet.records.judgement import REFUTED, SUPPORTED, Judgement
from slownet.stats import Summary
from slownet.units import duration, show_duration


class Expectation:
    """What a number is expected to be; make it with `slowed` or `about`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, expected: Callable[[Measured], Summary], times: float, within: float) -> None:
        """``expected(measured)`` in the unit of what is compared; ``times`` the ratio that is shown for it."""
        self.name = f"{name}, within {100 * within:g} %"
        self.within = within
        self._expected = expected
        self._times = times
        self.judgement: Judgement | None = None

    def judge(self, measured: Measured) -> Judgement:
        """The comparison of a number with what is expected. Raises ExperimentError for a margin of 0 on what varies."""
        expected = self._expected(measured)
        against = stats.ratio(measured.summary, expected)
        least, most = around(1.0, self.within)
        margin_is_wide_enough(self.name, against, least, most)
        shown = against.scaled(self._times)
        low, high = around(self._times, self.within)
        text = (
            f"ratio {interval(shown, 3)}, expected {self._times:.3f} ({low:.3f} to {high:.3f}); {100 * DECIDING:g} % interval; "
            f"{measured.mean:.2f} against {expected.mean:.2f} expected"
        )
        text += "" if against.known else "; its interval is not known: measure more"
        found = verdict(against, least, most)
        self.judgement = Judgement(
            self.name, found, shown.mean, self._times, shown.low, shown.high, (low, high), text,
            confidence=DECIDING, setting=str(measured.setting),
        )  # fmt: skip
        tell(self.judgement)
        return self.judgement

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Measured):
            return NotImplemented
        return self.judge(other).verdict == SUPPORTED

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, Measured):
            return NotImplemented
        return self.judge(other).verdict == REFUTED

    def __str__(self) -> str:
        if self.judgement is None:
            return self.name
        found = self.judgement
        return "; ".join(filter(None, (f"{self.name}: {found.verdict}: {found.text}", found.setting)))

    __repr__ = __str__


def slowed(near: Measured | float, round_trips: float, rtt: str, within: float = 0.05) -> Expectation:
    """What ``near`` becomes when each of its round trips takes ``rtt`` longer: the ratio ``1 + k d / T0``.

    ``near`` is a measured time, or a number of ms; both intervals count. Where the CPU is free ``near`` may take no time,
    and the ratio is that of the measured to the expected time then. Raises UnitError.
    """
    start = near.summary if isinstance(near, Measured) else _exact(float(near))
    added = round_trips * duration(rtt)
    unit = near.name if isinstance(near, Measured) else "time_ms"
    times = 1 + in_unit_of(unit, f"{added:.12f}s") / start.mean if start.mean > 0 else 1.0
    trips = f"{round_trips:g} round trip{'s' * (round_trips != 1)} of {show_duration(duration(rtt))}"
    name = f"{trips} on {start.mean:.2f}{' ms' * unit.endswith('_ms')}"
    return Expectation(name, lambda far: start.plus(in_unit_of(far.name, f"{added:.12f}s")), times, within)


def about(number: Measured | float | str, within: float = 0.05) -> Expectation:
    """The number, give or take ``within`` of it: ``far.time_per_request == about("52ms")``. Raises UnitError."""
    name = f"about {number.mean:.2f}" if isinstance(number, Measured) else f"about {number}"

    def expected(other: Measured) -> Summary:
        return number.summary if isinstance(number, Measured) else _exact(in_unit_of(other.name, number))

    return Expectation(name, expected, 1.0, within)


def _exact(number: float) -> Summary:
    return Summary(number, number, number, 1, None, DECIDING)
