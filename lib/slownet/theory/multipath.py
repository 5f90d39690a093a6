"""How long an MPTCP connection stalls when one of its two paths is cut.

Sources: RFC 8684, 3.3.6 (data that a path lost is sent again on another one; when, is the sender's choice), RFC 6298
(timeouts), RFC 8985, 7 (tail loss probes), RFC 1122, 4.2.3.2 (delayed ACKs); Linux: net/mptcp/protocol.c, where the timer of
that is as long as the latest timer of the connection's paths.
"""

from __future__ import annotations

from slownet.model.errors import SlownetError
from slownet.theory.fallback import late_ms
from slownet.theory.path_mtu import RTO_MIN_MS

DELAYED_ACK_MS = 40.0
"""For how long Linux delays an ACK of a steady stream: the sender's round-trip time has that in it."""


def longest_stall_ms(rtt_ms: float) -> float:
    """Compute the longest time for which nothing arrives after a path was cut.

    Parameters
    ----------
    rtt_ms : float
        The round-trip time of each path, in ms.

    Returns
    -------
    float
        Milliseconds: the cut path's tail loss probe after two round trips, its timeout, its second timeout, which is twice as
        long, and a round trip on the other path; each of the kernel's timers as late as it can be. The path's round-trip time,
        as its sender knows it, has a delayed ACK in it.

    Raises
    ------
    SlownetError
        The round-trip time is not above 0.
    """
    if rtt_ms <= 0:
        raise SlownetError(f"rtt_ms is {rtt_ms:g}", "in longest_stall_ms", "give more than 0")
    known = rtt_ms + DELAYED_ACK_MS
    timers = (2 * known, known + RTO_MIN_MS, 2 * (known + RTO_MIN_MS))
    return sum(each + late_ms(each) for each in timers) + rtt_ms
