"""Traces of satellite and mobile links that are drawn from published statistics: no recording is in them.

Starlink, of which the same is known from several places:

* G. Huston, "A transport protocol's view of Starlink", APNIC, 2024-05-17: a terminal changes its satellite at the seconds 12,
  27, 42 and 57 of each minute. The least round trip shifts then, at worst from 30 to 80 ms; round trips that follow each other
  differ by 6.7 ms on the mean; the change itself adds 30 to 50 ms; rates are between 10 and 370 Mbit/s.
* F. Michel and others, "A first look at Starlink performance", IMC 2022, and APNIC, 2022-11-28: round trips to servers in
  Europe have the quartiles 40, 50 and 60 ms; the least is 20 ms.
* M. M. Kassem and others, "A browser-side view of Starlink connectivity", IMC 2022: losses of up to 50 % at these changes.
* Ookla, "Above Maine, Starlink Twinkles", December 2024: medians of 116.77 Mbit/s down and 18.17 Mbit/s up.

Mobile networks, while one moves from cell to cell:

* Opensignal, "State of Mobile USA", May 2019: over the states of the USA, LTE has 12.1 to 32.9 Mbit/s down, 21.3 on the mean,
  and 6.3 up; delays between 44.1 and 66.4 ms.
* ITU-R M.2410-0 (2017) for 5G, as the named condition "5G": 100 Mbit/s down, 50 up, 8 ms. These are requirements, not measured.
* 5G/6G Academy, "Drive testing and benchmarking", lesson 12.3.5: a handover interrupts LTE for typically 30 to 80 ms within a
  frequency, 5G for 50 to 150 ms.
* B. Nguyen and others, "Towards understanding TCP performance on LTE/EPC mobile networks", 2014: a lossless handover delays
  what is sent meanwhile, a seamless one loses it.

How often one changes cells depends on one's speed and on the cells: who asks for such a trace states it. What else no source
gives: how long spikes and losses last at a change of satellites (here: 0.1 s), and the size of queues (here: one
bandwidth-delay product, or what a link has; for mobile networks what a full window needs to wait for the end of a handover).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from slownet.links.traces.mahimahi import FRAME
from slownet.links.traces.stepped import LONGEST_S, BothWays, Piece, Steps
from slownet.model.errors import TraceError, nearest
from slownet.model.units import duration, percent

TURN_S, FIRST_TURN_S = 15.0, 12.0
"""A terminal has a new satellite every 15 s, first at second 12: traces begin with a minute."""
LEAST_RTT_MS = (20.0, 34.5, 44.0, 51.0, 70.0)
"""A satellite's least round trip: minimum, quartiles, maximum. With the differences of round trips on top their quartiles are
40, 50 and 60 ms, and the least round trip shifts by 50 ms at worst."""
DIFFERENCE_MS = 6.7
"""The mean difference between successive round trips; also the mean of their exponential distribution."""
SPIKE_MS = (30.0, 50.0)
MOST_LOST = 0.5
DOWN_MBIT = (10.0, 116.77, 370.0)
"""The least rate, the median and the greatest one: a triangular distribution."""
UP_MBIT = 18.17


@dataclass(frozen=True)
class Cells:
    """Parameters of the cells of a mobile network and of handovers between them.

    rtt_ms, interruption_ms: the least and the greatest.
    down_mbit: the least, the mean and the greatest.
    """

    rtt_ms: tuple[float, float]
    down_mbit: tuple[float, float, float]
    up_mbit: float
    interruption_ms: tuple[float, float]


GENERATIONS = {
    "LTE": Cells((44.1, 66.4), (12.1, 21.3, 32.9), 6.3, (30.0, 80.0)),
    "5G": Cells((8.0, 8.0), (100.0, 100.0, 100.0), 50.0, (50.0, 150.0)),
}


def starlink(
    seed: int,
    *,
    length: str = "10min",
    step: str = "100ms",
    spike: str = "100ms",
    loss: str = "0%",
    vary_rate: bool = True,
) -> BothWays:
    """Draw a trace of a Starlink terminal.

    seed: the same seed gives the same trace.
    length, step: of the trace, from the beginning of a minute, and of the time in which nothing changes.
    spike: how long the round trip is longer and packets are lost at a change of satellites.
    loss: of each direction while the satellite stays the same, for which these sources have no number.
    vary_rate: whether satellites have different rates; otherwise each has the median.
    Raises UnitError, TraceError: a text is wrong, or the trace would be too long.
    """
    seconds, each, short = _length(length), duration(step), duration(spike)
    if not each or not 0 < short < FIRST_TURN_S:
        raise TraceError(
            f"a step of {step}, or a spike of {spike}", "trace of Starlink", "give more than 0 s, and less than 12s"
        )
    meanwhile, draw = percent(loss), Random(f"starlink {seed}")
    up: list[Piece] = []
    down: list[Piece] = []
    for start, end in _satellites(seconds):
        least = _quantile(draw.random(), LEAST_RTT_MS)
        mbit = _triangular(draw.random(), DOWN_MBIT[0], _mode(*DOWN_MBIT), DOWN_MBIT[2]) if vary_rate else DOWN_MBIT[1]
        for lasts, turning in _parts(start, end, each, short):
            rtt = least - DIFFERENCE_MS * math.log1p(-draw.random()) + (_between(draw.random(), SPIKE_MS) if turning else 0)
            lost = max(meanwhile, MOST_LOST * draw.random()) if turning else meanwhile
            up.append(Piece(lasts, UP_MBIT * 1e6, rtt / 2000, loss=lost))
            down.append(Piece(lasts, mbit * 1e6, rtt / 2000, loss=lost))
    return BothWays(Steps(tuple(up)), Steps(tuple(down)))


def _satellites(seconds: float) -> Iterator[tuple[float, float]]:
    """Yield from when to when each satellite serves."""
    start, end = 0.0, FIRST_TURN_S
    while start < seconds:
        yield start, min(end, seconds)
        start, end = end, end + TURN_S


def _parts(start: float, end: float, step: float, spike: float) -> Iterator[tuple[float, bool]]:
    """Yield the lengths of what does not change while a satellite serves, and whether it has just begun to."""
    left = end - start
    if start:
        yield min(spike, left), True
        left -= spike
    while left > 1e-9:
        yield min(step, left), False
        left -= step


def mobile(generation: str, seed: int, *, handover_every: str, length: str = "10min", lossless: bool = True) -> BothWays:
    """Draw a trace of a user who moves from cell to cell.

    generation: "LTE" or "5G".
    seed: the same seed gives the same trace.
    handover_every: the time from one handover to the next one: the distance between cells, divided by the user's speed.
    length: of the trace.
    lossless: whether what is sent during a handover waits for its end; otherwise it is lost.
    Raises UnitError, TraceError: a text is wrong, the generation is unknown, or the trace would be too long.
    """
    names = {name.lower(): name for name in GENERATIONS}
    if generation.lower() not in names:
        raise TraceError(f"no mobile network '{generation}'", "trace of a mobile network", nearest(generation, GENERATIONS))
    cells = GENERATIONS[names[generation.lower()]]
    seconds, stay, longest = _length(length), duration(handover_every), cells.interruption_ms[1] / 1000
    if stay <= longest:
        raise TraceError(f"a handover every {handover_every}", "trace of a mobile network", f"give more than {longest:g}s")
    draw = Random(f"{generation.lower()} {seed}")
    pairs = [pair for _ in range(max(1, round(seconds / stay))) for pair in _cell(cells, draw, stay, lossless)]
    return BothWays(*(Steps(tuple(way)) for way in zip(*pairs, strict=True)))


def _cell(cells: Cells, draw: Random, stay: float, lossless: bool) -> Iterator[tuple[Piece, Piece]]:
    """Yield both directions in a cell, and then during the handover to the next one."""
    rtt = _between(draw.random(), cells.rtt_ms) / 1000
    low, mean, high = cells.down_mbit
    down = _triangular(draw.random(), low, 3 * mean - low - high, high) * 1e6
    gap = _between(draw.random(), cells.interruption_ms) / 1000
    waiting = math.ceil(high * 1e6 * (cells.rtt_ms[1] + cells.interruption_ms[1]) / 1000 / 8 / FRAME)
    for seconds, factor, loss in ((stay - gap, 1.0, 0.0), (gap, 0.0, 0.0) if lossless else (gap, 1.0, 1.0)):
        yield (
            Piece(seconds, factor * cells.up_mbit * 1e6, rtt / 2, loss=loss, limit=waiting),
            Piece(seconds, factor * down, rtt / 2, loss=loss, limit=waiting),
        )


def _length(text: str) -> float:
    seconds = duration(text)
    if not 0 < seconds <= LONGEST_S:
        raise TraceError(f"a length of {text}", "synthetic trace", "give more than 0 s, and at most a week")
    return seconds


def _between(part: float, ends: tuple[float, float]) -> float:
    return ends[0] + part * (ends[1] - ends[0])


def _quantile(part: float, knots: Sequence[float]) -> float:
    """Return a quantile of a distribution that is uniform between quantiles at equal distances."""
    place = part * (len(knots) - 1)
    below = min(int(place), len(knots) - 2)
    return _between(place - below, (knots[below], knots[below + 1]))


def _mode(low: float, median: float, high: float) -> float:
    """Return the mode of a triangular distribution whose median is above its mode."""
    return high - 2 * (high - median) ** 2 / (high - low)


def _triangular(part: float, low: float, mode: float, high: float) -> float:
    """Return a quantile of a triangular distribution."""
    if low == high:
        return low
    if part * (high - low) < mode - low:
        return low + math.sqrt(part * (high - low) * (mode - low))
    return high - math.sqrt((1 - part) * (high - low) * (high - mode))
