"""A host's kernel's own record of the time of a capture, for what packets do not show: totals of connections, and counters.

A TCP sender that waits looks the same on the wire whether its congestion window or its program's send buffer holds it back; a
segment that was dropped behind the interface, by a full queue of a listening socket or of a datagram's, looks as if it had
arrived. The kernel counts both. A connection's totals (struct tcp_info) are asked for once at the end, by sock_diag; those of
connections that end before come by themselves. So nothing runs meanwhile, and the times of what is measured stay as they are.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from slownet.lab.host import native
from slownet.model import shapes
from slownet.model.errors import ToolError
from slownet.net.namespace import inside
from slownet.net.sock_diag import Connection, SockDiag

CPUCLOCK_SCHED = 2
"""The clock of a process's CPU time, in ns (linux/posix-timers.h); the others count ticks."""
CHILDREN = slice(13, 15)
"""The fields cutime and cstime of /proc/PID/stat, behind the name."""
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
        self._sockets = SockDiag(self._host)
        self._sockets.begin()
        with inside(self._host):
            self._counters = _counters()
            self._cpu = _processes()
        return self

    def __exit__(self, *_: object) -> None:
        self._sockets.close()

    def record(self) -> KernelRecord:
        """Return what was counted since the begin."""
        connections = tuple(self._sockets.since_begin())
        with inside(self._host):
            counters = {name: count - self._counters.get(name, 0) for name, count in _counters().items()}
            cpu_us = self._cpu_since(_processes())
        return KernelRecord(connections, {name: count for name, count in counters.items() if count > 0}, cpu_us)

    def _cpu_since(self, now: Mapping[int, tuple[str, int]]) -> dict[str, int]:
        found: Counter[str] = Counter()
        for process, (name, spent) in now.items():
            before, then = self._cpu.get(process, (name, 0))
            found[name] += max(0, spent - (then if before == name else 0))
        return dict(found)


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
_TOTALS = "cookie", "busy_us", "receive_limited_us", "send_limited_us", "bytes_sent", "cwnd", "ssthresh"
_CONNECTION = shapes.record({"local": _END, "remote": _END, **dict.fromkeys(_TOTALS, shapes.whole())})
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
