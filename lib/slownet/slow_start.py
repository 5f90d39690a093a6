"""Round trips of one response by TCP's slow start: the protocol's part of a page's time, without the machine's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from slownet.errors import SlownetError

MSS = 1448  # 1500 B Ethernet less IPv4 (20), TCP (20) and the timestamp option (12)
TIMESTAMPS = 12  # bytes of the option, which a SYN's MSS does not leave out
INITIAL_WINDOW = 10  # segments, RFC 6928
RECEIVE_WINDOW = 43_520
"""Bytes that a Linux client offers first, of which it offers whole segments: a third of tcp_rmem's 131,072, as Linux
supposes that a buffer holds three bytes for each of payload (tcp_select_initial_window, TCP_DEFAULT_SCALING_RATIO). A capture
shows it in the SYN: 42,340 at MTU 1500, 35,840 at 9000; what follows is rounded up by the window's scale, to 512 bytes here."""

LAST_BYTE: Literal["last byte"] = "last byte"
CLOSE: Literal["close"] = "close"
Until = Literal["last byte", "close"]


def round_trips(
    size_bytes: int,
    new_connection: bool = True,
    initial_window: int = INITIAL_WINDOW,
    mss: int = MSS,
    *,
    until: Until,
    header_bytes: int,
    receive_window: int = RECEIVE_WINDOW,
) -> int:
    """Round trips of one request whose response is handed to TCP at once, from slow start alone.

    A new connection pays one round trip for the handshake. Then flights follow, one a round trip: as many segments as the
    congestion window has, which doubles each time (RFC 5681, RFC 6928), and no more than the receiver offers (RFC 9293).
    A connection that is kept alive and warm has grown its windows already: 1. No loss.

    Parameters
    ----------
    size_bytes, header_bytes
        The response's body and its header (235 to 239 bytes of nginx for a file); the sum is what TCP carries.
    new_connection
        Whether the request opens its connection.
    until
        What the client waits for: the response's last byte (`LAST_BYTE`: browsers, wget, whoever knows the length), or the
        end of the connection (`CLOSE`: ab without -k, HTTP/1.0).
    initial_window, mss
        The first congestion window in segments, and bytes of payload in one.
    receive_window
        Bytes that the client offers first.

    Returns
    -------
    int
        From 1 on.

    Raises
    ------
    SlownetError
        A number is below its least, or ``until`` is neither of the two.

    Notes
    -----
    The FIN is a segment too and waits for a place in the congestion window: Linux let it pass until 6.9 (Dumazet, "tcp: remove
    dubious FIN exception from tcp_cwnd_test()", 2024). So a response that fills the first flight to its last segment costs
    one more if its end is waited for. In later flights the FIN rides on the last segment, which waits in the server's queue
    when the connection is closed (tcp_send_fin).
    Exact for two flights. From the third on it matters how the programs read and write, too: bytes that the client has not
    read yet narrow what it offers (22 to 36 segments in the third flight where 29 are taken here), and each 32 KiB that nginx
    writes may end in a small segment, which takes a place.
    """
    for name, value, least in (
        ("size_bytes", size_bytes, 0), ("header_bytes", header_bytes, 0), ("initial_window", initial_window, 1),
        ("mss", mss, 1), ("receive_window", receive_window, mss + TIMESTAMPS),
    ):  # fmt: skip
        _at_least(name, value, least)
    if until not in (LAST_BYTE, CLOSE):
        raise SlownetError(f"until is '{until}'", "in round_trips", f"write '{LAST_BYTE}' or '{CLOSE}'")
    if not new_connection:
        return 1
    size = size_bytes + header_bytes
    offered = receive_window // (mss + TIMESTAMPS) * (mss + TIMESTAMPS)
    flights = list(_flights(size, initial_window, mss, offered))
    is_full = flights[0] == initial_window or size == offered
    return 1 + len(flights) + (until == CLOSE and len(flights) == 1 and is_full)


def _flights(size: int, window: int, mss: int, offered: int) -> Iterator[int]:
    """The segments of each flight of a response of so many bytes; there is at least one."""
    client = _Receiver(offered, min(offered, INITIAL_WINDOW * (mss + TIMESTAMPS)))
    while size > min(window * mss, client.offers):
        segments = min(window, client.offers // mss)
        yield segments
        size -= segments * mss
        client.reads(segments * mss)
        window = max(window, 2 * segments)  # a window that was not filled does not grow (RFC 7661; tcp_is_cwnd_limited)
    yield max(1, math.ceil(size / mss))


class _Receiver:
    """What a client offers, which follows a round trip late what it has read (Fisk and Feng, "Dynamic right-sizing in TCP",
    2001): twice that, and for a sender in slow start twice its growth as well (tcp_rcvbuf_grow)."""

    def __init__(self, offers: int, most: int) -> None:
        self.offers = offers
        self._next = offers
        self._most = most  # bytes read in one round trip

    def reads(self, size: int) -> None:
        """One flight was read."""
        self.offers = self._next
        if size > self._most:
            self._next = max(self._next, 2 * size + 4 * size * (size - self._most) // self._most)
            self._most = size


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise SlownetError(f"{name} is {value}", "in round_trips", f"give {least} or more")
