"""A host's kernel's own record of the time of a capture, for what packets do not show: totals of connections, and counters.

A TCP sender that waits looks the same on the wire whether its congestion window or its program's send buffer holds it back; a
segment that was dropped behind the interface, by a full queue of a listening socket or of a datagram's, looks as if it had
arrived. The kernel counts both. A connection's totals (struct tcp_info) are asked for once at the end, by sock_diag; those of
connections that end before come by themselves (SKNLGRP_INET_TCP_DESTROY). So nothing runs meanwhile, and the times of
what is measured stay as they are.

Numbers and layouts: linux/inet_diag.h, linux/sock_diag.h, linux/tcp.h.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from slownet.lab.host import native
from slownet.model import shapes
from slownet.model.errors import ToolError
from slownet.net.namespace import inside

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, NLM_F_DUMP = 4, 20, 0x1, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
TCP_DESTROY, TCP6_DESTROY = 1, 3
"""Groups that get a connection's totals when it ends (SKNLGRP_...)."""
INET_DIAG_INFO = 2
TCP_LISTEN = 10
SO_RCVBUFFORCE = 33
ROOM = 4 << 20
"""Bytes for connections that end meanwhile, a kilobyte each; the kernel takes memory only for those that come."""
_HEAD = struct.Struct("=IHHII")
_MESSAGE = struct.Struct("=BBBB2s2s16s16s")
"""The begin of struct inet_diag_msg: family, state, timer, retransmissions; both ports and both addresses."""
_ATTRIBUTES = 72
_TIMES = struct.Struct("=QQQ")
_TIMES_AT, _WINDOWS_AT = 168, 76
"""Places in struct tcp_info: of busy_time, rwnd_limited and sndbuf_limited, in us; of snd_ssthresh and snd_cwnd."""
CPUCLOCK_SCHED = 2
"""The clock of a process's CPU time, in ns (linux/posix-timers.h); the others count ticks."""
CHILDREN = slice(13, 15)
"""The fields cutime and cstime of /proc/PID/stat, behind the name."""
UNLIMITED = 0x7FFFFFFF
"""TCP_INFINITE_SSTHRESH: slow start has not ended yet."""
COUNTERS = {
    "snmp": {
        "Ip:": (
            "InReceives", "InDelivers", "ForwDatagrams", "ReasmReqds", "ReasmOKs", "InHdrErrors", "InAddrErrors",
            "InUnknownProtos", "InDiscards",
        ),
        "Udp:": ("RcvbufErrors",),
    },
    "netstat": {"TcpExt:": ("ListenOverflows", "TCPBacklogDrop", "TCPRcvQDrop"), "IpExt:": ("InNoRoutes",)},
}  # fmt: skip
"""Counters that are kept: files of /proc/net, their sections, and names, each of them in one section only."""


@dataclass(frozen=True)
class Connection:
    """The totals of one end of a TCP connection.

    Attributes
    ----------
    local, remote : tuple of (str, int)
        Address and port of both ends.
    busy_us : int
        How long something was to be sent or acknowledged.
    receive_limited_us, send_limited_us : int
        How long of that the other end's receive window, or the own send buffer, held it back. Linux notes the buffer only if it
        sends several segments as one (net/ipv4/tcp_output.c, tcp_cwnd_validate), which hosts without offloads do not.
    cwnd, ssthresh : int
        The congestion window, and the limit of slow start, in segments, when the connection or the capture ended; the limit is
        `UNLIMITED` if nothing had ended slow start.
    """

    local: tuple[str, int]
    remote: tuple[str, int]
    busy_us: int
    receive_limited_us: int
    send_limited_us: int
    cwnd: int
    ssthresh: int


