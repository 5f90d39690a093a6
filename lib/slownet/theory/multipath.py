"""The stall of an MPTCP connection when one of its two paths is cut.

Sources: RFC 8684, 3.3.6 (data that a path lost is sent again on another one; when, is the sender's choice), RFC 6298
(timeouts), RFC 8985, 7 (tail loss probes), RFC 1122, 4.2.3.2 (delayed ACKs); Linux: net/mptcp/protocol.c, where the timer of
that is as long as the latest timer of the connection's paths, net/ipv4/tcp_output.c (tcp_schedule_loss_probe) and tcp_input.c
(tcp_rtt_estimator).
"""

from __future__ import annotations

import math

from slownet.model.errors import SlownetError
from slownet.theory.timers import PROBE_ADDS_MS, RTO_MIN_MS, late_ms

DELAYED_ACK_MS = 40.0
"""For how long Linux delays an ACK of a steady stream: the sender's round-trip time has that in it."""
VARIANCE_KEEPS = 0.75
"""The fraction of the variance's excess over its minimum that remains after each round trip; it begins at two round trips."""
BEFORE_STEADY = 4
"""Round trips in which the variance does not fall yet: the handshakes of both paths, and a first one with data."""


def longest_stall_ms(rtt_ms: float, *, every_ms: float = 10.0, after_ms: float = math.inf) -> float:
    """Compute the longest time for which nothing arrives after a path was cut.

    Parameters
    ----------
    rtt_ms : float
        The round-trip time of each path, in ms.
    every_ms : float
        The time between two messages of one segment each, which take the paths in turn.
    after_ms : float
        How long after the connection began the path is cut; a steady connection unless given.

    Returns
    -------
    float
        Milliseconds: the cut path's tail loss probe, its timeout, its second timeout, which is twice as long, and a round trip
        on the other path; each of the kernel's timers as late as it can be. The path's round-trip time, as its sender knows it,
        has a delayed ACK in it. The probe comes after two of these; where a message is acknowledged before the next one is
        sent, 200 ms later, for the ACK may be delayed; and no later than a timeout.

    Raises
    ------
    SlownetError
        A time is not above 0.
    """
    for name, value in (("rtt_ms", rtt_ms), ("every_ms", every_ms), ("after_ms", after_ms)):
        if value <= 0:
            raise SlownetError(f"{name} is {value:g}", "in longest_stall_ms", "give more than 0")
    known = rtt_ms + DELAYED_ACK_MS
    rounds = max(0.0, after_ms / rtt_ms - BEFORE_STEADY)
    timeout = known + RTO_MIN_MS + max(0.0, 2 * rtt_ms - RTO_MIN_MS) * math.pow(VARIANCE_KEEPS, rounds)
    alone = rtt_ms < 2 * every_ms
    probe = min(2 * known + (RTO_MIN_MS if alone else PROBE_ADDS_MS), timeout)
    return sum(each + late_ms(each) for each in (probe, timeout, 2 * timeout)) + rtt_ms
