"""Remains of a test on a network: changes of the kernel's state that slownet did not make, and stray processes on its hosts.

It is read before every test, so with netlink dumps, a few system calls per host; `ip` and `tc` would need a process each.
Numbers and layouts: linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h, linux/pkt_sched.h.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from slownet.lab.host import process_stat
from slownet.net.namespace import inside
from slownet.net.netlink import IFF_UP, attributes, dumped
from slownet.net.process import wait_until

GONE_S = 2.0


def spaces(hosts: Collection[Any]) -> frozenset[int]:
    """Return the inode numbers of the hosts' network namespaces. Switches have none: they share this machine's."""
    return frozenset(os.fstat(host.namespace.net).st_ino for host in hosts if getattr(host, "namespace", None))


@dataclass(frozen=True)
class Process:
    """A process by what it came from."""

    session: int
    parent: int


def living_in(spaces: Collection[int]) -> dict[int, int]:
    """Return the processes in these namespaces: {number: session}."""
    return {number: each.session for number, each in _processes(spaces).items()}


def end(spaces: Collection[int], sessions: Collection[int] = (), kept: Collection[int] = ()) -> None:
    """Kill the processes in these namespaces, except those in `kept`, in these sessions, and the latter's descendants."""
    strays = among(_processes(spaces), sessions, kept)
    for number in strays:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    wait_until(lambda: not any(_lives(number) for number in strays), GONE_S)


def among(processes: Mapping[int, Process], sessions: Collection[int], kept: Collection[int]) -> list[int]:
    """Return the processes that are neither in `kept` nor in these sessions, and descend from none in these sessions.

    A server's child may have a session of its own: PostgreSQL gives one to the process of each connection.
    """

    def belongs(number: int) -> bool:
        seen = set()
        while number in processes and number not in seen:
            if processes[number].session in sessions:
                return True
            seen.add(number)
            number = processes[number].parent
        return False

    return [number for number in processes if number not in kept and not belongs(number)]


def _processes(spaces: Collection[int]) -> dict[int, Process]:
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if (entry / "ns/net").stat().st_ino in spaces and (stat := process_stat.of(entry.name)):
                    found[int(entry.name)] = Process(stat.session, stat.parent)
    return found


def _lives(number: int) -> bool:
    stat = process_stat.of(number)
    return stat is not None and stat.lives


RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE, RTM_GETQDISC = 18, 22, 26, 38


class NodeState(TypedDict):
    """The state of a node's network, without counters."""

    links: list[tuple[str, bool, bytes, bytes]]
    addresses: list[tuple[str, int, bytes]]
    routes: list[tuple[bytes, tuple[tuple[int, bytes], ...]]]
    queues: dict[str, list[tuple[int, int, bytes, bytes]]]
    sysctls: dict[str, str]


Fingerprint = dict[str, NodeState]


def take(nodes: Collection[Any], sysctls: Collection[str]) -> Fingerprint:
    """Read, for each node, its interfaces, their addresses, routes and queues, and these sysctls.

    It has no counters. For a node in the machine's own namespace, only its own interfaces are read. Raises NetworkError,
    OSError.
    """
    return {node.name: _of_node(node, sysctls) for node in nodes}


def without_queues(fingerprint: Fingerprint, interfaces: Collection[tuple[str, str]]) -> Fingerprint:
    """Return the fingerprint without the queues of some interfaces. interfaces: the names of their nodes, and their own."""
    return {
        node: {**one, "queues": {name: each for name, each in one["queues"].items() if (node, name) not in interfaces}}
        for node, one in fingerprint.items()
    }


def _of_node(node: Any, sysctls: Collection[str]) -> NodeState:
    mine = None if node.inNamespace else {interface.name for interface in node.intfList()}
    with inside(node), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as asking:
        links = [each for each in _links(asking) if mine is None or each[1] in mine]
        names = {index: name for index, name, *_ in links}
        return {
            "links": sorted(each[1:] for each in links),
            "addresses": sorted(_addresses(asking, names)),
            "routes": sorted(_routes(asking)) if node.inNamespace else [],
            "queues": _queues(asking, names),
            "sysctls": {name: sysctl(name) for name in sysctls} if node.inNamespace else {},
        }


def _links(asking: socket.socket) -> Iterator[tuple[int, str, bool, bytes, bytes]]:
    for body in dumped(asking, RTM_GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0), "read the links"):
        _, _, index, flags, _ = struct.unpack_from("=BxHiII", body)
        found = attributes(body[16:])
        yield index, found[3].rstrip(b"\0").decode(), bool(flags & IFF_UP), found.get(4, b""), found.get(1, b"")


def _addresses(asking: socket.socket, names: Mapping[int, str]) -> Iterator[tuple[str, int, bytes]]:
    for body in dumped(asking, RTM_GETADDR, struct.pack("=BBBBi", socket.AF_INET, 0, 0, 0, 0), "read the addresses"):
        _, prefix, _, _, index = struct.unpack_from("=BBBBi", body)
        if index in names:
            yield names[index], prefix, attributes(body[8:]).get(2, b"")


def _routes(asking: socket.socket) -> Iterator[tuple[bytes, tuple[tuple[int, bytes], ...]]]:
    for body in dumped(asking, RTM_GETROUTE, struct.pack("=8BI", socket.AF_INET, 0, 0, 0, 0, 0, 0, 0, 0), "read the routes"):
        yield body[:12], tuple(sorted((kind, data) for kind, data in attributes(body[12:]).items() if kind != 12))  # cache


def _queues(asking: socket.socket, names: Mapping[int, str]) -> dict[str, list[tuple[int, int, bytes, bytes]]]:
    found: dict[str, list[tuple[int, int, bytes, bytes]]] = {}
    for body in dumped(asking, RTM_GETQDISC, struct.pack("=BxHiIII", 0, 0, 0, 0, 0, 0), "read the queues"):
        _, _, index, handle, parent, _ = struct.unpack_from("=BxHiIII", body)
        if index in names:
            what = attributes(body[20:])
            found.setdefault(names[index], []).append((handle, parent, what.get(1, b""), what.get(2, b"")))
    return {name: sorted(each) for name, each in found.items()}


def sysctl(name: str) -> str:
    """Return a setting of the kernel, of this thread's network namespace. Raises OSError."""
    return Path("/proc/sys", name.replace(".", "/")).read_text().strip()
