"""Who knows whose Ethernet address without asking: an ARP request would take one of a seed's draws."""

from __future__ import annotations

from typing import Any

from slownet.net.netlink import Route
from slownet.net.nodes import inside


def introduce(ends: tuple[Any, Any]) -> None:
    """Tells those on either side of a cable the addresses of those on the other, for good. Raises NetworkError.

    ends: the cable's Mininet interfaces. A side is what switches connect; routers are its members, not ways out of it.
    """
    if getattr(ends[0].link, "slownet_introduced", False):
        return
    here, there = (_side(end, other) for end, other in (ends, ends[::-1]))
    for side, others in ((here, there), (there, here)):
        for interface in side:
            with inside(interface.node), Route() as route:
                for other in others:
                    if other is not interface:
                        route.know(interface.name, other.IP(), other.MAC())
    ends[0].link.slownet_introduced = True


def _side(end: Any, other: Any) -> list[Any]:
    """The interfaces with an address that this end reaches without the cable, through switches alone."""
    found, seen, todo = [], {other}, [end]
    while todo:
        interface = todo.pop()
        if interface is None or interface in seen:
            continue
        seen.add(interface)
        if not hasattr(interface.node, "dpid"):
            found += [interface] if interface.IP() and interface.MAC() else []
            continue
        for port in interface.node.intfList():
            cable = port.link
            if cable is not None and port not in seen:
                seen.add(port)
                todo.append(cable.intf2 if cable.intf1 is port else cable.intf1)
    return found
