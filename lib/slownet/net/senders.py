"""Limits on the senders of a measurement, which the kernel sums up for each connection.

Linux counts for each connection how long it had something to send, and how long of that only the other end's receive window
kept it from sending (tcp_info: tcpi_busy_time, tcpi_rwnd_limited). Connections that end are announced with these times; the
others are asked for before and afterwards, so that nothing is asked while data flows. Only where the CPU is free: elsewhere the
clock would charge for it.
Numbers and layouts: linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from slownet.lab.host import native
from slownet.model.errors import NetworkError
from slownet.model.sample import Limited
from slownet.net.namespace import inside
from slownet.net.netlink import attributes

NETLINK_SOCK_DIAG = 4
ENDED = 1 << 0 | 1 << 2
"""The groups of TCP connections over IPv4 and IPv6 that end (SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY)."""
SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 20, 0x1, 0x300, 2, 3
INET_DIAG_INFO = 2
ASKED = struct.Struct("=BBBxI48x")
"""struct inet_diag_req_v2: family, protocol, extensions, states, and any connection."""
STATES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11
"""Connections with data: established, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING (net/tcp_states.h)."""
HEAD = struct.Struct("=IHHII")
MESSAGE_BYTES = 72
"""The length of struct inet_diag_msg."""
COOKIE, COOKIE_AT = struct.Struct("=Q"), 44
"""The key of a connection in struct inet_diag_msg."""
TIMES, SENT = struct.Struct("=QQ"), struct.Struct("=Q")
TIMES_AT, SENT_AT = 168, 200
"""The offsets in tcp_info of the times, and of tcpi_bytes_sent (Linux 4.19 and later)."""
BULK = 64 * 1024
"""Bytes from which a connection counts: smaller ones fit into the first windows."""
ANSWER_S = 5.0
HALF = 0.5
"""The part of the busy time from which the receive window is what limits."""


@dataclass(frozen=True)
class Sender:
    """A connection, seen from the end that sent.

    Attributes
    ----------
    host : str
        The host that sent.
    busy_s, waited_s : float
        Seconds in which there was something to send, and those of them in which only the receive window forbade it.
    sent : int
        Bytes, with those that were sent again.
    cookie : int
        What distinguishes it from the kernel's other connections.
    """

    host: str
    busy_s: float
    waited_s: float
    sent: int
    cookie: int = 0

    def since(self, before: Sender | None) -> Sender:
        """Return what it did after another time."""
        if before is None:
            return self
        spent = self.busy_s - before.busy_s, self.waited_s - before.waited_s
        return replace(self, busy_s=spent[0], waited_s=spent[1], sent=self.sent - before.sent)


def limited(senders: Iterable[Sender]) -> Limited | None:
    """Say whether receive windows limited what was sent.

    Returns
    -------
    dict
        ``share`` of the busy time, and the ``host`` that sent most; None unless the windows of connections that carried at
        least `BULK` bytes limited them for at least `HALF` of the time.
    """
    bulk = [each for each in senders if each.sent >= BULK and each.busy_s > 0]
    busy = sum(each.busy_s for each in bulk)
    share = sum(each.waited_s for each in bulk) / busy if busy else 0.0
    if share < HALF:
        return None
    most = max(bulk, key=lambda each: each.sent)
    return {"by": "receive window", "share": round(share, 4), "host": most.host}


@contextmanager
def watched(nodes: Iterable[Any], log: list[Sender]) -> Iterator[None]:
    """Add to the log what the connections of these nodes did within the block."""
    if not native.cpu_is_free():
        yield
        return
    with ExitStack() as stack:
        listening = [(each.name, stack.enter_context(_listening(each))) for each in nodes if each.inNamespace]
        before = {(name, each.cookie): each for name, asking in listening for each in _all(name, asking)}
        try:
            yield
        finally:
            for name, asking in listening:
                now = {each.cookie: each for each in _all(name, asking)}
                log += [each.since(before.get((name, each.cookie))) for each in now.values()]


def _listening(node: Any) -> socket.socket:
    with inside(node):
        ended = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
    try:
        ended.bind((0, ENDED))
        ended.settimeout(ANSWER_S)
    except OSError as error:
        ended.close()
        raise NetworkError(f"connections cannot be watched: {error.strerror}", f"host '{node.name}'") from error
    return ended


def _all(name: str, asking: socket.socket) -> Iterator[Sender]:
    """Yield the connections that have ended since the last call, and those that exist.

    What a socket had no room for is missing: the ends of thousands of short connections.
    """
    with suppress(OSError):  # the network is gone
        for family in (socket.AF_INET, socket.AF_INET6):
            asked = ASKED.pack(family, socket.IPPROTO_TCP, 1 << INET_DIAG_INFO - 1, STATES)
            asking.send(HEAD.pack(HEAD.size + len(asked), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, family, 0) + asked)
            while True:
                try:
                    data = asking.recv(65536)
                except OSError as error:
                    if error.errno != errno.ENOBUFS:
                        raise
                    continue
                yield from parse(name, data)
                if HEAD.unpack_from(data)[3] == family and _ends(data):
                    break


def _ends(data: bytes) -> bool:
    """Return whether a datagram of an answer has its end, or an error."""
    while len(data) >= HEAD.size:
        length, kind, *_ = HEAD.unpack_from(data)
        if kind in (NLMSG_DONE, NLMSG_ERROR) or length < HEAD.size:
            return True
        data = data[length + -length % 4 :]
    return False


def parse(name: str, data: bytes) -> Iterator[Sender]:
    """Yield those connections of a datagram that have sent something."""
    while len(data) >= HEAD.size:
        length = HEAD.unpack_from(data)[0]
        if length < HEAD.size:
            return
        info = attributes(data[HEAD.size + MESSAGE_BYTES : length]).get(INET_DIAG_INFO, b"")
        cookie = data[HEAD.size + COOKIE_AT : HEAD.size + COOKIE_AT + COOKIE.size]
        data = data[length + -length % 4 :]
        if len(info) < SENT_AT + SENT.size:  # not of a connection, such as a listening socket
            continue
        busy, waited = TIMES.unpack_from(info, TIMES_AT)
        sent = SENT.unpack_from(info, SENT_AT)[0]
        if sent:
            yield Sender(name, busy / 1e6, waited / 1e6, sent, COOKIE.unpack(cookie)[0])
