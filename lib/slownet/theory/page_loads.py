"""Round trips of a page of many objects over HTTP/1.1, HTTP/2 and HTTP/3, on new connections with TLS 1.3.

Sources: RFC 9112, 9.4 (HTTP/1.1: one request at a time on a connection), RFC 9113 and RFC 9114 (HTTP/2 and HTTP/3: all at once
on one connection); for what comes before the first answer `slownet.theory.handshakes`, for its flights
`slownet.theory.slow_start`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from slownet.model.errors import SlownetError, nearest
from slownet.theory import handshakes
from slownet.theory.slow_start import INITIAL_WINDOW, LAST_BYTE, MSS
from slownet.theory.slow_start import round_trips as of_one_answer

BESIDE_OBJECT = 160
"""Bytes of header, framing and encryption that nginx sends with each object over HTTP/2 and HTTP/3, about."""


@dataclass(frozen=True)
class Protocol:
    """A way to load a page.

    Parameters
    ----------
    application : str
        ALPN's name of the protocol.
    stack : str
        How a connection is opened: a name in `slownet.theory.handshakes.STACKS`.
    connections : int
        On how many connections.
    multiplexed : bool
        Whether a connection carries all requests at once, rather than one after the other.
    """

    application: str
    stack: str
    connections: int = 1
    multiplexed: bool = True


PROTOCOLS: Mapping[str, Protocol] = {
    "HTTP/1.1": Protocol("http/1.1", "TLS 1.3", multiplexed=False),
    "HTTP/1.1 on 6 connections": Protocol("http/1.1", "TLS 1.3", 6, multiplexed=False),
    "HTTP/2": Protocol("h2", "TLS 1.3"),
    "HTTP/3": Protocol("h3", "QUIC"),
}
"""The ways to load a page, by name. Browsers open up to six connections to a host over HTTP/1.1."""


def round_trips(*, protocol: str, objects: int, size: int, window: int | None = None) -> int:
    """Compute the round trips from the first packet to the last byte of a page, without loss.

    Parameters
    ----------
    protocol : str
        A name in `PROTOCOLS`.
    objects, size : int
        How many objects the page has, all known from the start, and the bytes of each one.
    window : int, optional
        The server's initial window over QUIC in bytes; ten datagrams unless given.

    Returns
    -------
    int
        2 or more.

    Raises
    ------
    SlownetError
        The protocol is unknown, a number is below 1, or an object does not fit into the initial window of a connection that
        carries one at a time.

    Notes
    -----
    A server that sends each answer in packets of its own fills its first window with fewer bytes (nginx: 9 to 11 kB). So the
    result is one too small for pages that fit just so into their last flight. Over QUIC it holds from 10 ms of round trip on:
    nearer, the programs' own timers, which count whole milliseconds, add some to each page.
    """
    if protocol not in PROTOCOLS:
        raise SlownetError(f"no protocol '{protocol}'", "in round_trips", nearest(protocol, PROTOCOLS))
    for name, value in (("objects", objects), ("size", size)):
        if value < 1:
            raise SlownetError(f"{name} is {value}", "in round_trips", "give 1 or more")
    way = PROTOCOLS[protocol]
    first = handshakes.round_trips(stack=way.stack)
    if not way.multiplexed:
        if size > INITIAL_WINDOW * MSS - BESIDE_OBJECT:
            raise SlownetError(f"size is {size}", "in round_trips", "give objects that fit into the initial window")
        return first - 1 + math.ceil(objects / min(objects, way.connections))
    whole = objects * (size + BESIDE_OBJECT)
    if way.stack == "QUIC":
        return handshakes.round_trips(stack=way.stack, bytes=whole, window=window)
    return first - 2 + of_one_answer(whole, until=LAST_BYTE, header_bytes=0)