@dataclass(frozen=True)
class KernelRecord:
    """The counts of a host's kernel during a capture.

    Attributes
    ----------
    connections : tuple of Connection
        Those that ended meanwhile, and those that were open at the end.
    counters : mapping of str to int
        How much each of `COUNTERS` has grown.
    cpu_us : mapping of str to int
        The CPU time of its programs by name, with that of their children that have ended; of those that ran at the end. Empty
        where the CPU is free.
    """

    connections: tuple[Connection, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    cpu_us: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return it as data, which `read` reads."""
        return asdict(self)


@contextmanager
def recording(files: Sequence[tuple[Any, Path]]) -> Iterator[None]:
    """Record what the kernel counts on hosts, each with the file to write at the end."""
    with ExitStack() as stack:
        watched = [(path, stack.enter_context(_Watched(host))) for host, path in files]
        try:
            yield
        finally:
            for path, each in watched:
                path.write_text(json.dumps(each.record().to_json()))


class _Watched:
    """A host whose kernel is asked at the begin and at the end of a block."""

    def __init__(self, host: Any) -> None:
        self._host = host

    def __enter__(self) -> _Watched:
        with inside(self._host):
            self._ended = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
            with suppress(OSError):
                self._ended.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
            with suppress(OSError):  # a kernel without sock_diag
                self._ended.bind((0, 1 << TCP_DESTROY - 1 | 1 << TCP6_DESTROY - 1))
            self._ended.setblocking(False)
            self._open = {(each.local, each.remote): each for each in _open()}
            self._counters = _counters()
            self._cpu = _processes()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.close()

    def record(self) -> KernelRecord:
        """Return what was counted since the begin."""
        with inside(self._host):
            found = [*self._those_that_ended(), *_open()]
            counters = {name: count - self._counters.get(name, 0) for name, count in _counters().items()}
            cpu_us = self._cpu_since(_processes())
        connections = tuple(self._since(each) for each in found)
        return KernelRecord(connections, {name: count for name, count in counters.items() if count > 0}, cpu_us)

    def _cpu_since(self, now: Mapping[int, tuple[str, int]]) -> dict[str, int]:
        found: Counter[str] = Counter()
        for process, (name, spent) in now.items():
            before, then = self._cpu.get(process, (name, 0))
            found[name] += max(0, spent - (then if before == name else 0))
        return dict(found)

    def _those_that_ended(self) -> Iterator[Connection]:
        while True:
            try:
                message = self._ended.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError:  # no room for some of them
                continue
            yield from connections(message)

    def _since(self, now: Connection) -> Connection:
        """Return a connection's totals without those from before the begin."""
        then = self._open.get((now.local, now.remote))
        if then is None or then.busy_us > now.busy_us:
            return now
        return replace(
            now, busy_us=now.busy_us - then.busy_us, receive_limited_us=now.receive_limited_us - then.receive_limited_us,
            send_limited_us=now.send_limited_us - then.send_limited_us,
        )  # fmt: skip


def _open() -> Iterator[Connection]:
    """Yield the connections of this thread's network namespace."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG) as asked:
        for family in (socket.AF_INET, socket.AF_INET6):
            states = 0xFFF & ~(1 << TCP_LISTEN)
            body = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 1 << INET_DIAG_INFO - 1, states)
            asked.send(_HEAD.pack(16 + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0) + body)
            more = True
            while more:
                answer = asked.recv(1 << 18)
                more = not any(kind in (NLMSG_DONE, NLMSG_ERROR) for kind, _ in _messages(answer))
                yield from connections(answer)


def connections(answer: bytes) -> Iterator[Connection]:
    """Yield the connections of what sock_diag has sent, messages one after the other."""
    for kind, message in _messages(answer):
        if kind == SOCK_DIAG_BY_FAMILY and (found := _connection(message)):
            yield found


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEAD.size <= len(data):
        length, kind, *_ = _HEAD.unpack_from(data, at)
        yield kind, data[at + _HEAD.size : at + length]
        at += max(_HEAD.size, length + -length % 4)


def _connection(message: bytes) -> Connection | None:
    """Return the totals of a message; None without any, as of a connection in TIME-WAIT."""
    if len(message) < _ATTRIBUTES:
        return None
    family, _, _, _, own, other, source, target = _MESSAGE.unpack_from(message)
    at = _ATTRIBUTES
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        info = message[at + 4 : at + length]
        if kind == INET_DIAG_INFO and len(info) >= _TIMES_AT + _TIMES.size:
            size = 4 if family == socket.AF_INET else 16
            ends = ((_address(each[:size]), int.from_bytes(port)) for each, port in ((source, own), (target, other)))
            local, remote = ends
            busy, received, sent = _TIMES.unpack_from(info, _TIMES_AT)
            ssthresh, cwnd = struct.unpack_from("=II", info, _WINDOWS_AT)
            return Connection(local, remote, busy, received, sent, cwnd, ssthresh)
        at += max(4, length + -length % 4)
    return None


MAPPED = bytes(10) + b"\xff\xff"
"""The begin of an IPv4 address in IPv6's form: a socket for both has such, its packets are IPv4's."""


def _address(packed: bytes) -> str:
    packed = packed.removeprefix(MAPPED) if len(packed) == 16 else packed
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def _counters() -> dict[str, int]:
    """Return the counters of this thread's network namespace."""
    found: dict[str, int] = {}
    for file, sections in COUNTERS.items():
        with suppress(OSError):
            lines = Path("/proc/thread-self/net", file).read_text().splitlines()
            for names, values in zip(lines[::2], lines[1::2], strict=False):
                section, *named = names.split()
                wanted = sections.get(section, ())
                found |= {name: int(value) for name, value in zip(named, values.split()[1:], strict=False) if name in wanted}
    return found


def _processes() -> dict[int, tuple[str, int]]:
    """Return the processes of this thread's network namespace: name, and us of CPU with that of children that have ended.

    The clock of User-Mode Linux's scheduler counts ticks of 4 ms; of the children's time the kernel shows ticks of 10 ms. Where
    the CPU is free, nothing is asked.
    """
    if native.cpu_is_free():
        return {}
    here, found = os.stat("/proc/thread-self/ns/net").st_ino, {}
    for each in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError, ValueError):  # it has ended meanwhile
            if os.stat(f"/proc/{each}/ns/net").st_ino == here and each != str(os.getpid()):
                own = time.clock_gettime_ns(~int(each) << 3 | CPUCLOCK_SCHED) // 1000
                name, _, rest = Path("/proc", each, "stat").read_text().partition("(")[2].rpartition(")")
                ticks = sum(map(int, rest.split()[CHILDREN]))
                found[int(each)] = name, own + ticks * 1_000_000 // os.sysconf("SC_CLK_TCK")
    return found


