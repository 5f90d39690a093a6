"""What kept the senders of a measurement from sending faster, as the kernel sums it up when it closes their connections.

Linux counts for each connection how long it had something to send, and how long of that only the other end's receive window
kept it from sending (tcp_info: tcpi_busy_time, tcpi_rwnd_limited). When a connection ends, both are sent to whoever listens, so
nothing is asked while data flows. Only where the CPU is free: elsewhere the clock would charge for it.
Numbers and layouts: linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from slownet.errors import NetworkError
from slownet.lab import native
from slownet.net.netlink import attributes
from slownet.net.nodes import inside

NETLINK_SOCK_DIAG = 4
ENDED = 1 << 0 | 1 << 2
"""The groups of TCP connections over IPv4 and IPv6 that end (SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY)."""
INET_DIAG_INFO = 2
HEAD = struct.Struct("=IHHII")
MESSAGE_BYTES = 72
"""The length of struct inet_diag_msg."""
TIMES, SENT = struct.Struct("=QQ"), struct.Struct("=Q")
TIMES_AT, SENT_AT = 168, 200
"""Where tcp_info has the times, and tcpi_bytes_sent (Linux 4.19 and later)."""
BULK = 64 * 1024
"""Bytes from which a connection counts: smaller ones fit into the first windows."""
HALF = 0.5
"""The part of the busy time from which the receive window is what limits."""


@dataclass(frozen=True)
class Sender:
    """A connection that has ended, seen from the end that sent.

    Attributes
    ----------
    host : str
        The host that sent.
    busy_s, waited_s : float
        Seconds in which there was something to send, and those of them in which only the receive window forbade it.
    sent : int
        Bytes, with those that were sent again.
    """

    host: str
    busy_s: float
    waited_s: float
    sent: int


def limited(senders: Iterable[Sender]) -> dict[str, Any]:
    """Say whether receive windows limited what was sent.

    Returns
    -------
    dict
        ``share`` of the busy time, and the ``host`` that sent most; empty unless the windows of connections that carried at
        least `BULK` bytes limited them for at least `HALF` of the time.
    """
    bulk = [each for each in senders if each.sent >= BULK and each.busy_s > 0]
    busy = sum(each.busy_s for each in bulk)
    share = sum(each.waited_s for each in bulk) / busy if busy else 0.0
    if share < HALF:
        return {}
    most = max(bulk, key=lambda each: each.sent)
    return {"by": "receive window", "share": round(share, 4), "host": most.host}


@contextmanager
def watched(nodes: Iterable[Any], log: list[Sender]) -> Iterator[None]:
    """Add the connections of these nodes that end within the block to the log."""
    if not native.cpu_is_free():
        yield
        return
    with ExitStack() as stack:
        listening = [(each.name, stack.enter_context(_listening(each))) for each in nodes if each.inNamespace]
        try:
            yield
        finally:
            for name, ended in listening:
                with suppress(OSError):  # the network is gone
                    log += _read(name, ended)


def _listening(node: Any) -> socket.socket:
    with inside(node):
        ended = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
    try:
        ended.bind((0, ENDED))
        ended.setblocking(False)
    except OSError as error:
        ended.close()
        raise NetworkError(f"connections cannot be watched: {error.strerror}", f"host '{node.name}'") from error
    return ended


def _read(name: str, ended: socket.socket) -> Iterator[Sender]:
    """Yield what a socket was told. What it had no room for is missing: the ends of thousands of short connections."""
    while True:
        try:
            data = ended.recv(65536)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            continue
        yield from parse(name, data)


def parse(name: str, data: bytes) -> Iterator[Sender]:
    """Yield the connections of a datagram that had something to send."""
    while len(data) >= HEAD.size:
        length = HEAD.unpack_from(data)[0]
        if length < HEAD.size:
            return
        info = attributes(data[HEAD.size + MESSAGE_BYTES : length]).get(INET_DIAG_INFO, b"")
        data = data[length + -length % 4 :]
        if len(info) < SENT_AT + SENT.size:  # not of a connection, such as a listening socket
            continue
        busy, waited = TIMES.unpack_from(info, TIMES_AT)
        sent = SENT.unpack_from(info, SENT_AT)[0]
        if sent:
            yield Sender(name, busy / 1e6, waited / 1e6, sent)
