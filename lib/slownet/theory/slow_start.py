"""Round trips of one response by TCP's slow start."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from slownet.model.errors import SlownetError

MSS = 1448  # 1500 B Ethernet less IPv4 (20), TCP (20) and the timestamp option (12)
TIMESTAMPS = 12  # bytes of the timestamp option, which the MSS in the SYN includes
INITIAL_WINDOW = 10  # segments, RFC 6928
RECEIVE_WINDOW = 65_535
"""First receive window of a Linux client in bytes, before it is rounded down to whole segments.

It is half of tcp_rmem's 131,072, because Linux assumes that a byte of payload takes two of the buffer until it has seen a
segment (TCP_DEFAULT_SCALING_RATIO, tcp_select_initial_window), and the most that a SYN can offer, whose window has no scale
(RFC 7323, 2.2). The SYN in a capture shows 64,240 at MTU 1500 and 62,720 at 9000. A host that Mininet sets up has a tcp_rmem of
87,380 and shows 42,340."""

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
    """Compute the round trips of one request from slow start alone, for a response that is written to TCP at once.

    A new connection takes one round trip for the handshake. Then follows one flight per round trip: as many segments as the
    congestion window, which doubles each time (RFC 5681, RFC 6928), but no more than the receive window (RFC 9293). On a warm
    connection the windows have grown already, so it takes 1. Without loss.

    Parameters
    ----------
    size_bytes, header_bytes : int
        Sizes of the response's body and header (235 to 239 bytes for a file from nginx).
    new_connection : bool
        Whether the request opens its connection.
    until : {"last byte", "close"}
        What the client waits for: the response's last byte (`LAST_BYTE`: browsers, wget, any client that knows the length), or
        the end of the connection (`CLOSE`: ab without -k, HTTP/1.0).
    initial_window : int
        The first congestion window, in segments.
    mss : int
        Payload of a segment, in bytes.
    receive_window : int
        The client's first receive window, in bytes.

    Returns
    -------
    int
        1 or more.

    Raises
    ------
    SlownetError
        A number is below its minimum, or ``until`` is another text.

    Notes
    -----
    The FIN is a segment too and must fit into the congestion window; Linux exempted it until 6.9 (Dumazet, "tcp: remove
    dubious FIN exception from tcp_cwnd_test()", 2024). So a response that exactly fills the first flight takes one more round
    trip if the client waits for the end of the connection. In later flights the last segment carries the FIN, because it is
    still in the server's queue when the connection is closed (tcp_send_fin).

    The first receive window holds three flights that double, of 10, 20 and 40 segments, and it grows before the fourth: so it
    is no limit for a client that reads at once. The result is exact for two flights. From the third on it also depends on how
    the programs read and write: bytes that the client has not read yet reduce its receive window, and each 32 KiB that nginx
    writes may end in a small segment, which counts as a whole one.
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
    """Yield the segments of each flight of a response of ``size`` bytes; there is at least one flight."""
    client = _Receiver(offered, min(offered, INITIAL_WINDOW * (mss + TIMESTAMPS)))
    while size > min(window * mss, client.offers):
        segments = min(window, client.offers // mss)
        yield segments
        size -= segments * mss
        client.reads(segments * mss)
        window = max(window, 2 * segments)  # a window that was not filled does not grow (RFC 7661; tcp_is_cwnd_limited)
    yield max(1, math.ceil(size / mss))


class _Receiver:
    """The receive window of a client, which follows what it has read with a delay of one round trip.

    It is twice that, plus twice its growth for a sender in slow start (Fisk and Feng, "Dynamic right-sizing in TCP", 2001;
    tcp_rcvbuf_grow).
    """

    def __init__(self, offers: int, most: int) -> None:
        self.offers = offers
        self._next = offers
        self._most = most  # bytes read in one round trip

    def reads(self, size: int) -> None:
        """Update the window after one flight of ``size`` bytes was read."""
        self.offers = self._next
        if size > self._most:
            self._next = max(self._next, 2 * size + 4 * size * (size - self._most) // self._most)
            self._most = size


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise SlownetError(f"{name} is {value}", "in round_trips", f"give {least} or more")
