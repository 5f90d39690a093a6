"""Round trips of a name's lookup before a page, by the transport that the question takes to the name server.

Sources: RFC 1035, 4.2.1 (UDP), RFC 7766 (TCP; 6.2.1 connections that are kept), RFC 7858 (TLS) and RFC 8484 (HTTPS), with the
handshakes of `slownet.theory.handshakes`.
"""

from __future__ import annotations

from collections.abc import Mapping

from slownet.model.errors import SlownetError, nearest
from slownet.model.protocol_names import UDP
from slownet.theory import handshakes

STACKS: Mapping[str, str | None] = {UDP: None, "TCP": "TCP", "TLS": "TLS 1.3", "HTTPS": "TLS 1.3"}
"""The transports, with the name in `slownet.theory.handshakes.STACKS` of how their connection is opened; UDP has none."""


def round_trips(*, transport: str, kept: bool = False, held: bool = False) -> int:
    """Compute the round trips from a resolver's first packet to the answer, without loss.

    Parameters
    ----------
    transport : str
        A name in `STACKS`.
    kept : bool
        Whether the questions go over a connection that is open already.
    held : bool
        Whether the second of two questions, or of two answers, is a write of its own on a connection without TCP_NODELAY:
        Nagle's algorithm then holds it until the first one is acknowledged (RFC 9293, 3.7.4), at once or, after up to 40 ms,
        by a delayed ACK.

    Returns
    -------
    int
        1 or more.

    Raises
    ------
    SlownetError
        No such transport, or it has no connection.

    Notes
    -----
    A program asks for a name's IPv4 and IPv6 addresses at the same time, so that both take one lookup. The answers fit into
    datagrams, or the initial window.
    """
    if transport not in STACKS:
        raise SlownetError(f"no transport '{transport}'", "in round_trips", nearest(transport, STACKS))
    stack = STACKS[transport]
    if stack is None:
        if kept or held:
            raise SlownetError(f"{transport} has no connection", "in round_trips", "leave kept and held out")
        return 1
    return held + (1 if kept else handshakes.round_trips(stack=stack))
