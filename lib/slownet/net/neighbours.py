"""Static neighbour entries, so that ARP does not change what a condition does to packets.

During a cut, a host repeats an ARP request up to a second after the cut, and its packets are late by that much. With a seed
that decides which packets are lost, an ARP request would use up one of its draws.
"""

from __future__ import annotations

import fcntl
import socket
import struct
from collections import deque
from collections.abc import Iterator, MutableSet
from contextlib import contextmanager
from typing import Any

from slownet.net.netlink import NUD_PERMANENT, NUD_STALE, Route
from slownet.net.nodes import inside

SIOCGIFHWADDR = 0x8927


def introduce(ends: tuple[Any, Any], introduced: MutableSet[Any]) -> None:
    """Give the hosts and routers on both sides of a cable permanent entries for each other's hardware addresses.

    introduced: the cables that have them.
    """
    if ends[0].link in introduced:
        return
    near, far = (_domain(end, other) for end, other in (ends, ends[::-1]))
    macs = {interface: _mac(interface) for interface in (*near, *far)}
    for interface, others in [(each, far) for each in near] + [(each, near) for each in far]:
        with inside(interface.node), Route() as route:
            for other in others:
                route.set_neighbour(interface.name, other.IP(), macs[other], NUD_PERMANENT)
    introduced.add(ends[0].link)


@contextmanager
def known(ends: tuple[Any, Any], introduced: MutableSet[Any]) -> Iterator[None]:
    """Give the hosts and routers on both sides of a cable, as far as ARP reaches, these entries for a while.

    introduced: as for `introduce`; the cable is removed from it afterwards.
    """
    near, far = (_domain(end, other) for end, other in (ends, ends[::-1]))
    macs = {interface: _mac(interface) for interface in (*near, *far)}
    before: list[tuple[Any, Any, int]] = []
    for interface, others in [(each, far) for each in near] + [(each, near) for each in far]:
        with inside(interface.node), Route() as route:
            for other in others:
                state = route.neighbour(interface.name, other.IP())
                if state != NUD_PERMANENT:  # a static entry stays as it is
                    before.append((interface, other, state))
                    route.set_neighbour(interface.name, other.IP(), macs[other], NUD_PERMANENT)
    try:
        yield
    finally:
        introduced.discard(ends[0].link)
        for interface, other, state in before:
            with inside(interface.node), Route() as route:
                if state:
                    route.set_neighbour(interface.name, other.IP(), macs[other], NUD_STALE)
                else:
                    route.forget_neighbour(interface.name, other.IP())


def _domain(end: Any, other: Any) -> list[Any]:
    """Return the interfaces with addresses that a broadcast from the cable reaches at this end, across switches only."""
    found, queue, seen = [], deque([end]), {other.node}
    while queue:
        interface = queue.popleft()
        if not hasattr(interface.node, "dpid"):
            found += [interface] if interface.IP() else []
            continue
        if interface.node in seen:
            continue
        seen.add(interface.node)
        for each in interface.node.intfList():
            if each.link is not None and each is not end:
                queue.append(each.link.intf2 if each.link.intf1 is each else each.link.intf1)
    return found


def _mac(interface: Any) -> str:
    with inside(interface.node), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, SIOCGIFHWADDR, struct.pack("16s24x", interface.name.encode()))
    return ":".join(f"{byte:02x}" for byte in answer[18:24])
