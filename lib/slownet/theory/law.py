"""The law ``T(d) = T0 + k * d``: time per operation against added round-trip delay.

``k`` is round trips per operation and belongs to the protocol (`slownet.theory.slow_start` computes that of a response); ``T0``
belongs to the machine.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.units import duration, milliseconds_of, unit_of
from slownet.theory.slow_start import round_trips as round_trips
from slownet.theory.stats import CONFIDENCE, LackOfFit, Scatter, Summary, difference, from_error, t_quantile, welch, z_quantile
from slownet.theory.stats.paired import error_of_residuals, error_of_sum, of_common_boots

NOISE = 1e-12  # a relative residual below this is floating-point rounding
ENOUGH = 10  # degrees of freedom
SIGNIFICANT = 0.01


_PER_ROUND_TRIP = {"rtt_ms": 1.0, "delay_ms": 2.0, "delay_up_ms": 1.0, "delay_down_ms": 1.0}


def per_round_trip(condition: str) -> float | None:
    """Return how many ms a round trip gains by each ms of a condition; None if it is not a delay of a link.

    condition: with its unit, and the host that its link belongs to if there is one: ``"rtt_ms"``, ``"db:delay_ms"``.
    returns: 2 for a delay in each direction.
    """
    return _PER_ROUND_TRIP.get(condition.rpartition(":")[2])


def trip(along: str) -> float:
    """Return how many ms a round trip gains by each ms of a condition; 1 of one that is not a link's."""
    return per_round_trip(along) or 1.0


def milliseconds(metric: str) -> float:
    """Return how many ms the unit of a time is. Raises ExperimentError for a metric in another unit; one without is in ms."""
    found = milliseconds_of(metric)
    unit = "per second" if metric.endswith("_per_second") else unit_of(metric)
    if found is None and unit:
        said = "a rate" if unit == "per second" else f"in {unit}"
        raise ExperimentError(f"{metric} is {said}, not a time", fix="round trips are of times, such as page_ms")
    return found or 1.0