_END = shapes.each(shapes.anything, 2)
_CONNECTION = shapes.record(
    {
        "local": _END, "remote": _END, "busy_us": shapes.whole(), "receive_limited_us": shapes.whole(),
        "send_limited_us": shapes.whole(), "cwnd": shapes.whole(), "ssthresh": shapes.whole(),
    }
)  # fmt: skip
_COUNTS = shapes.mapping(shapes.whole())
_SHAPE = shapes.record({"connections": shapes.each(_CONNECTION), "counters": _COUNTS, "cpu_us": _COUNTS})


def read(text: str, name: str) -> KernelRecord:
    """Return the record of a file that a lab has written. name: the file's, for the error. Raises ToolError."""
    try:
        found = json.loads(text)
        _SHAPE(found, "the record")
        return KernelRecord(tuple(_read(each) for each in found["connections"]), found["counters"], found["cpu_us"])
    except ValueError as error:
        raise ToolError(f"not a record of a kernel: {error}", name, "measure it again") from error


def _read(each: Mapping[str, Any]) -> Connection:
    ends = {}
    for name in ("local", "remote"):
        end = each[name]
        if len(end) != 2 or not isinstance(end[0], str) or type(end[1]) is not int:
            raise ValueError("an end is not an address and a port")
        ends[name] = end[0], end[1]
    return Connection(**{**each, **ends})
