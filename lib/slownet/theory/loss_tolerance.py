"""Theory of what random loss leaves of a link to one connection of CUBIC's or BBR's: pure functions.

Rates are in bit/s of payload, times in seconds; loss is a fraction, 0.01 for 1 %, and hits each packet independently before the
bottleneck, as netem's does at the sender. A pipe is what the path holds without a queue, rate times round trip.
"""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from slownet.model.errors import SlownetError, above_zero
from slownet.theory.shares import CUBIC_ADDS
from slownet.theory.slow_start import MSS
from slownet.theory.throughput import CUBIC_KEEPS, HEADERS, check_loss, limited_by_rate

CUBIC_C = 0.4
"""Segments per s^3: the steepness of CUBIC's curve (RFC 9438, 4.1.2)."""
BBR_PACES = 0.99
"""BBR sends 1 % more slowly than its estimate of the rate (tcp_bbr.c: bbr_pacing_margin_percent, Linux 4.20 and newer)."""
OF_A_SEGMENT = 960
"""Bytes of the send buffer that the kernel counts for a segment beside its payload, without offloads: an sk_buff (256), its
shared info (320) and room for headers (384)."""
LINUX_SEND_BUFFER = 4 * 2**20
"""The largest send buffer in bytes that Linux gives a connection by default (tcp_wmem)."""
_STEPS, _LEVELS, _ROUNDS, _PACKETS = 4, 60, 60, 200_000


def limit(loss: float, rate: float) -> float:
    """Return what arrives if a sender never pauses: the link's payload times ``1 - loss``. Raises SlownetError."""
    check_loss(loss)
    return (1 - loss) * limited_by_rate(rate)


def cubic_evenly(loss: float, rtt: float, mss: int = MSS) -> float:
    """Compute CUBIC's rate where every 1 / p-th packet is lost, on its own curve: ``MSS / RTT * 1.054 (RTT / p)^(3/4)``.

    loss: p, as a fraction, above 0 and below 1.
    rtt: round trip in seconds, above 0.
    mss: payload of a segment in bytes.
    returns: payload in bit/s, on a link that does not limit it. Where CUBIC behaves like Reno it is faster than that.
    Raises SlownetError: a number is out of range.

    References
    ----------
    RFC 9438, section 5: ``(C (3 + b) / (4 (1 - b)))^(1/4)`` with C = 0.4 and b = 0.7.
    """
    check_loss(loss)
    above_zero("cubic_evenly", rtt=rtt)
    segments = math.pow(CUBIC_C * (3 + CUBIC_KEEPS) / (4 * (1 - CUBIC_KEEPS)), 0.25) * math.pow(rtt / loss, 0.75)
    return 8 * mss / rtt * segments


@dataclass(frozen=True)
class _Epoch:
    """CUBIC's window in segments after a loss at which it was ``peak``, over a path that drops above ``top``."""

    peak: float
    gave_way: bool  # the peak before was higher, so that CUBIC aims lower (RFC 9438, 4.7: fast convergence)
    rtt: float
    top: float

    def window(self, elapsed: float) -> float:
        """Return the window some seconds after the loss was seen: constant for the round trip of the repair, then growing."""
        start, since = CUBIC_KEEPS * self.peak, elapsed - self.rtt
        if since <= 0:
            return start
        aim = self.peak * (1 + CUBIC_KEEPS) / 2 if self.gave_way else self.peak
        wait = math.pow((aim - start) / CUBIC_C, 1 / 3)
        return min(self.top, max(aim + CUBIC_C * (since - wait) ** 3, start + CUBIC_ADDS * since / self.rtt))


@lru_cache(maxsize=64)  # claims ask for the same numbers at each look
def cubic(loss: float, rtt: float, rate: float, queue: float = 1.0, mss: int = MSS) -> float:
    """Compute CUBIC's steady rate under random losses, on a link that may limit it.

    loss: as a fraction, above 0 and below 1.
    rtt: round trip in seconds, above 0.
    rate: of the link in bit/s of whole frames, above 0.
    queue: the length of its queue in pipes.
    mss: payload of a segment in bytes.
    returns: payload in bit/s, without timeouts: see `slownet.theory.throughput.timeouts_rule`.
    Raises SlownetError: a number is out of range.

    Notes
    -----
    The window at a loss is a Markov chain, solved here on a grid of windows. Each segment sent is lost with probability p; a
    round trip later the loss is seen, and the window, which has grown meanwhile, becomes 0.7 of itself. For another round trip
    it does not grow, and losses among the segments that were in flight do not count again. Then it follows the larger of
    CUBIC's curve and Reno's line (RFC 9438, 4.2 to 4.7, and tcp_cubic.c). `cubic_evenly` instead assumes one loss every 1 / p
    segments, and has no link.
    """
    check_loss(loss)
    above_zero("cubic", rtt=rtt, rate=rate)
    pipe = rate * rtt / 8 / (mss + HEADERS)
    top = pipe * (1 + queue)
    levels = [2 * (max(top, 4) / 2) ** (at / (_LEVELS - 1)) for at in range(_LEVELS)]
    states = [(level, gave_way) for level in range(_LEVELS) for gave_way in (False, True)]
    rows, packets, seconds = [], [], []
    for level, gave_way in states:
        epoch = _Epoch(levels[level], gave_way, rtt, top)
        row, sent, lasted = [0.0] * len(states), 0.0, 0.0
        for weight, ends, so_far in _endings(epoch, loss, pipe):
            sent, lasted = sent + weight * so_far, lasted + weight * (ends + rtt)
            window = epoch.window(ends + rtt)
            aim = levels[level] * (1 + CUBIC_KEEPS) / 2 if gave_way else levels[level]
            for near, part in _between(levels, window):
                row[2 * near + (window < aim)] += weight * part
        rows.append([(at, part) for at, part in enumerate(row) if part])
        packets.append(sent)
        seconds.append(lasted)
    shares = [1 / len(states)] * len(states)
    for _ in range(_ROUNDS):
        found = [0.0] * len(states)
        for share, chances in zip(shares, rows, strict=True):
            for at, part in chances:
                found[at] += share * part
        shares = found
    mean = sum(map(math.prod, zip(shares, packets, strict=True))) / sum(map(math.prod, zip(shares, seconds, strict=True)))
    return 8 * mss * mean * (1 - loss)


