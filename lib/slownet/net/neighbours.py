"""Static neighbour entries, so that ARP, or neighbour discovery of IPv6, does not change what a condition does to packets.

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

from slownet.net import addresses
from slownet.net.namespace import inside
from slownet.net.netlink import NUD_PERMANENT, NUD_STALE, Route

SIOCGIFHWADDR = 0x8927


def introduce(ends: tuple[Any, Any], introduced: MutableSet[Any]) -> None:
    """Give the hosts and routers on both sides of a cable permanent entries for each other's hardware addresses.

    introduced: the cables that have them.
    """
    if ends[0].link in introduced:
        return
    for interface, others in _pairs(ends):
        with inside(interface.node), Route() as route:
            for address, mac in others:
                route.set_neighbour(interface.name, address, mac, NUD_PERMANENT)
    introduced.add(ends[0].link)


@contextmanager
def known(ends: tuple[Any, Any], introduced: MutableSet[Any]) -> Iterator[None]:
    """Give the hosts and routers on both sides of a cable, as far as ARP reaches, these entries for a while.

    introduced: as for `introduce`; the cable is removed from it afterwards.
    """
    before: list[tuple[Any, str, str, int]] = []
    for interface, others in _pairs(ends):
        with inside(interface.node), Route() as route:
            for address, mac in others:
                state = route.neighbour(interface.name, address)
                if state != NUD_PERMANENT:  # a static entry stays as it is
                    before.append((interface, address, mac, state))
                    route.set_neighbour(interface.name, address, mac, NUD_PERMANENT)
    try:
        yield
    finally:
        introduced.discard(ends[0].link)
        for interface, address, mac, state in before:
            with inside(interface.node), Route() as route:
                if state:
                    route.set_neighbour(interface.name, address, mac, NUD_STALE)
                else:
                    route.forget_neighbour(interface.name, address)


def _pairs(ends: tuple[Any, Any]) -> list[tuple[Any, list[tuple[str, str]]]]:
    """Return each interface at both sides of a cable with the addresses, IPv4 and IPv6, and MACs at the other side."""
    sides = [_domain(end, other) for end, other in (ends, ends[::-1])]
    named = [[(address, _mac(each)) for each in side for address in _addresses(each)] for side in sides]
    return [(each, others) for side, others in zip(sides, reversed(named), strict=True) for each in side]


def _addresses(interface: Any) -> list[str]:
    with inside(interface.node):
        return [interface.IP(), *addresses.of_interface(interface.name)]


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
