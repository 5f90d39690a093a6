"""TCP connections of a network namespace as Linux's sock_diag reports them: those that are open, and those that have ended.

Open ones are dumped when they are asked for. A connection that ends is announced with its totals (struct tcp_info), so nothing
is asked while data flows.

Numbers and layouts: linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType, TracebackType
from typing import Any, Self

from slownet.model.errors import NetworkError
from slownet.net.namespace import inside
from slownet.net.netlink import NLM_F_DUMP, NLMSG_DONE, NLMSG_ERROR, attributes, messages, request

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
ENDED = 1 << 0 | 1 << 2
"""The groups of TCP connections over IPv4 and IPv6 that end (SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY)."""
STATES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11
"""Connections with data: established, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING (net/tcp_states.h)."""
INET_DIAG_INFO = 2
SO_RCVBUFFORCE = 33
ROOM = 4 << 20
"""Bytes for connections that end meanwhile, a kilobyte each; the kernel takes memory only for those that come."""
ANSWER_S = 5.0
_LAST = NLMSG_DONE, NLMSG_ERROR
UNLIMITED = 0x7FFFFFFF
"""TCP_INFINITE_SSTHRESH: slow start has not ended yet."""
_REQUEST = struct.Struct("=BBBxI48x")
"""struct inet_diag_req_v2: family, protocol, extensions, states, and any connection."""
_MESSAGE = struct.Struct("=B3x2s2s16s16s4xQ20x")
"""struct inet_diag_msg: family, both ports, both addresses, and the cookie."""
_WINDOWS, _TIMES, _SENT = struct.Struct("=II"), struct.Struct("=QQQ"), struct.Struct("=Q")
_WINDOWS_AT, _TIMES_AT, _SENT_AT = 76, 168, 200
"""Places in struct tcp_info: of snd_ssthresh and snd_cwnd; of busy_time, rwnd_limited and sndbuf_limited; of bytes_sent."""
_MAPPED = bytes(10) + b"\xff\xff"
"""The begin of an IPv4 address in IPv6's form: a socket for both has such, its packets are IPv4's."""


@dataclass(frozen=True)
class Connection:
    """One end of a TCP connection.

    local, remote: address and port of both ends.
    cookie: what distinguishes it from the kernel's other sockets.
    busy_us: how long something was to be sent or acknowledged.
    receive_limited_us, send_limited_us: how long of that the other end's receive window, or the own send buffer, held it back.
        Linux notes the buffer only if it sends several segments as one (net/ipv4/tcp_output.c, tcp_cwnd_validate), which hosts
        without offloads do not.
    bytes_sent: with those that were sent again.
    cwnd, ssthresh: the congestion window, and the limit of slow start, in segments, at the last; the limit is `UNLIMITED` if
        nothing had ended slow start.
    """

    local: tuple[str, int]
    remote: tuple[str, int]
    cookie: int
    busy_us: int
    receive_limited_us: int
    send_limited_us: int
    bytes_sent: int
    cwnd: int
    ssthresh: int

    def since(self, before: Connection | None) -> Connection:
        """Return it without the totals that it had at another time."""
        if before is None:
            return self
        return replace(
            self, busy_us=self.busy_us - before.busy_us, receive_limited_us=self.receive_limited_us - before.receive_limited_us,
            send_limited_us=self.send_limited_us - before.send_limited_us, bytes_sent=self.bytes_sent - before.bytes_sent,
        )  # fmt: skip


class SockDiag:
    """The connections of a host, from then on. Raises NetworkError if its kernel has no sock_diag."""

    _before: Mapping[int, Connection] = MappingProxyType({})

    def __init__(self, host: Any) -> None:
        try:
            with inside(host):
                self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
            with suppress(OSError):  # without privileges
                self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
            self._socket.bind((0, ENDED))
        except OSError as error:
            raise NetworkError(f"connections cannot be watched: {error.strerror}", f"host '{host.name}'") from error
        self._socket.settimeout(ANSWER_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close its socket."""
        self._socket.close()

    def begin(self) -> None:
        """Keep the totals of the connections, for `since_begin`."""
        self._before = {each.cookie: each for each in self.connections()}

    def since_begin(self) -> Iterator[Connection]:
        """Yield the connections like `connections`, without the totals that they had at the begin."""
        return (each.since(self._before.get(each.cookie)) for each in self.connections())

    def connections(self) -> Iterator[Connection]:
        """Yield the connections that have ended since the last call, and those that are open.

        Of thousands that end, those are missing that found the socket full.
        """
        with suppress(OSError):  # the network is gone
            for family in (socket.AF_INET, socket.AF_INET6):
                asked = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << INET_DIAG_INFO - 1, STATES)
                self._socket.send(request(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, family, asked))
                more = True
                while more:
                    data = self._received()
                    yield from parse(data)
                    more = not any(number == family and kind in _LAST for kind, _, number, _ in messages(data))

    def _received(self) -> bytes:
        while True:
            try:
                return self._socket.recv(1 << 18)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise


def parse(data: bytes) -> Iterator[Connection]:
    """Yield the connections of a datagram of sock_diag, without listening sockets and what has no totals."""
    for kind, _, _, message in messages(data):
        if kind == SOCK_DIAG_BY_FAMILY and len(message) >= _MESSAGE.size:
            family, own, other, source, target, cookie = _MESSAGE.unpack_from(message)
            info = attributes(message[_MESSAGE.size :]).get(INET_DIAG_INFO, b"")
            if any(other) and len(info) >= _SENT_AT + _SENT.size:
                size = 4 if family == socket.AF_INET else 16
                local, remote = (_address(source[:size]), int.from_bytes(own)), (_address(target[:size]), int.from_bytes(other))
                ssthresh, cwnd = _WINDOWS.unpack_from(info, _WINDOWS_AT)
                busy, receive, send = _TIMES.unpack_from(info, _TIMES_AT)
                (sent,) = _SENT.unpack_from(info, _SENT_AT)
                yield Connection(local, remote, cookie, busy, receive, send, sent, cwnd, ssthresh)


def _address(packed: bytes) -> str:
    packed = packed.removeprefix(_MAPPED) if len(packed) == 16 else packed
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)