@dataclass(frozen=True)
class Law:
    """A straight line through measured times, made by `fit`.

    Parameters
    ----------
    delays : tuple of float
        Added round-trip delays in ms, rising.
    times : tuple of Summary
        The time per operation at each delay, in ms.
    weights : tuple of float
        The weight of each point in the fit.
    lasting : float
        Upper limit of the confidence of the part of an interval that comes from the bend. The bend is the same in every
        analysis of the same cells, so it needs no correction for repeated analyses.
    bend : float, optional
        Standard deviation of the points around the line, in ms; estimated from the points unless given.
    late : tuple of float
        By how many ms each time may be longer because processors woke late, or a paint waited for its frame; by nothing unless
        given. No repetition tells that from a longer operation, so intervals contain both, and a step that it explains is not
        a bend.
    """

    delays: tuple[float, ...]
    times: tuple[Summary, ...]
    weights: tuple[float, ...]
    lasting: float = 1.0
    bend: float | None = None
    late: tuple[float, ...] = ()

    @property
    def k(self) -> Summary:
        """Round trips per operation."""
        slopes = self._slopes()
        return self._combine(slopes, math.fsum(b * t.mean for b, t in zip(slopes, self.times, strict=True)))

    @property
    def t0(self) -> Summary:
        """Time per operation without added delay, in ms. Its interval does not go below 0: no time does."""
        found = self.at(0.0)
        return replace(found, low=max(0.0, found.low)) if found.known and found.mean >= 0 else found

    @property
    def residuals(self) -> tuple[float, ...]:
        """Measured minus fitted time of each point, in ms."""
        pairs = zip(self.delays, self.times, strict=True)
        return tuple(time.mean - self._value(delay) for delay, time in pairs)

    def at(self, delay: float) -> Summary:
        """Return the fitted time in ms at a delay in ms."""
        return self._combine(self._line(delay), self._value(delay))

    def distance(self, delay: float) -> Summary:
        """Return by how much the time at a measured delay is off the line, in ms, with the interval of errors alone."""
        number = self.delays.index(delay)
        factors = [(number == other) - each for other, each in enumerate(self._line(delay))]
        off, time = self.residuals[number], self.times[number]
        if not all(each.known for each in self.times):
            return Summary(off, -math.inf, math.inf, time.n, 0, time.confidence)
        error, df_or_default = self._error(factors)
        return from_error(off, error, time.n, df_or_default, time.confidence)

    def _line(self, delay: float) -> list[float]:
        """Return the factors of the times in the line's value at a delay, which is their weighted sum."""
        total, middle = math.fsum(self.weights), self._middle()
        return [w / total + slope * (delay - middle) for w, slope in zip(self.weights, self._slopes(), strict=True)]

    def _value(self, delay: float) -> float:
        weighted = math.fsum(w * t.mean for w, t in zip(self.weights, self.times, strict=True))
        slope = math.fsum(b * t.mean for b, t in zip(self._slopes(), self.times, strict=True))
        return weighted / math.fsum(self.weights) + slope * (delay - self._middle())

    def _middle(self) -> float:
        """Return the weighted mean of the delays."""
        pairs = zip(self.weights, self.delays, strict=True)
        return math.fsum(w * d for w, d in pairs) / math.fsum(self.weights)

    def _slopes(self) -> list[float]:
        """Return the factors of the times in ``k``, which is their weighted sum."""
        middle = self._middle()
        pairs = list(zip(self.weights, self.delays, strict=True))
        spread = math.fsum(w * (d - middle) ** 2 for w, d in pairs)
        return [w * (d - middle) / spread for w, d in pairs]

    def predict(self, T0: float | str, rtt: float | str, round_trips: float | None = None) -> Summary:  # noqa: N803
        """Predict the time per operation at another site, from this law's k and the site's T0 and round trip.

        Parameters
        ----------
        T0 : float or str
            The site's time without delay: a number of ms or a text with a unit (``"12.3ms"``), taken as exact.
        rtt : float or str
            The round trip of the site's users, likewise.
        round_trips : float, optional
            The theoretical k; it makes the interval narrower if the law is bent: see `explains`.

        Returns
        -------
        Summary
            In ms.

        Raises
        ------
        UnitError
            A text has no unit.
        SlownetError
            A number is negative.
        """
        start, delay = _milliseconds("T0", T0), _milliseconds("rtt", rtt)
        if round_trips is not None and self.explains(round_trips, delay):
            return self._off(round_trips, delay).plus(start + round_trips * delay)
        return self.k.scaled(delay).plus(start)

    def explains(self, round_trips: float, delay: float) -> bool:
        """Decide whether theoretical round trips predict the time at a delay better than this law does.

        Parameters
        ----------
        round_trips : float
            The theoretical k.
        delay : float
            In ms.

        Returns
        -------
        bool
            True if the law is bent, the delay lies between measured ones, all intervals are known, and the law does not
            refute ``round_trips``.

        Notes
        -----
        The residuals of a few cells determine k poorly (Student's t is 4.3 with 2 degrees of freedom). If theory gives k,
        only the distance of the cells from its line is uncertain.
        """
        inside = self.delays[0] <= delay <= self.delays[-1]
        k = self.k
        return self.bent and inside and k.low <= round_trips <= k.high and all(time.known for time in self.times)

    def _off(self, k: float, delay: float) -> Summary:
        """Estimate how much longer than k round trips an operation takes at a delay.

        Interpolated between the neighbouring cells; the interval contains theirs and 0 (theory), widened by the scatter of
        the cells around the line.
        """
        high = next(number for number, each in enumerate(self.delays) if each >= delay)
        low = high if self.delays[high] == delay else high - 1
        below, above = self._gap(k, low), self._gap(k, high)
        part = (delay - self.delays[low]) / (self.delays[high] - self.delays[low]) if high > low else 0.0
        mean = below.mean + part * (above.mean - below.mean)
        squares = math.fsum(each * each for each in self.residuals)
        usual = z_quantile(below.confidence) / z_quantile(CONFIDENCE)
        scatter = usual * math.sqrt(squares / (len(self.times) - 2))
        least, most = min(0.0, below.low, above.low) - scatter, max(0.0, below.high, above.high) + scatter
        return Summary(mean, least, most, sum(time.n for time in self.times), len(self.times) - 2, below.confidence)

    def _gap(self, k: float, number: int) -> Summary:
        """Return the time of a cell minus that of the first one and k round trips."""
        first, one = self.times[0], self.times[number]
        if not number:
            return Summary(0.0, 0.0, 0.0, first.n, first.df, first.confidence)
        return difference(one, first).plus(-k * (self.delays[number] - self.delays[0]))

    def lack_of_fit(self) -> LackOfFit:
        """Test whether the points deviate from the line by more than their own intervals explain: see `LackOfFit`."""
        worst = max((abs(r) / abs(t.mean) for r, t in zip(self.residuals, self.times, strict=True) if t.mean), default=0.0)
        scatter = self._scatter
        return LackOfFit(scatter.f, max(0, scatter.df), scatter.within, scatter.p, worst)

    def punctual(self) -> Law:
        """Return it with nothing late: straight if what is late shows how far its points are off the line."""
        return replace(self, late=(), bend=self.bend if self.bent else 0.0) if any(self.late) else self

    def straight(self) -> Law:
        """Return the law with intervals from the points' own errors only: k is the slope of these points, bent or not.

        Such a slope is meaningful by itself (White, "Using least squares to approximate unknown regression functions", 1980;
        Buja and others, "Models as approximations I", 2019), but it is the round trips at every delay only if the law is
        straight.
        """
        return replace(self, bend=0.0)

    def endless(self) -> Law:
        """Return the law that infinitely many repetitions would leave: points without errors, and the proven bend."""
        exact = tuple(replace(time, low=time.mean, high=time.mean) for time in self.times)
        return replace(self, times=exact, bend=self._scatter.at_least)

    @cached_property
    def _scatter(self) -> Scatter:
        """The scatter of the points around the line beyond their own errors."""
        total, middle = math.fsum(self.weights), self._middle()
        pairs = list(zip(self.weights, self.delays, strict=True))
        spread = math.fsum(w * (d - middle) ** 2 for w, d in pairs)
        shares = [w * max(0.0, 1 - w / total - w * (d - middle) ** 2 / spread) for w, d in pairs]
        squares = math.fsum(w * r * r for w, r in zip(self.weights, self._real_residuals(), strict=True))
        noise, within = None, 0.0
        if all(time.known for time in self.times):
            error, within = self._error_of_residuals(shares)
            noise = error * error
        return Scatter(squares, noise, within, math.fsum(shares), len(self.times) - 2)

    def _combine(self, factors: list[float], mean: float) -> Summary:
        """Return a weighted sum of the times with its interval.

        The interval comes from the points' own errors (Satterthwaite's degrees of freedom) and, with three points or more,
        from their distance to the line: see `Scatter.half_width`. Each repetition has new errors, so repeated analyses need a
        higher confidence; the bend stays the same and needs no more than ``lasting``.
        """
        confidence, n = self.times[0].confidence, sum(time.n for time in self.times)
        lasting, factor = min(confidence, self.lasting), math.fsum(f * f for f in factors)
        scatter = self._scatter
        own, df_or_default = Summary(mean, mean, mean, n, None, confidence), float(scatter.df)
        if known := all(time.known for time in self.times):
            error, df_or_default = self._error(factors)
            own = from_error(mean, error, n, df_or_default, confidence)
        if scatter.df < 1 and not known:
            return Summary(mean, -math.inf, math.inf, n, 0, confidence)
        if self.bend is None:
            half = scatter.half_width(factor, own.half_width, lasting)
        else:
            wide = t_quantile(scatter.df, lasting) if self.bend else 0.0
            half = math.hypot(own.half_width, wide * self.bend * math.sqrt(factor))
        if half > own.half_width and lasting == confidence:
            df_or_default = float(scatter.df)
        late = [f * ms for f, ms in zip(factors, self.late, strict=False)]
        early, later = (math.fsum(max(0.0, sign * each) for each in late) for sign in (1, -1))
        return Summary(mean, mean - half - early, mean + half + later, n, df_or_default, confidence)

    @cached_property
    def _boots(self) -> dict[Hashable, tuple[float, ...]]:
        """The times by boot, if all were measured in the same boots and are paired in them: `slownet.theory.stats.paired`."""
        same = all(time.boots.keys() == self.times[0].boots.keys() for time in self.times)
        return of_common_boots(*(time.boots for time in self.times)) if same else {}

    def _error(self, factors: Sequence[float]) -> tuple[float, float]:
        """Return the standard error of a weighted sum of the times, and its degrees of freedom."""
        if self._boots:
            return error_of_sum(self._boots, factors)
        return welch(*((abs(f) * t.error, t.df_or_default) for f, t in zip(factors, self.times, strict=True)))

    def _error_of_residuals(self, shares: Sequence[float]) -> tuple[float, float]:
        """Return the root of what the points' errors contribute to the weighted squares of residuals; see `_error`."""
        if not self._boots:
            return welch(*((t.error * math.sqrt(share), t.df_or_default) for t, share in zip(self.times, shares, strict=True)))
        return error_of_residuals(self._boots, self.weights, [self._line(delay) for delay in self.delays])

    @cached_property
    def bent(self) -> bool:
        """True if the points deviate significantly (1 %) from the line."""
        p = self.lack_of_fit().p
        return not math.isnan(p) and p < SIGNIFICANT

    @property
    def furthest(self) -> tuple[float, float]:
        """The largest distance of a point from the line, in ms, and the point's delay in ms."""
        return max(zip(map(abs, self.residuals), self.delays, strict=True))

    def is_bent_beyond(self, slack_ms: float) -> bool:
        """Return whether the points are significantly off the line, and one of them by more than that many ms."""
        return self.bent and self.furthest[0] > slack_ms

    def _real_residuals(self) -> list[float]:
        """Return the residuals without what is late, which is up to half of it above or below the line, or rounding."""
        floor = NOISE * max(abs(time.mean) for time in self.times)
        late = self.late or (0.0,) * len(self.times)
        real = (math.copysign(max(0.0, abs(off) - part / 2), off) for off, part in zip(self.residuals, late, strict=True))
        return [each if abs(each) > floor else 0.0 for each in real]


