"""The law ``T(d) = T0 + k * d``: time per operation against added round-trip delay.

``k`` is round trips per operation and belongs to the protocol (a response's: `slownet.slow_start`); ``T0`` belongs to the
machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

from slownet.errors import SlownetError
from slownet.slow_start import round_trips as round_trips
from slownet.stats import CONFIDENCE, Scatter, Summary, difference, from_error, t_quantile, welch
from slownet.units import duration

NOISE = 1e-12  # a relative misfit below this is floating point, not measurement
ENOUGH = 10  # degrees of freedom
SIGNIFICANT = 0.01


@dataclass(frozen=True)
class Law:
    """A straight line through measured times; make it with ``fit``.

    ``delays``, ``times`` and the results are in one unit (ms); ``k`` has none.
    """

    delays: tuple[float, ...]
    times: tuple[Summary, ...]
    weights: tuple[float, ...]
    lasting: float = 1.0
    """The most confidence that is asked of the bend, which is the same at every look at the same cells."""
    bend: float | None = None
    """How far off the line the points are (a standard deviation), None to see that from them."""

    @property
    def k(self) -> Summary:
        """Round trips per operation."""
        slopes = self._slopes()
        return self._combine(slopes, math.fsum(b * t.mean for b, t in zip(slopes, self.times, strict=True)))

    @property
    def t0(self) -> Summary:
        """Time per operation without added delay."""
        return self.at(0.0)

    @property
    def residuals(self) -> tuple[float, ...]:
        """Measured minus fitted, one a point."""
        pairs = zip(self.delays, self.times, strict=True)
        return tuple(time.mean - self._value(delay) for delay, time in pairs)

    def at(self, delay: float) -> Summary:
        """The fitted time at a delay."""
        total, middle = math.fsum(self.weights), self._middle()
        pairs = zip(self.weights, self._slopes(), strict=True)
        return self._combine([w / total + b * (delay - middle) for w, b in pairs], self._value(delay))

    def _value(self, delay: float) -> float:
        weighted = math.fsum(w * t.mean for w, t in zip(self.weights, self.times, strict=True))
        slope = math.fsum(b * t.mean for b, t in zip(self._slopes(), self.times, strict=True))
        return weighted / math.fsum(self.weights) + slope * (delay - self._middle())

    def _middle(self) -> float:
        """The weighted mean of the delays."""
        pairs = zip(self.weights, self.delays, strict=True)
        return math.fsum(w * d for w, d in pairs) / math.fsum(self.weights)

    def _slopes(self) -> list[float]:
        """What each time counts in ``k``, which is their weighted sum."""
        middle = self._middle()
        pairs = list(zip(self.weights, self.delays, strict=True))
        spread = math.fsum(w * (d - middle) ** 2 for w, d in pairs)
        return [w * (d - middle) / spread for w, d in pairs]

    def predict(self, T0: float | str, rtt: float | str, round_trips: float | None = None) -> Summary:  # noqa: N803
        """The time of another place: this law's k, its own time without delay and its users' round trip.

        Both as a text with its unit (``"12.3ms"``) or a number in ms; ``T0`` is taken as exact. ``round_trips`` are those
        of theory, which make the interval narrower where the law is bent: see `explains`. Raises UnitError, and
        SlownetError for a negative number.
        """
        start, delay = _milliseconds("T0", T0), _milliseconds("rtt", rtt)
        if round_trips is not None and self.explains(round_trips, delay):
            return self._off(round_trips, delay).plus(start + round_trips * delay)
        return self.k.scaled(delay).plus(start)

    def explains(self, round_trips: float, delay: float) -> bool:
        """Whether these round trips of theory tell more about a delay than a bent law does.

        The residuals of a few cells leave k nearly open (Student's t of 2 degrees of freedom is 4.3). Theory says k, and
        what is left is how far off the cells are: for a delay between measured ones whose intervals are known, and round
        trips that the law does not refute.
        """
        inside = self.delays[0] <= delay <= self.delays[-1]
        k = self.k
        return self.bent and inside and k.low <= round_trips <= k.high and all(time.known for time in self.times)

    def _off(self, k: float, delay: float) -> Summary:
        """How much later than k round trips an operation is at a delay: from what the cells on both sides are, or nothing
        at all, which is theory's own word, to as much more as a cell is off the line."""
        high = next(number for number, each in enumerate(self.delays) if each >= delay)
        low = high if self.delays[high] == delay else high - 1
        below, above = self._gap(k, low), self._gap(k, high)
        part = (delay - self.delays[low]) / (self.delays[high] - self.delays[low]) if high > low else 0.0
        mean = below.mean + part * (above.mean - below.mean)
        squares = math.fsum(each * each for each in self.residuals)
        usual = NormalDist().inv_cdf((1 + below.confidence) / 2) / NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        scatter = usual * math.sqrt(squares / (len(self.times) - 2))
        least, most = min(0.0, below.low, above.low) - scatter, max(0.0, below.high, above.high) + scatter
        return Summary(mean, least, most, sum(time.n for time in self.times), len(self.times) - 2, below.confidence)

    def _gap(self, k: float, number: int) -> Summary:
        """How much later than k round trips a cell is than the first one."""
        first, one = self.times[0], self.times[number]
        if not number:
            return Summary(0.0, 0.0, 0.0, first.n, first.degrees, first.confidence)
        return difference(one, first).plus(-k * (self.delays[number] - self.delays[0]))

    def lack_of_fit(self) -> LackOfFit:
        """Whether the points lie as near to the line as their own intervals say: see `LackOfFit`."""
        worst = max((abs(r) / abs(t.mean) for r, t in zip(self.residuals, self.times, strict=True) if t.mean), default=0.0)
        scatter = self._scatter
        return LackOfFit(scatter.f, max(0, scatter.degrees), scatter.within, scatter.p, worst)

    def straight(self) -> Law:
        """The same law with the points' own errors alone in its intervals: k is the slope of these points, bent or not.

        Such a slope is a number of its own (White, "Using least squares to approximate unknown regression functions", 1980;
        Buja and others, "Models as approximations I", 2019); that it is the round trips of any delay, only a line says.
        """
        return replace(self, bend=0.0)

    def endless(self) -> Law:
        """The law as endless repetitions leave it: points without errors, and the bend that is sure to stay."""
        exact = tuple(replace(time, low=time.mean, high=time.mean) for time in self.times)
        return replace(self, times=exact, bend=self._scatter.at_least)

    @cached_property
    def _scatter(self) -> Scatter:
        """How far the points lie off the line, beside what their own errors add."""
        total, middle = math.fsum(self.weights), self._middle()
        pairs = list(zip(self.weights, self.delays, strict=True))
        spread = math.fsum(w * (d - middle) ** 2 for w, d in pairs)
        shares = [w * max(0.0, 1 - w / total - w * (d - middle) ** 2 / spread) for w, d in pairs]
        squares = math.fsum(w * r * r for w, r in zip(self.weights, self._real_residuals(), strict=True))
        noise, within = None, 0.0
        if all(time.known for time in self.times):
            parts = ((time.error * math.sqrt(share), time.freedom) for time, share in zip(self.times, shares, strict=True))
            error, within = welch(*parts)
            noise = error * error
        return Scatter(squares, noise, within, math.fsum(shares), len(self.times) - 2)

    def _combine(self, factors: list[float], mean: float) -> Summary:
        """The interval of a weighted sum of the times: from their own errors (Satterthwaite's degrees of freedom), and from
        how far they lie off the line beside these, which takes three points: see `Scatter.half_width`.

        Each repetition draws the errors anew, so that many looks at them take a surer interval. The bend is drawn once for
        all looks, and takes no more than ``lasting``.
        """
        confidence, n = self.times[0].confidence, sum(time.n for time in self.times)
        lasting, factor = min(confidence, self.lasting), math.fsum(f * f for f in factors)
        scatter = self._scatter
        own, freedom = Summary(mean, mean, mean, n, None, confidence), float(scatter.degrees)
        if known := all(time.known for time in self.times):
            error, freedom = welch(*((abs(f) * t.error, t.freedom) for f, t in zip(factors, self.times, strict=True)))
            own = from_error(mean, error, n, freedom, confidence)
        if scatter.degrees < 1 and not known:
            return Summary(mean, -math.inf, math.inf, n, 0, confidence)
        if self.bend is None:
            half = scatter.half_width(factor, own.half_width, lasting)
        else:
            wide = t_quantile(scatter.degrees, lasting) if self.bend else 0.0
            half = math.hypot(own.half_width, wide * self.bend * math.sqrt(factor))
        if half > own.half_width and lasting == confidence:
            freedom = float(scatter.degrees)
        return Summary(mean, mean - half, mean + half, n, freedom, confidence)

    @cached_property
    def bent(self) -> bool:
        """Whether the points are further from the line than their own errors explain (1 % of straight ones are)."""
        p = self.lack_of_fit().p
        return not math.isnan(p) and p < SIGNIFICANT

    def bend_in_words(self) -> str:
        """The point that is furthest off the line, for people: "the law is bent by 2.1 ms at 10 ms"."""
        off, delay = max(zip(map(abs, self.residuals), self.delays, strict=True))
        return f"the law is bent by {off:.2g} ms at {delay:g} ms"

    def _real_residuals(self) -> list[float]:
        """The residuals, zero where they are no more than the rounding of a float."""
        floor = NOISE * max(abs(time.mean) for time in self.times)
        return [each if abs(each) > floor else 0.0 for each in self.residuals]


@dataclass(frozen=True)
class LackOfFit:
    """The test of a law's straightness: the points' distance from it against what varies within a point.

    ``f`` with its two degrees of freedom and ``p``, its tail; a small ``p`` says that the line does not fit. nan where
    two points, or points without an interval, cannot tell; ``f`` is inf and ``p`` 0 where exact points miss the line. A
    long measurement sees any bend, so judge by ``worst`` too: the largest residual as a part of its time.
    Source: Draper and Smith, "Applied regression analysis", 1998, 2.1; unequal errors as Brown and Forsythe, "The small sample
    behavior of some statistics which test the equality of several means", 1974, take them.
    """

    f: float
    degrees: float
    within: float
    p: float
    worst: float


def fit(points: Iterable[tuple[float, Summary]], lasting: float = 1.0) -> Law:
    """The law through measured times by weighted least squares.

    Parameters
    ----------
    points
        Pairs of a delay and the time there, both in one unit (ms).
    lasting
        The most confidence that is asked of the law's bend.

    Returns
    -------
    Law
        ``k`` in round trips per operation, ``t0`` in the points' unit.

    Raises
    ------
    SlownetError
        There are fewer than two different delays.

    Notes
    -----
    Weights are 1 / half width squared when every point has an interval of some width that rests on ``ENOUGH`` values or
    more, else equal: a weight guessed from few values is worse than none.
    Two points give the line through them.
    """
    pairs = sorted(points, key=lambda point: point[0])
    if len({delay for delay, _ in pairs}) < 2:
        given = ", ".join(f"{delay:g}" for delay, _ in pairs) or "none"
        raise SlownetError(f"no law from these delays: {given}", fix="measure at two different delays")
    delays, times = zip(*pairs, strict=True)
    if all(0 < time.half_width < math.inf and time.freedom >= ENOUGH for time in times):
        widest = max(time.half_width for time in times)
        return Law(delays, times, tuple((widest / time.half_width) ** 2 for time in times), lasting)
    return Law(delays, times, (1.0,) * len(times), lasting)


def _milliseconds(name: str, value: float | str) -> float:
    ms = duration(value) * 1000 if isinstance(value, str) else float(value)
    if not 0 <= ms < math.inf:
        raise SlownetError(f"{name} is {value} ms", "in a prediction", "give 0 or more")
    return ms
