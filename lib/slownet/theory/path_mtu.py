"""How long Linux's TCP takes to notice that its full-size segments are lost because the path's MTU is smaller.

Sources: RFC 1191 (path MTU discovery by ICMP), RFC 2923, 2.1 (black holes), RFC 4821 (probing by TCP), RFC 6298 (timeouts),
RFC 8985, 7 (tail loss probes); Linux: ip-sysctl on ``tcp_mtu_probing``, ``tcp_base_mss`` and ``tcp_retries1``,
net/ipv4/tcp_timer.c.
"""

from __future__ import annotations

from slownet.model.errors import SlownetError
from slownet.theory.fallback import late_ms

RTO_MIN_MS = 200.0
"""What Linux adds to the round-trip time, at least, for its timeout."""
RETRIES1 = 3
"""Linux's default of ``tcp_retries1``: a black hole is suspected after the time that so many retransmissions would take."""
BASE_MSS = 1024
"""Linux's default of ``tcp_base_mss``: the segment size, with TCP's options, from which probing begins."""
FOR_HEADERS = 40
"""Bytes of the headers of IPv4 and TCP, by which the MSS in a SYN is smaller than an MTU."""


def probing_begins_ms(rtt_ms: float) -> tuple[float, float]:
    """Compute when a sender with ``tcp_mtu_probing=1`` sends smaller segments, after its first flight was lost as a whole.

    Parameters
    ----------
    rtt_ms : float
        The round-trip time that the handshake has shown, in ms.

    Returns
    -------
    (float, float)
        Milliseconds after the first flight: the tail loss probe, after two round trips, and the timeouts that begin with it,
        which double; and that sum if each of the kernel's timers is as late as it can be.

    Raises
    ------
    SlownetError
        The round-trip time is not above 0.
    """
    if rtt_ms <= 0:
        raise SlownetError(f"rtt_ms is {rtt_ms:g}", "in probing_begins_ms", "give more than 0")
    timeout = first = rtt_ms + RTO_MIN_MS
    suspected = RTO_MIN_MS * (2 ** (RETRIES1 + 1) - 1)
    passed, late = timeout, late_ms(2 * rtt_ms) + late_ms(timeout)
    while passed - first < suspected:
        timeout *= 2
        passed, late = passed + timeout, late + late_ms(timeout)
    passed += 2 * rtt_ms
    return passed, passed + late
