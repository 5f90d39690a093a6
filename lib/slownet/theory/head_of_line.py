"""Head-of-line blocking: which answers of one connection wait for the repair of a single lost packet, and for how long.

Sources: RFC 9293, 2.2 (TCP delivers in order) and RFC 8446, 5.2 (a TLS record is decrypted as a whole); RFC 9000, 2.2 (each
QUIC stream is ordered by itself) and 13 (a lost packet blocks the streams that it carries); RFC 5681, 3.2, RFC 8985, 6.2 and
RFC 9002, 6.1.1 (when a sender takes a packet for lost).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from slownet.model.errors import SlownetError
from slownet.model.protocol_names import QUIC, TCP

THRESHOLD = 3
"""A packet is lost if one that was sent three later was acknowledged: RFC 9002, 6.1.1; by three duplicate ACKs, RFC 5681, 3.2,
and with RACK unless reordering was seen, RFC 8985, 6.2."""


def held_back(carried: Sequence[Collection[int]], lost: int, *, transport: str) -> frozenset[int]:
    """Return the answers that wait for the repair of one lost packet.

    Parameters
    ----------
    carried : sequence of collection of int
        For each packet of the server, in order, the answers that it has bytes of. Over TLS: bytes of their records.
    lost : int
        Which of them is lost, from 0.
    transport : str
        `slownet.theory.handshakes.TCP`, or ``QUIC``.

    Returns
    -------
    frozenset of int
        Over TCP all answers with bytes at or after the lost ones, over QUIC those with bytes in the lost packet.

    Raises
    ------
    SlownetError
        No such packet or transport.

    Notes
    -----
    Over QUIC header compression may make streams wait for one another, if an encoder uses its dynamic table (RFC 9204, 2.1.2);
    nginx does not.
    """
    if transport not in (TCP, QUIC):
        raise SlownetError(f"no transport '{transport}'", "in held_back", f"give {TCP} or {QUIC}")
    if not 0 <= lost < len(carried):
        raise SlownetError(f"lost is {lost}, of {len(carried)} packets", "in held_back", "give the index of a packet")
    return frozenset().union(*(carried[lost:] if transport == TCP else carried[lost : lost + 1]))


def repaired_after_ms(rtt_ms: float, *, followers: int) -> float:
    """Compute how much later than the lost packet its repair arrives.

    Parameters
    ----------
    rtt_ms : float
        The round-trip time in ms, which all packets of the flight share: no link is slow enough to space them.
    followers : int
        How many packets of the same flight follow the lost one.

    Returns
    -------
    float
        One round trip in ms: the packets behind the lost one arrive when it would have, their ACKs go back, the repair comes.

    Raises
    ------
    SlownetError
        The round-trip time is not above 0, or so few packets follow that a timer repairs the loss.
    """
    if rtt_ms <= 0:
        raise SlownetError(f"rtt_ms is {rtt_ms:g}", "in repaired_after_ms", "give more than 0")
    if followers < THRESHOLD:
        what = f"{followers} packets follow the lost one, so a timer repairs it"
        raise SlownetError(what, "in repaired_after_ms", f"give {THRESHOLD} or more")
    return rtt_ms
