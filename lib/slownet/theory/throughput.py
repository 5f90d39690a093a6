"""Theoretical throughput of one TCP connection: pure functions of round trip, loss, window and rate.

Rates are in bit/s of payload, times in seconds, sizes in bytes; loss is a fraction, 0.01 for 1 %.
"""

from __future__ import annotations

import math

from slownet.model.errors import SlownetError
from slownet.theory.slow_start import MSS

HEADERS = 66  # bytes of a frame that are not payload: Ethernet (14), IPv4 (20), TCP with timestamps (32)
LEAST_VARIANCE_S = 0.2
"""Linux's timeout is the round trip plus at least this (TCP_RTO_MIN): 0.3 s at an RTT of 0.1 s."""


def mathis(loss: float, rtt: float, mss: int = MSS, acked: int = 1) -> float:
    """Compute Reno's steady rate without timeouts, ``MSS / RTT * sqrt(3 / (2 b p))``.

    Parameters
    ----------
    loss : float
        p, as a fraction, above 0 and below 1.
    rtt : float
        Round trip in seconds, above 0.
    mss : int
        Payload of a segment in bytes.
    acked : int
        b: 2 if the receiver acknowledges every other segment and the sender counts acknowledgements. Linux counts bytes: 1.

    Returns
    -------
    float
        Payload in bit/s. Valid if the window is large enough for duplicate acknowledgements to repair losses: see
        `timeouts_rule`.

    Raises
    ------
    SlownetError
        A number is out of range.

    References
    ----------
    Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997.
    """
    _check(loss, rtt)
    return 8 * mss / rtt * math.sqrt(3 / (2 * acked * loss))


def aimd(loss: float, rtt: float, mss: int = MSS, increase: float = 1.0, keeps: float = 0.5) -> float:
    """Compute the steady rate of an additive-increase, multiplicative-decrease window under independent losses.

    Parameters
    ----------
    loss : float
        p, as a fraction: each packet is lost independently, as in netem.
    rtt : float
        Round trip in seconds, above 0.
    mss : int
        Payload of a segment in bytes.
    increase : float
        a: segments that the window grows by per round trip.
    keeps : float
        b: the fraction of the window that is left after a loss.

    Returns
    -------
    float
        Payload in bit/s, without timeouts, as in `mathis`:
        ``MSS / RTT * sqrt(2 a / p) / (sqrt(pi) * prod (1 - b^(2k - 1)) / (1 - b^(2k)))``, k from 1.

    Raises
    ------
    SlownetError
        A number is out of range.

    Notes
    -----
    Mathis assumes evenly spaced losses. With independent ones Reno's constant is 1.31 instead of 1.22 (also in Ott, Kemperman
    and Mathis, 1996), and CUBIC's in its Reno-friendly region (RFC 9438, 4.3: 0.53 and 0.7) is 1.27.

    References
    ----------
    Dumas, Guillemin and Robert, "A Markovian analysis of additive-increase multiplicative-decrease algorithms", 2002.
    """
    _check(loss, rtt)
    product = math.prod((1 - keeps ** (2 * k - 1)) / (1 - keeps ** (2 * k)) for k in range(1, 60))
    return 8 * mss / rtt * math.sqrt(2 * increase / loss) / (math.sqrt(math.pi) * product)


def padhye(loss: float, rtt: float, rto: float | None = None, mss: int = MSS, acked: int = 1) -> float:
    """Compute Reno's steady rate with timeouts and without a limit of the window.

    Parameters
    ----------
    loss : float
        As a fraction, above 0 and below 1.
    rtt : float
        Round trip in seconds, above 0.
    rto : float, optional
        The first timeout in seconds; Linux's unless given.
    mss : int
        Payload of a segment in bytes.
    acked : int
        Segments per acknowledgement, as in `mathis`.

    Returns
    -------
    float
        Payload in bit/s.

    Raises
    ------
    SlownetError
        A number is out of range.

    References
    ----------
    Padhye, Firoiu, Towsley and Kurose, "Modeling TCP throughput: a simple model and its empirical validation", 1998,
    equation 30 (the approximate form).
    """
    _check(loss, rtt)
    first = rtt + LEAST_VARIANCE_S if rto is None else rto
    repaired = rtt * math.sqrt(2 * acked * loss / 3)
    timeouts = first * min(1.0, 3 * math.sqrt(3 * acked * loss / 8)) * loss * (1 + 32 * loss * loss)
    return 8 * mss / (repaired + timeouts)


