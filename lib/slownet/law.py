"""The law ``T(d) = T0 + k * d``: time per operation against added round-trip delay.

``k`` is round trips per operation and belongs to the protocol; ``T0`` belongs to the machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from slownet.errors import SlownetError
from slownet.stats import Summary, t_quantile

MSS = 1448  # 1500 B Ethernet less IPv4 (20), TCP (20) and the timestamp option (12)
INITIAL_WINDOW = 10  # segments, RFC 6928
NOISE = 1e-12  # a relative misfit below this is floating point, not measurement


@dataclass(frozen=True)
class Law:
    """A straight line through measured times; make it with ``fit``.

    ``delays``, ``times`` and the results are in one unit (ms); ``k`` has none.
    """

    delays: tuple[float, ...]
    times: tuple[Summary, ...]
    weights: tuple[float, ...]

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

    def _combine(self, factors: list[float], mean: float) -> Summary:
        """The interval of a weighted sum of the times: the wider of two.

        One is propagated from the points' own intervals (Zou and Donner, 2008: half widths add in
        quadrature), the other is the t interval from the residuals, which needs three points or more.
        """
        halves: list[float] = []
        if all(time.known for time in self.times):
            halves.append(math.hypot(*(f * t.half_width for f, t in zip(factors, self.times, strict=True))))
        degrees = len(self.times) - 2
        if degrees > 0:
            misfit = [w * r * r for w, r in zip(self.weights, self._real_residuals(), strict=True)]
            spread = math.fsum(f * f / w for f, w in zip(factors, self.weights, strict=True))
            error = math.sqrt(math.fsum(misfit) / degrees * spread)
            halves.append(t_quantile(degrees) * error if error else 0.0)
        half = max(halves, default=math.inf)
        return Summary(mean, mean - half, mean + half, sum(time.n for time in self.times))

    def _real_residuals(self) -> list[float]:
        """The residuals, zero where they are no more than the rounding of a float."""
        floor = NOISE * max(abs(time.mean) for time in self.times)
        return [each if abs(each) > floor else 0.0 for each in self.residuals]


def fit(points: Iterable[tuple[float, Summary]]) -> Law:
    """The law through ``(delay, time)`` points by weighted least squares.

    Weights are 1 / half width squared when every point has an interval of some width, else equal.
    Two points give the line through them. Raises SlownetError with fewer than two different delays.
    """
    pairs = sorted(points, key=lambda point: point[0])
    if len({delay for delay, _ in pairs}) < 2:
        given = ", ".join(f"{delay:g}" for delay, _ in pairs) or "none"
        raise SlownetError(f"no law from these delays: {given}", fix="measure at two different delays")
    delays, times = zip(*pairs, strict=True)
    if all(0 < time.half_width < math.inf for time in times):
        widest = max(time.half_width for time in times)
        return Law(delays, times, tuple((widest / time.half_width) ** 2 for time in times))
    return Law(delays, times, (1.0,) * len(times))


def round_trips(size_bytes: int, new_connection: bool = True, initial_window: int = INITIAL_WINDOW, mss: int = MSS) -> int:
    """Round trips of one request whose response has ``size_bytes``, from slow start alone.

    A new connection pays one round trip for the handshake; then the server's window, ``initial_window``
    segments of ``mss`` bytes, doubles each round trip (RFC 5681, RFC 6928). A connection that is kept
    alive and warm has grown its window already: 1. No loss, no delayed ACK that halves the growth.
    """
    _at_least("size_bytes", size_bytes, 0)
    _at_least("initial_window", initial_window, 1)
    _at_least("mss", mss, 1)
    if not new_connection:
        return 1
    flights, window = 1, initial_window
    left = math.ceil(size_bytes / mss) - window
    while left > 0:
        window *= 2
        left -= window
        flights += 1
    return 1 + flights


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise SlownetError(f"{name} is {value}", "in round_trips", f"give {least} or more")
