"""When ``wrk2`` sends its requests and what it then prints: theory, from its source, without running it.

Each thread connects its first connection at once and each further one 5 ms after the one before. A connection's requests are
due at equal distances from when its own connecting began. Timers count whole milliseconds, so a request is sent up to 2 ms
after it was due: at the end of that millisecond, and up to one more late because the wait itself is rounded, too. After a stall
a connection sends at most twice as fast as it should, counted from the last request that was due in time, until it is back on
its plan. After 10 s and 5 ms for each of its connections a thread empties its tables (``thread_main``, ``calibrate``,
``usec_to_next_send`` and ``response_complete`` in ``wrk.c``; ``aeProcessEvents`` in ``ae.c``, giltene/wrk2 44a94c1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

CALIBRATION_S = 10.0
"""A thread calibrates itself for this long, and for `STAGGER_S` for each of its connections (CALIBRATE_DELAY_MS)."""
STAGGER_S = 0.005
"""A thread's connections begin this far apart."""
LOST_S = 1.0
"""If a thread's first timer is a millisecond late, its event loop sleeps until this long after its start first."""
SENT_LATE_S = 0.002
"""A request is sent at most this long after it was due, by a processor that is free."""


@dataclass(frozen=True)
class Plan:
    """The timetable of one ``wrk2`` command, in seconds from its start.

    rate: requests per second of all connections together (``-R``).
    seconds: duration of the test (``-d``), calibration included.
    connections, threads: connections, and the threads that share them (``-c``, ``-t``). wrk2 leaves out the rest of their
        division.
    """

    rate: float
    seconds: float
    connections: int = 10
    threads: int = 2

    @property
    def of_thread(self) -> int:
        """The number of connections of each thread."""
        return self.connections // self.threads

    @property
    def calibrated_s(self) -> float:
        """When the threads have calibrated themselves; latencies before that do not count."""
        return CALIBRATION_S + STAGGER_S * self.of_thread

    @property
    def interval_s(self) -> float:
        """The time between two requests of one connection."""
        return self.of_thread * self.threads / self.rate

    def starts(self, *, lost: bool = False) -> list[float]:
        """Return when the connections of one thread begin; ``lost``: if its event loop slept first, see `LOST_S`."""
        return [max(STAGGER_S * number, LOST_S if lost else 0.0) for number in range(self.of_thread)]

    def mean_start(self, losing: int = 0) -> float:
        """Return when the connections begin on average, if the event loops of so many threads slept first."""
        late, on_time = (sum(self.starts(lost=lost)) / self.of_thread for lost in (True, False))
        return (losing * late + (self.threads - losing) * on_time) / self.threads

    def most_requests(self, seconds: float) -> int:
        """Return how many requests are due in that time at most, if all connections begin at once, as in older versions."""
        return self.threads * self.of_thread * (int(seconds / self.interval_s + 1e-9) + 1)

    def started(self, requests: int, seconds: float, longest: float) -> float:
        """Return when the connections began on average, which wrk2 does not print.

        requests: requests that were answered.
        seconds: duration of the test.
        longest: the longest corrected latency.
        returns: of the starts that the plan knows (and 0, from older versions) the one nearest to what the numbers leave: at
            the end the connections are behind their plans by the longest latency at most, and by just that under an overload.
        """
        left = seconds - requests / self.rate + self.interval_s / 2 - longest  # each has half an interval to go on average
        known = (0.0, *map(self.mean_start, range(self.threads + 1)))
        return min(known, key=lambda start: (abs(start - left), start))


@dataclass(frozen=True)
class Stall:
    """A server on a link that answers after a round trip, but pauses once; times in seconds from the start of the test."""

    rtt: float
    after: float = math.inf
    seconds: float = 0.0

    def answer(self, sent: float) -> float:
        """Return when the answer to a request arrives."""
        there = sent + self.rtt / 2
        if self.after <= there < self.after + self.seconds:
            there = self.after + self.seconds
        return there + self.rtt / 2


def latencies(plan: Plan, server: Stall, *, sent_late: float) -> tuple[list[float], list[float]]:
    """Compute the latencies that wrk2 counts.

    plan: the command.
    server: the server, which answers all connections at the same time.
    sent_late: how long after it was due each request is sent: 0 to `SENT_LATE_S`, which bound what the rounding of timers does.
    returns: in seconds, in rising order: corrected, from when requests were due, and uncorrected, from when they were sent.
    """
    pairs = [pair for start in plan.starts() for pair in _connection(plan, start, server, sent_late)] * plan.threads
    return sorted(corrected for corrected, _ in pairs), sorted(uncorrected for _, uncorrected in pairs)


def percentile(rising: list[float], percent: float) -> float:
    """Return a percentile of values in rising order as HdrHistogram does: the smallest value that so many do not exceed."""
    return rising[max(1, min(len(rising), int(percent / 100 * len(rising) + 0.5))) - 1]


def _connection(plan: Plan, start: float, server: Stall, sent_late: float) -> Iterator[tuple[float, float]]:
    """Yield both latencies of each counted request of one connection."""
    now, done = start + server.rtt, 0
    since, before = 0.0, 0
    in_time = True
    while now < plan.seconds:
        due = start + done * plan.interval_s
        if due > now:
            now, in_time = due + sent_late, True
        if in_time:
            since, before, in_time = now, done, False
        at = since + (done - before) * plan.interval_s / 2
        sent = now if at <= now else at + sent_late
        now = server.answer(sent)
        if now >= plan.seconds:
            return
        if now >= plan.calibrated_s:
            yield now - due, now - sent
        done += 1