def fit(points: Iterable[tuple[float, Summary]], lasting: float = 1.0) -> Law:
    """Fit the law to measured times by weighted least squares.

    Parameters
    ----------
    points : iterable of (float, Summary)
        Pairs of an added round-trip delay and the time at it, both in ms.
    lasting : float
        Upper limit of the confidence of the bend's part: see `Law`.

    Returns
    -------
    Law
        With ``k`` in round trips per operation and ``t0`` in ms.

    Raises
    ------
    SlownetError
        There are fewer than two different delays.

    Notes
    -----
    Weights are 1 / half width squared if every point has an interval of finite, nonzero width with at least 10 degrees of
    freedom. Otherwise they are equal: weights estimated from few values are worse than none. Two points give the line through
    them.
    """
    pairs = sorted(points, key=lambda point: point[0])
    if len({delay for delay, _ in pairs}) < 2:
        measured = f"only one delay was measured, {pairs[0][0]:g} ms" if pairs else "no delay was measured"
        raise SlownetError(measured, fix="measure at two different delays")
    delays, times = zip(*pairs, strict=True)
    if all(0 < time.half_width < math.inf and time.df_or_default >= ENOUGH for time in times):
        widest = max(time.half_width for time in times)
        return Law(delays, times, tuple((widest / time.half_width) ** 2 for time in times), lasting)
    return Law(delays, times, (1.0,) * len(times), lasting)


def _milliseconds(name: str, value: float | str) -> float:
    ms = duration(value) * 1000 if isinstance(value, str) else float(value)
    if not 0 <= ms < math.inf:
        raise SlownetError(f"{name} is {value} ms", "in a prediction", "give 0 or more")
    return ms
