"""Load at a constant rate: the plan of the requests, and the recording of their latencies. The sockets are in ``loader``.

Coordinated omission: a client that waits for an answer before its next request sends nothing while the server stalls, so it
sees the stall as one slow request. Latencies measured from the time when each request *should* have been sent are what
users experience (Gil Tene, "How not to measure latency", 2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Required, TypedDict

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

from slownet.model.errors import SlownetError, above_zero

PERCENTILES = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99)
LONGEST_US = 3_600_000_000
DIGITS = 3
MOST_CONNECTIONS = 1000
BATCHES = 20
"""Number of parts of a load's time that show how its rate varies: with ten to thirty, they are enough for an estimate and long
enough to be nearly independent (Schmeiser, "Batch size effects in the analysis of simulation output", 1982)."""
TICKS = 5
"""Steps of the spectrum per halving of the distance to 100 %, like wrk2's output."""


class Histogram(TypedDict, total=False):
    """Latencies in seconds; only ``count`` if none exist."""

    count: Required[int]
    mean: float
    sd: float
    min: float
    max: float
    percentiles: dict[str, float]
    spectrum: list[tuple[float, float, int]]
    hdr: str
    """The histogram itself in HdrHistogram's encoding."""


class Latencies(TypedDict):
    """Latencies from when requests were due, and from when they were sent."""

    corrected: Histogram
    uncorrected: Histogram


@dataclass(frozen=True)
class Schedule:
    """Requests at a constant rate, distributed round-robin over the connections; times in seconds from the start.

    rate: requests per second of all connections together; seconds: the length of the plan.
    """

    rate: float
    seconds: float
    connections: int = 1

    def __post_init__(self) -> None:
        above_zero("a load", rate=self.rate, seconds=self.seconds, connections=self.connections)
        if self.connections > MOST_CONNECTIONS:
            raise SlownetError(
                f"{self.connections} connections", "in a load", f"select(2) can wait for {MOST_CONNECTIONS} at most"
            )

    @property
    def count(self) -> int:
        """The number of planned requests."""
        return round(self.rate * self.seconds)

    def of(self, connection: int) -> Iterator[float]:
        """Yield the times when the requests of one connection should be sent."""
        return (number / self.rate for number in range(connection, self.count, self.connections))


def histogram() -> HdrHistogram:
    """Return an empty histogram: a microsecond to an hour, three significant digits."""
    return HdrHistogram(1, LONGEST_US, DIGITS)


@dataclass
class Recording:
    """Two latencies of each request: ``corrected`` from the planned time, ``uncorrected`` from when it was sent."""

    corrected: HdrHistogram = field(default_factory=histogram)
    uncorrected: HdrHistogram = field(default_factory=histogram)
    done: list[float] = field(default_factory=list)

    def answered(self, planned: float | None, sent: float, done: float) -> None:
        """Record a request, times in seconds on one clock; one whose planned time is unknown is only recorded uncorrected."""
        if planned is not None:
            self.corrected.record_value(_us(done - planned))
        self.uncorrected.record_value(_us(done - sent))
        self.done.append(done)

    def batches(self, seconds: float) -> list[float]:
        """Return the answers per second in each of ``BATCHES`` parts of the time; empty if there are too few answers."""
        if seconds <= 0 or len(self.done) < BATCHES:
            return []
        counts = [0] * BATCHES
        for each in self.done:
            counts[min(BATCHES - 1, int(BATCHES * each / seconds))] += 1
        return [count * BATCHES / seconds for count in counts]

    def to_json(self) -> Latencies:
        """Return both histograms as ``summary`` does."""
        return {"corrected": summary(self.corrected), "uncorrected": summary(self.uncorrected)}


def summary(one: HdrHistogram) -> Histogram:
    """Return a histogram's numbers in seconds: count, mean, sd, min, max, ``percentiles`` and ``spectrum``.

    ``hdr`` is the histogram itself in HdrHistogram's encoding.
    """
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
    """Return the same as HdrHistogram's own functions, in one pass over its counters instead of three."""
    found = [(one.get_value_from_index(index), count) for index, count in enumerate(one.counts) if count]
    values = [(value + (one.get_highest_equivalent_value(value) - value + 1 >> 1), count) for value, count in found]
    mean = sum(value * count for value, count in values) / one.get_total_count()
    return mean, math.sqrt(sum((value - mean) ** 2 * count for value, count in values) / one.get_total_count())


def spectrum(one: HdrHistogram) -> list[tuple[float, float, int]]:
    """Return (seconds, share of the requests up to there, their number), in smaller and smaller steps towards the end."""
    return [
        (each.value_iterated_to / 1e6, each.percentile_level_iterated_to / 100, each.total_count_to_this_value)
        for each in one.get_percentile_iterator(TICKS)
    ]


def _us(seconds: float) -> int:
    return min(LONGEST_US, max(1, round(seconds * 1e6)))


def stalled(rate: float, good_s: float, latency_s: float, stall_s: float) -> Recording:
    """Compute Tene's thought experiment: normal answers, then a stall, with requests at a constant rate.

    ``corrected`` is for a client that does not wait for answers, ``uncorrected`` for one that does.
    """
    recording = Recording()
    good, missed = round(rate * good_s), round(rate * stall_s)
    recording.corrected.record_value(_us(latency_s), good)
    recording.uncorrected.record_value(_us(latency_s), good)
    for number in range(missed):
        recording.corrected.record_value(_us(max(latency_s, stall_s - number / rate)))
    recording.uncorrected.record_value(_us(stall_s))
    return recording
