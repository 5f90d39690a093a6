"""Linux's timers: how long those of TCP are, and how late the kernel is.

Sources: RFC 6298 (timeouts), RFC 8985, 7 (tail loss probes); Linux: net/ipv4/tcp_input.c (tcp_rtt_estimator, tcp_set_rto),
net/ipv4/tcp_output.c (tcp_schedule_loss_probe) and kernel/time/timer.c (the timer wheel).
"""

from __future__ import annotations

import math

TICK_MS = 4.0
"""At 250 ticks a second, as Debian's kernels and the lab's."""
RTO_MIN_MS = 200.0
"""The minimum that Linux adds to the round-trip time for its timeout."""
PROBE_ADDS_MS = 2.0
"""The time that Linux adds to two round trips for its tail loss probe, with several segments in flight (TCP_TIMEOUT_MIN_US)."""
_SLOTS = 63  # of each size: LVL_SIZE - 1


def late_ms(timeout_ms: float) -> float:
    """Return by how much a timer of the kernel may be late.

    Longer timers are kept in coarser slots, of 1, 8, 64 ticks and so on, 63 of each size (Linux, kernel/time/timer.c).

    timeout_ms: the timer's length in ms.
    returns: the size of its slot in ms.
    """
    return _slot(timeout_ms / TICK_MS) * TICK_MS


def fires_at(now: int, ticks: int, *, in_timer: bool = True) -> int:
    """Return the tick when a timer of the kernel fires.

    now: the tick when it is set.
    ticks: its length in ticks.
    in_timer: whether it is set while another timer fires: the wheel is one tick ahead then.
    returns: the begin of the slot after that of its end: a timer is never early.
    """
    slot = _slot(ticks - in_timer)
    return ((now + ticks) // slot + 1) * slot


def timeout_ms(rtt_ms: float) -> float:
    """Return TCP's first timeout on a connection that has measured its round-trip time once, in the handshake.

    rtt_ms: that time in ms.
    returns: in ms: the round trip, and at least `RTO_MIN_MS` or two more of them (RFC 6298, 2.2: the variance is half a round
        trip).
    """
    return rtt_ms + max(RTO_MIN_MS, 2 * rtt_ms)


def ticks(ms: float) -> int:
    """Return a length in ms as ticks, rounded up as the kernel does."""
    return math.ceil(ms / TICK_MS)


def _slot(length: float) -> int:
    size = 1
    while length >= _SLOTS * size:
        size *= 8
    return size
