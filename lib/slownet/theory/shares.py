"""Theory of the share that each TCP connection gets of a bottleneck: pure functions of its pipe and its queue.

The pipe is what a path without a queue holds, rate times round trip; it and queues are in segments. Each function is derived in
its notes from the rules of the algorithms: RFC 9438 (CUBIC), RFC 8257 (DCTCP), Linux's tcp_bbr.c (BBR's first version).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from slownet.model.errors import SlownetError, above_zero
from slownet.theory.throughput import CUBIC_KEEPS

CUBIC_ADDS = 3 * (1 - CUBIC_KEEPS) / (1 + CUBIC_KEEPS)
"""Segments that CUBIC adds in a round trip where it behaves like Reno, 0.53 (RFC 9438, 4.3)."""
BBR_CYCLE = 8
"""Round trips from one probe for more rate to the next (tcp_bbr.c: CYCLE_LEN)."""
BBR_GAIN = 2
"""Segments that BBR has in flight at most, in its estimate of the pipe (tcp_bbr.c: bbr_cwnd_gain)."""
BBR_LEAST = 4
"""Segments in flight while BBR measures the round trip (tcp_bbr.c: bbr_cwnd_min_target)."""
BBR_MEASURES_S, BBR_EVERY_S = 0.2, 10.0
"""The minimum duration and the interval of its measurement (tcp_bbr.c: bbr_probe_rtt_mode_ms, bbr_min_rtt_win_sec)."""


def jain(rates: Sequence[float]) -> float:
    """Compute Jain's index of fairness, ``(sum x)^2 / (n sum x^2)``.

    rates: what each of n got, 0 or more, in any unit.
    returns: from 1 / n, if one gets everything, to 1, if all get the same.
    Raises SlownetError: the rates are all 0, or one is negative.

    References
    ----------
    Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared computer
    systems", 1984.
    """
    if not rates or min(rates) < 0 or not any(rates):
        raise SlownetError("no index of fairness of these rates", "in jain", "give some of 0 or more, at least one above 0")
    return math.fsum(rates) ** 2 / (len(rates) * math.fsum(each**2 for each in rates))


def cubic_between_losses(rounds: float) -> float:
    """Compute CUBIC's mean window if it loses a segment every so many round trips.

    rounds: round trips from one loss to the next, above 0.
    returns: segments. What it adds between two losses is what it gives up at one, ``0.3 W = 0.53 rounds``, and its window is on
        average half way between W and 0.7 W. Valid where CUBIC behaves like Reno: on short paths.
    Raises SlownetError: the number is out of range.
    """
    above_zero("cubic_between_losses", rounds=rounds)
    return _peak(rounds) * (1 + CUBIC_KEEPS) / 2


def cubic_beside_bbr_in_short_queue(pipe: float) -> float:
    """Compute the share that CUBIC gets at most beside one BBR connection, in a queue that a probe of BBR's overfills.

    pipe: in segments, above 0.
    returns: a fraction.
    Raises SlownetError: the pipe is out of range.

    Notes
    -----
    BBR's estimate of its rate ignores losses, and every eight round trips it sends a quarter more. If each of these probes
    costs CUBIC a segment, CUBIC's mean window is `cubic_between_losses` of eight; the pipe at least is full.
    """
    above_zero("cubic_beside_bbr_in_short_queue", pipe=pipe)
    return min(1.0, cubic_between_losses(BBR_CYCLE) / pipe)


def bbr_in_long_queue(queue: float, pipe: float, rtt: float) -> tuple[float, float]:
    """Compute the share of one BBR connection beside one of CUBIC, in a queue that is longer than the pipe.

    queue, pipe: in segments, the queue longer than the pipe.
    rtt: the round trip without a queue in seconds, above 0.
    returns: the least and the largest share that the model allows: see the notes.
    Raises SlownetError: a number is out of range.

    Notes
    -----
    Let T be all that is in flight when the queue is full, and p T CUBIC's part of it. BBR measures the round trip with four
    segments in flight: it sees CUBIC's window of that moment, k p T with k from 0.7 to 1, and these four. Its window is twice
    its rate times that, ``2 (1 - p) (k p T + 4)``, and it is also its part, ``(1 - p) T``: so ``p = (1/2 - 4 / T) / k``. The
    least share is that of k = 0.7 beside CUBIC at its peak, the largest that of k = 1 beside CUBIC's mean, half way between
    peak and 0.7 of it. Both lose the time in which BBR measures, every 10 s: 0.2 s, a round trip, and the queue's delay.

    Ware and others, "Modeling BBR's interactions with loss-based congestion control", 2019, have a model of this kind; this one
    is derived here, without their formula.
    """
    above_zero("bbr_in_long_queue", queue=queue, pipe=pipe, rtt=rtt)
    if queue <= pipe:
        where, fix = "in bbr_in_long_queue", "give one that is longer than the pipe"
        raise SlownetError(f"a queue of {queue:g} is too short to limit BBR's window", where, fix)
    sends = 1 - (BBR_MEASURES_S + rtt + rtt * queue / pipe) / BBR_EVERY_S
    half = 1 / BBR_GAIN - BBR_LEAST / (pipe + queue)
    largest = (1 - half) / (1 - half + half * (1 + CUBIC_KEEPS) / 2)
    return sends * max(0.0, 1 - half / CUBIC_KEEPS), sends * largest


def dctcp_beside_cubic(pipe: float, threshold: float) -> float:
    """Compute the share that DCTCP gets at least beside CUBIC, in a queue that marks everything above a threshold.

    pipe, threshold: in segments, above 0.
    returns: a fraction.
    Raises SlownetError: a number is out of range.

    Notes
    -----
    If all segments of one round trip in N are marked, CUBIC gives up 0.3 of its window each time, and adds 0.53 N between: its
    peak is 1.76 N. DCTCP's estimate of the marked fraction is 1 / N; it gives up half of that fraction and adds N: its peak is
    2 N^2. Both peaks fill pipe and threshold, which gives N. Where fewer segments of a round trip are marked, CUBIC gives up as
    much, and DCTCP less.
    """
    above_zero("dctcp_beside_cubic", pipe=pipe, threshold=threshold)
    slope, total = _peak(1.0), pipe + threshold
    rounds = (math.sqrt(slope**2 + 8 * total) - slope) / 4
    own = 2 * rounds**2 * (1 - 1 / (4 * rounds))
    return own / (own + cubic_between_losses(rounds))


def _peak(rounds: float) -> float:
    return CUBIC_ADDS * rounds / (1 - CUBIC_KEEPS)