def _endings(epoch: _Epoch, loss: float, pipe: float) -> Iterator[tuple[float, float, float]]:
    """Yield when the next lost segment is sent: its probability, seconds since the last loss was seen, segments until seen."""
    step, left, elapsed, sent = epoch.rtt / _STEPS, 1.0, 0.0, 0.0
    ahead = sum(min(pipe, epoch.window((at + 0.5) * step)) / _STEPS for at in range(_STEPS))
    while left > 1e-9:
        window = epoch.window(elapsed + step / 2)
        flow = min(pipe, window) / _STEPS
        ahead += (min(pipe, epoch.window(elapsed + epoch.rtt + step / 2)) - min(pipe, window)) / _STEPS
        gone = left if window >= epoch.top else left * -math.expm1(flow * math.log1p(-loss))
        yield gone, elapsed + step / 2, sent + flow / 2 + ahead
        left, elapsed, sent = left - gone, elapsed + step, sent + flow


def _between(levels: list[float], window: float) -> list[tuple[int, float]]:
    """Return the two levels around a window, each with its part of it."""
    above = min(max(bisect.bisect(levels, window), 1), len(levels) - 1)
    part = min(1.0, max(0.0, (window - levels[above - 1]) / (levels[above] - levels[above - 1])))
    return [(above - 1, 1 - part), (above, part)]


def bbr(loss: float, rtt: float, rate: float, buffer: float = math.inf, overhead: int = OF_A_SEGMENT) -> float:
    """Compute the steady rate of BBR's first version, between two measurements of the round trip.

    loss: as a fraction, above 0 and at most 0.19: up to there a probe, a quarter faster, finds the link's full rate.
    rtt: round trip in seconds, above 0.
    rate: of the link in bit/s of whole frames, above 0.
    buffer: the sender's buffer in bytes, as the kernel counts them; unlimited unless given.
    overhead: bytes of the buffer that a segment takes beside its payload. 0 is the other end of the range: the kernel merges
        segments that were acknowledged out of order (tcp_shift_skb_data), and only their payload remains.
    returns: payload in bit/s.
    Raises SlownetError: a number is out of range.

    Notes
    -----
    BBR takes the largest rate that it measured in the last ten round trips for the link's, and paces by that, however many
    packets are lost. So `limit` is left, less 1 % (``BBR_PACES``). Every 10 s it measures the round trip, with next to nothing
    in flight for a round trip and 0.2 s: over 100 ms that takes another 3 % in the long run.

    A segment stays in the send buffer until all before it have arrived, too. One that is lost k times in a row, k + 1 round
    trips; if the buffer is full meanwhile, the sender stops. `pauses` plays that through.
    """
    check_loss(loss)
    above_zero("bbr", rtt=rtt, rate=rate, buffer=buffer)
    if loss > 1 - 1 / (1.25 * BBR_PACES):
        raise SlownetError(f"BBR does not find the rate at a loss of {loss:g}", "in bbr", "give at most 0.19")
    pipe = rate * rtt / 8 / (MSS + HEADERS)
    full = 1.0 if math.isinf(buffer) else pauses(loss, buffer / (MSS + overhead) / pipe, pipe)
    return limit(loss, rate) * BBR_PACES * full


@lru_cache(maxsize=64)
def pauses(loss: float, room: float, pipe: float) -> float:
    """Compute which part of its rate is left to a paced sender whose buffer is small.

    loss: as a fraction, above 0 and below 1.
    room: what the buffer holds, in pipes, above 0.
    pipe: in segments, above 0.
    returns: from 0 to 1, with an error of 1 %: 200,000 segments are played through, by the same random numbers every time.
    Raises SlownetError: a number is out of range.
    """
    check_loss(loss)
    above_zero("pauses", room=room, pipe=pipe)
    chance, space = random.Random(1), max(1, round(room * pipe))
    pace = 1 / (pipe * (1 - loss))  # in round trips: the lost part of what is sent is sent again
    freed: list[float] = []  # when each segment leaves the buffer
    now = latest = 0.0
    for number in range(_PACKETS):
        now = max(now + pace, freed[number - space] if number >= space else 0.0)
        losses = int(math.log(1 - chance.random()) / math.log(loss))
        latest = max(latest, now + 1 + losses)
        freed.append(latest)
    return _PACKETS * pace / now
