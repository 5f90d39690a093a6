"""Round trips from a client's first packet to the answer of a request on a new connection, for each way to open one.

Sources: RFC 9293 (TCP), RFC 7413 (Fast Open), RFC 5246 (TLS 1.2; 7.3 resumption), RFC 8446 (TLS 1.3; 2.1 HelloRetryRequest,
2.2 PSK, 2.3 0-RTT), RFC 9000 (QUIC; 8.1 address validation and Retry) and RFC 9001 (TLS in QUIC; 4.6 0-RTT).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from slownet.model.errors import SlownetError, nearest
from slownet.model.protocol_names import PLAIN, QUIC, TCP, TLS12, TLS13, Traits
from slownet.theory.slow_start import INITIAL_WINDOW, MSS

STACKS: Mapping[str, Traits] = {
    "TCP": Traits(TCP, PLAIN),
    "TCP Fast Open": Traits(TCP, PLAIN, fast_open=True),
    "TLS 1.2": Traits(TCP, TLS12),
    "TLS 1.2 resumed": Traits(TCP, TLS12, resumed=True),
    "TLS 1.3": Traits(TCP, TLS13),
    "TLS 1.3 PSK": Traits(TCP, TLS13, resumed=True),
    "TLS 1.3 0-RTT": Traits(TCP, TLS13, resumed=True, early=True),
    "TLS 1.3 over Fast Open": Traits(TCP, TLS13, fast_open=True),
    "TLS 1.3 0-RTT over Fast Open": Traits(TCP, TLS13, resumed=True, early=True, fast_open=True),
    "QUIC": Traits(QUIC, TLS13),
    "QUIC 0-RTT": Traits(QUIC, TLS13, resumed=True, early=True),
}
"""The ways to open a connection, by name. 0-RTT, resumption and Fast Open need an earlier connection to the same server."""
DATAGRAM = 1200
"""Bytes of a client's first QUIC datagram: the least that are allowed (RFC 9000, 14.1)."""
AMPLIFICATION = 3
"""Until a client's address is validated, a server sends at most three times what it received (RFC 9000, 8.1)."""
QUIC_WINDOW = INITIAL_WINDOW * DATAGRAM
"""The initial window that RFC 9002, 7.2 recommends, in bytes, for datagrams of 1200 bytes."""
NGINX_QUIC_WINDOW = 2 * 65_527
"""The initial window of nginx 1.26 over QUIC, in bytes: it takes the largest datagram that a client accepts, 65,527 bytes, for
the size of its own."""
BESIDE_CERTIFICATE = 400
"""Bytes that a server's first flight has beside the Certificate message, about: ServerHello, EncryptedExtensions,
CertificateVerify with an ECDSA signature and Finished are 300, encryption and packet headers the rest."""


def round_trips(
    *,
    stack: str,
    certificate: int = 0,
    bytes: int = 1,  # noqa: A002  # what the answer has
    hello_retry: bool = False,
    retry: bool = False,
    window: int | None = None,
) -> int:
    """Compute the round trips from a client's first packet to the last of an answer's first bytes, without loss.

    Parameters
    ----------
    stack : str
        How the connection is opened: a name in `STACKS`.
    certificate : int
        Bytes of the server's Certificate message; of no effect on a stack without one.
    bytes : int
        How many bytes of the answer to wait for, with its header; 1 for the first byte.
    hello_retry : bool
        Whether the server sends a HelloRetryRequest, because the client's key share is of a group that it does not take.
    retry : bool
        Whether the server sends a Retry packet (QUIC).
    window : int, optional
        The server's initial window in bytes; unless given, ten segments of 1448 bytes, or ten datagrams of 1200.

    Returns
    -------
    int
        1 or more.

    Raises
    ------
    SlownetError
        The stack is unknown, a number is below its minimum, or the stack has no HelloRetryRequest or no Retry.

    Notes
    -----
    Slow start doubles a window that was filled, each round trip (RFC 5681, RFC 9002); receive windows are taken as large
    enough, as a stock client's is for ten segments over TCP (see `slownet.theory.slow_start`). A HelloRetryRequest rejects
    early data, which costs one more round trip (RFC 8446, 4.2.10). A Retry validates the client's address (RFC 9000, 8.1.2),
    and so does the first packet with Handshake keys.
    """
    traits = opened(stack, hello_retry=hello_retry, retry=retry)
    for name, value, least in (
        ("certificate", certificate, 0),
        ("bytes", bytes, 1),
        ("window", 1 if window is None else window, 1),
    ):
        if value < least:
            raise SlownetError(f"{name} is {value}", "in round_trips", f"give {least} or more")
    before = (traits.transport == TCP and not traits.fast_open) + hello_retry + retry
    room = window or (INITIAL_WINDOW * MSS if traits.transport == TCP else QUIC_WINDOW)
    limit = math.inf if traits.transport == TCP or retry else AMPLIFICATION * DATAGRAM * (1 + hello_retry)
    if traits.security != PLAIN and not traits.resumed:
        flights, room = _flights(certificate + BESIDE_CERTIFICATE, room, limit)
        before, limit = before + flights - 1, math.inf
    before += {PLAIN: 0, TLS12: 2 - traits.resumed, TLS13: 1 - (traits.early and not hello_retry)}[traits.security]
    if not traits.early or hello_retry:
        limit = math.inf  # the client's request came with or after its Finished, which validated its address
    return int(before) + _flights(bytes, room, limit - BESIDE_CERTIFICATE)[0]


def opened(stack: str, *, hello_retry: bool = False, retry: bool = False) -> Traits:
    """Return what a capture must show of a connection.

    Parameters
    ----------
    stack : str
        A name in `STACKS`.
    hello_retry, retry : bool
        As for `round_trips`.

    Returns
    -------
    Traits
        A HelloRetryRequest excludes early data.

    Raises
    ------
    SlownetError
        No such stack, or it has no HelloRetryRequest or no Retry.
    """
    if stack not in STACKS:
        raise SlownetError(f"no stack '{stack}'", "in round_trips", nearest(stack, STACKS))
    found = STACKS[stack]
    if hello_retry and found.security != TLS13:
        raise SlownetError(f"{stack} has no HelloRetryRequest", "in round_trips", "TLS 1.3 has")
    if retry and found.transport != QUIC:
        raise SlownetError(f"{stack} has no Retry", "in round_trips", "QUIC has")
    return replace(found, hello_retry=hello_retry, retry=retry, early=found.early and not hello_retry)


def _flights(size: int, window: int, limit: float) -> tuple[int, int]:
    """Return the flights that ``size`` bytes take, the first one of at most ``limit`` bytes, and the window after them."""
    count = 1
    while size > min(window, limit):
        size -= int(min(window, limit))
        window *= 1 + (window <= limit)  # one that was not filled does not grow (RFC 9002, 7.8)
        count, limit = count + 1, math.inf
    return count, window