def window_segments(loss: float, acked: int = 1) -> float:
    """Return the mean window in segments by Mathis's formula: rate times round trip. Raises SlownetError."""
    check_loss(loss)
    return math.sqrt(3 / (2 * acked * loss))


def timeouts_rule(loss: float, acked: int = 1) -> bool:
    """Decide whether timeouts dominate, so that Mathis's formula does not hold.

    Parameters
    ----------
    loss : float
        As a fraction, above 0 and below 1.
    acked : int
        Segments per acknowledgement, as in `mathis`.

    Returns
    -------
    bool
        True if the mean window is below 6 segments (above 4 % of loss).

    Raises
    ------
    SlownetError
        ``loss`` is out of range.

    Notes
    -----
    Three duplicate acknowledgements need four segments in flight, and the window that a loss halves is a third above the mean.
    """
    return window_segments(loss, acked) < 6


CUBIC_KEEPS = 0.7
"""The fraction of its window that CUBIC keeps after a loss: beta of RFC 9438, 4.6."""


def cubic_in_renos_region(loss: float, rtt: float, mss: int = MSS) -> float:
    """Compute CUBIC's steady rate in its Reno-friendly region.

    Parameters
    ----------
    loss : float
        As a fraction, above 0 and below 1.
    rtt : float
        Round trip in seconds, above 0.
    mss : int
        Payload of a segment in bytes.

    Returns
    -------
    float
        Payload in bit/s. Valid where `reno_friendly`; without timeouts. Linux takes up to 1/32 s after a loss until the window
        grows (tcp_cubic.c: bictcp_update), so it is slower where losses follow each other as fast: at 1 % of loss, where that
        is eight round trips, by a third at 1 ms of round trip, and by less than a tenth from 10 ms on.

    Raises
    ------
    SlownetError
        A number is out of range.

    References
    ----------
    RFC 9438, 4.3: it adds 3 (1 - b) / (1 + b) = 0.53 segments per round trip.
    """
    return aimd(loss, rtt, mss, 3 * (1 - CUBIC_KEEPS) / (1 + CUBIC_KEEPS), CUBIC_KEEPS)


def reno_friendly(loss: float, rtt: float) -> bool:
    """Decide whether CUBIC behaves like Reno.

    Parameters
    ----------
    loss : float
        As a fraction, above 0 and below 1.
    rtt : float
        Round trip in seconds, above 0.

    Returns
    -------
    bool
        True if p > 0.548 RTT^3, where CUBIC's own curve is below Reno's (RFC 9438 with C = 0.4).

    Raises
    ------
    SlownetError
        A number is out of range.
    """
    _check(loss, rtt)
    return loss > 0.548 * rtt**3


def limited_by_queue(packets: int, delay: float, mss: int = MSS) -> float:
    """Compute the maximum rate through a queue that delays packets: netem keeps delayed packets in its only queue.

    Parameters
    ----------
    packets : int
        Length of the queue.
    delay : float
        Seconds that a packet stays in it, above 0.
    mss : int
        Payload of a segment in bytes.

    Returns
    -------
    float
        Payload in bit/s.

    Raises
    ------
    SlownetError
        ``delay`` is out of range.
    """
    _check(0.5, delay)
    return 8 * mss * packets / delay


def limited_by_rate(rate: float, mss: int = MSS) -> float:
    """Return the payload in bit/s over a link of ``rate`` bit/s that counts whole Ethernet frames."""
    return rate * mss / (mss + HEADERS)


def check_loss(loss: float) -> None:
    """Raise SlownetError if a loss is not a fraction above 0 and below 1."""
    if not 0 < loss < 1:
        raise SlownetError(f"no steady rate at a loss of {loss:g}", fix="give a fraction above 0 and below 1")


def _check(loss: float, rtt: float) -> None:
    check_loss(loss)
    if rtt <= 0:
        raise SlownetError(f"no rate at a round trip of {rtt:g} s", fix="give more than 0")
