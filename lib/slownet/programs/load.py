"""Load at a constant rate: when each request should go, and what is recorded of it. Pure; the sockets are in ``loader``.

Coordinated omission: a client that waits for an answer before it asks again asks nothing while the server stalls, so the
stall is one slow request to it. Measured from when each request *should* have gone, it is what every user meets
(Gil Tene, "How not to measure latency", 2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

from slownet.errors import SlownetError

PERCENTILES = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99)
LONGEST_US = 3_600_000_000
DIGITS = 3
MOST_CONNECTIONS = 1000
BATCHES = 20
"""Parts of a load's time whose rates say how its rate varies: ten to thirty are enough to see that, and long enough to be
nearly independent (Schmeiser, "Batch size effects in the analysis of simulation output", 1982)."""
TICKS = 5
"""Steps of the spectrum for each halving of what is left up to 100 %, as wrk2 prints it."""


@dataclass(frozen=True)
class Schedule:
    """Requests at a constant rate, in turns over the connections; seconds from the start.

    rate: requests a second of all connections together; seconds: how long requests are planned for.
    """

    rate: float
    seconds: float
    connections: int = 1

    def __post_init__(self) -> None:
        for name in ("rate", "seconds", "connections"):
            if not getattr(self, name) > 0:
                raise SlownetError(f"{name} is {getattr(self, name):g}", "in a load", "give more than 0")
        if self.connections > MOST_CONNECTIONS:
            raise SlownetError(
                f"{self.connections} connections", "in a load", f"select(2) waits for {MOST_CONNECTIONS} at most"
            )

    @property
    def count(self) -> int:
        """How many requests are planned."""
        return round(self.rate * self.seconds)

    def of(self, connection: int) -> Iterator[float]:
        """When the requests of one connection should go."""
        return (number / self.rate for number in range(connection, self.count, self.connections))


def histogram() -> HdrHistogram:
    """A microsecond to an hour, three significant digits."""
    return HdrHistogram(1, LONGEST_US, DIGITS)


@dataclass
class Recording:
    """Both latencies of the same requests: ``corrected`` from the planned time, ``uncorrected`` from the real one."""

    corrected: HdrHistogram = field(default_factory=histogram)
    uncorrected: HdrHistogram = field(default_factory=histogram)
    done: list[float] = field(default_factory=list)

    def answered(self, planned: float | None, sent: float, done: float) -> None:
        """One request, in seconds on one clock; planned None: nobody knows, so it is in the uncorrected ones only."""
        if planned is not None:
            self.corrected.record_value(_us(done - planned))
        self.uncorrected.record_value(_us(done - sent))
        self.done.append(done)

    def batches(self, seconds: float) -> list[float]:
        """Answers a second in each of ``BATCHES`` parts of that time from the start; none where they are too few to say."""
        if seconds <= 0 or len(self.done) < BATCHES:
            return []
        counts = [0] * BATCHES
        for each in self.done:
            counts[min(BATCHES - 1, int(BATCHES * each / seconds))] += 1
        return [count * BATCHES / seconds for count in counts]

    def to_json(self) -> dict[str, Any]:
        """Both as ``told`` tells them."""
        return {"corrected": told(self.corrected), "uncorrected": told(self.uncorrected)}


def told(one: HdrHistogram) -> dict[str, Any]:
    """A histogram in seconds: count, mean, sd, min, max, ``percentiles`` and the ``spectrum``, and itself (``hdr``,
    HdrHistogram's own encoding)."""
    count = one.get_total_count()
    if not count:
        return {"count": 0}
    mean, sd = mean_and_sd(one)
    return {
        "count": count,
        "mean": mean / 1e6,
        "sd": sd / 1e6,
        "min": one.get_min_value() / 1e6,
        "max": one.get_max_value() / 1e6,
        "percentiles": {f"{each:g}": one.get_value_at_percentile(each) / 1e6 for each in PERCENTILES},
        "spectrum": spectrum(one),
        "hdr": one.encode().decode(),
    }


def mean_and_sd(one: HdrHistogram) -> tuple[float, float]:
    """As HdrHistogram's own functions have them, in one walk over its counters instead of three."""
    found = [(one.get_value_from_index(index), count) for index, count in enumerate(one.counts) if count]
    values = [(value + (one.get_highest_equivalent_value(value) - value + 1 >> 1), count) for value, count in found]
    mean = sum(value * count for value, count in values) / one.get_total_count()
    return mean, math.sqrt(sum((value - mean) ** 2 * count for value, count in values) / one.get_total_count())


def spectrum(one: HdrHistogram) -> list[tuple[float, float, int]]:
    """(seconds, part of the requests up to there, how many they are), finer and finer towards the end."""
    return [
        (each.value_iterated_to / 1e6, each.percentile_level_iterated_to / 100, each.total_count_to_this_value)
        for each in one.get_percentile_iterator(TICKS)
    ]


def _us(seconds: float) -> int:
    return min(LONGEST_US, max(1, round(seconds * 1e6)))


def stalled(rate: float, good_s: float, latency_s: float, stall_s: float) -> Recording:
    """Tene's thought experiment by arithmetic: a good while, then a stall, asked at a constant rate by somebody who does
    not wait (corrected) and by one client that does (uncorrected)."""
    recording = Recording()
    good, missed = round(rate * good_s), round(rate * stall_s)
    recording.corrected.record_value(_us(latency_s), good)
    recording.uncorrected.record_value(_us(latency_s), good)
    for number in range(missed):
        recording.corrected.record_value(_us(max(latency_s, stall_s - number / rate)))
    recording.uncorrected.record_value(_us(stall_s))
    return recording
