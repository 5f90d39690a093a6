"""The time to a page's first byte from a name with an IPv6 address that does not work, by how the client falls back to IPv4.

Sources: RFC 8305 (happy eyeballs; 5 and 8: the Connection Attempt Delay, 250 ms), curl's ``--happy-eyeballs-timeout-ms``
(200 ms), Linux's ip-sysctl on ``tcp_syn_retries`` and ``tcp_syn_linear_timeouts``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slownet.model.errors import SlownetError, nearest
from slownet.theory.timers import late_ms

CLIENTS: Mapping[str, float | None] = {"curl": 200.0, "asyncio": 250.0, "wget": None}
"""After how many ms a client tries the next address beside the first; None: only when the first has failed. Python's asyncio
does that with ``happy_eyeballs_delay=0.25`` only."""
SYN_RETRIES, LINEAR, FIRST_RTO_MS = 6, 4, 1000.0
"""Linux's defaults: retransmissions of a SYN, as many before them at even distances, and the first timeout (RFC 6298)."""
SYN_TIMEOUTS_MS: Sequence[float] = [FIRST_RTO_MS] * LINEAR + [FIRST_RTO_MS * 2**each for each in range(SYN_RETRIES + 1)]
SYN_TIMEOUT_MS = sum(SYN_TIMEOUTS_MS)
"""The duration of an unanswered connection attempt, including the timeout of the last retransmission."""
SYN_TIMEOUT_LATE_MS = sum(map(late_ms, SYN_TIMEOUTS_MS))
"""By how much that may be later."""


def first_byte_ms(*, client: str, rtt_ms: float, ipv6_rtt_ms: float | None, refused: bool = False) -> float:
    """Compute the time from a client's first SYN to the first byte of a page over plain HTTP.

    Parameters
    ----------
    client : str
        A name in `CLIENTS`.
    rtt_ms : float
        The round-trip time over IPv4, in ms.
    ipv6_rtt_ms : float or None
        That over IPv6, which is tried first; None if all packets are lost there.
    refused : bool
        Whether the server refuses connections over IPv6.

    Returns
    -------
    float
        Milliseconds: a round trip for the handshake and one for the page, and before them what IPv6 costs. A client that waits
        for `SYN_TIMEOUT_MS` may be up to `SYN_TIMEOUT_LATE_MS` later.

    Raises
    ------
    SlownetError
        No such client.
    """
    if client not in CLIENTS:
        raise SlownetError(f"no client '{client}'", "in first_byte_ms", nearest(client, CLIENTS))
    delay = CLIENTS[client]
    answered = SYN_TIMEOUT_MS if ipv6_rtt_ms is None else ipv6_rtt_ms
    fails = refused or ipv6_rtt_ms is None
    if not fails and (delay is None or answered <= delay + rtt_ms):  # the first connection that is open is used
        return 2 * answered
    lost = delay if delay is not None and delay < answered else answered
    return lost + 2 * rtt_ms
