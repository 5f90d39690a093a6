"""How fast one TCP connection can be, from theory: pure functions of round trip, loss, window and rate.

Rates are in bit/s of payload, times in seconds, loss a part of one, sizes in bytes.
"""

from __future__ import annotations

import math

from slownet.errors import SlownetError
from slownet.slow_start import MSS

HEADERS = 66  # a segment's frame less its payload: Ethernet (14), IPv4 (20), TCP with timestamps (32)
LEAST_VARIANCE_S = 0.2
"""Linux's timeout is the round trip and at least this (TCP_RTO_MIN), so 0.3 s at an RTT of 0.1 s."""


def mathis(loss: float, rtt: float, mss: int = MSS, acked: int = 1) -> float:
    """Reno's steady rate when losses only halve the window: ``MSS / RTT * sqrt(3 / (2 b p))``.

    Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997.
    ``acked``, b, is 2 for a receiver that acknowledges every other segment and a sender that counts acknowledgements;
    Linux counts bytes, so 1. It knows no timeouts, so it holds where a window is wide enough to be repaired by duplicate
    acknowledgements: see ``timeouts_rule``.
    """
    _check(loss, rtt)
    return 8 * mss / rtt * math.sqrt(3 / (2 * acked * loss))


def aimd(loss: float, rtt: float, mss: int = MSS, increase: float = 1.0, keeps: float = 0.5) -> float:
    """The steady rate of a window that grows by ``increase`` segments a round trip and keeps the part ``keeps`` of itself at
    a loss, where each packet is lost by a chance of its own, as netem does it; Mathis's losses come evenly.

    Dumas, Guillemin and Robert, "A Markovian analysis of additive-increase multiplicative-decrease algorithms", 2002:
    ``MSS / RTT * sqrt(2 a / p) / (sqrt(pi) * prod (1 - b^(2k - 1)) / (1 - b^(2k)))``, k from 1. Reno's constant becomes 1.31
    for Mathis's 1.22 (so already Ott, Kemperman and Mathis, 1996); CUBIC's in Reno's region (RFC 9438, 4.3: 0.53 and 0.7)
    1.27. No timeouts, as in `mathis`.
    """
    _check(loss, rtt)
    product = math.prod((1 - keeps ** (2 * k - 1)) / (1 - keeps ** (2 * k)) for k in range(1, 60))
    return 8 * mss / rtt * math.sqrt(2 * increase / loss) / (math.sqrt(math.pi) * product)


def padhye(loss: float, rtt: float, rto: float | None = None, mss: int = MSS, acked: int = 1) -> float:
    """Reno's steady rate with its timeouts: the approximate form of Padhye, Firoiu, Towsley and Kurose, "Modeling TCP
    throughput: a simple model and its empirical validation", 1998, equation 30, without a limit of the window.

    ``rto`` is the first timeout, Linux's if None.
    """
    _check(loss, rtt)
    first = rtt + LEAST_VARIANCE_S if rto is None else rto
    repaired = rtt * math.sqrt(2 * acked * loss / 3)
    timeouts = first * min(1.0, 3 * math.sqrt(3 * acked * loss / 8)) * loss * (1 + 32 * loss * loss)
    return 8 * mss / (repaired + timeouts)


def window_segments(loss: float, acked: int = 1) -> float:
    """Mathis's mean window in segments: his rate times the round trip."""
    _check(loss, 1.0)
    return math.sqrt(3 / (2 * acked * loss))


def timeouts_rule(loss: float, acked: int = 1) -> bool:
    """Whether the window is too small for Mathis: three duplicate acknowledgements need four segments in flight, and the
    window that a loss halves is a third above the mean, so a mean below 6 segments (above 4 % of loss)."""
    return window_segments(loss, acked) < 6


CUBIC_KEEPS = 0.7
"""Of its window after a loss: beta of RFC 9438, 4.6."""


def cubic_in_renos_region(loss: float, rtt: float, mss: int = MSS) -> float:
    """CUBIC's steady rate where `reno_friendly`: it adds 3 (1 - b) / (1 + b) = 0.53 segments a round trip (RFC 9438, 4.3)."""
    return aimd(loss, rtt, mss, 3 * (1 - CUBIC_KEEPS) / (1 + CUBIC_KEEPS), CUBIC_KEEPS)


def reno_friendly(loss: float, rtt: float) -> bool:
    """Whether CUBIC behaves like Reno: its own curve is below Reno's where p > 0.548 RTT^3 (RFC 9438 with C 0.4)."""
    _check(loss, rtt)
    return loss > 0.548 * rtt**3


def limited_by_queue(packets: int, delay: float, mss: int = MSS) -> float:
    """The most that passes a queue whose packets stay for ``delay``: netem keeps what is on its way in its one queue."""
    _check(0.5, delay)
    return 8 * mss * packets / delay


def limited_by_rate(rate: float, mss: int = MSS) -> float:
    """Payload over a link of ``rate`` bit/s that counts whole Ethernet frames."""
    return rate * mss / (mss + HEADERS)


def _check(loss: float, rtt: float) -> None:
    if not 0 < loss < 1:
        raise SlownetError(f"no steady rate at a loss of {loss:g}", fix="give a part of one above 0 and below 1")
    if rtt <= 0:
        raise SlownetError(f"no rate at a round trip of {rtt:g} s", fix="give more than 0")
