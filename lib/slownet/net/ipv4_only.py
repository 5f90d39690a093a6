"""Addresses of IPv6 where Mininet takes those of IPv4 alone: its `ip`, `defaultRoute`, `setIP` and `ipBase`."""

from __future__ import annotations

import ipaddress
from contextlib import suppress

from slownet.model.errors import NetworkError
from slownet.model.mininets import Parameters
from slownet.net.places import Place

OF_ADDRESSES = ("ip", "localIP", "subnet")
OWN = "; networks of slownet's own have IPv6 beside IPv4 by net.add_ipv6()"


def is_ipv6(text: object) -> bool:
    """Return whether a text is an IPv6 address, with or without a prefix length or a zone."""
    with suppress(ValueError):
        ipaddress.IPv6Address(str(text).partition("/")[0].partition("%")[0].strip())
        return True
    return False


def check(given: Parameters, node: str, interface: str, where: str, place: Place) -> None:
    """Raise NetworkError if a node's or an interface's parameters have an address of IPv6.

    interface: the name of the node's interface, for what to do instead. where: such as "node h1".
    """
    for name in OF_ADDRESSES:
        if is_ipv6(given.get(name)):
            raise error(f"{name}='{given[name]}'", str(given[name]), node, interface, where, place)
    words = str(given.get("defaultRoute") or "").split()
    for word in filter(is_ipv6, words):
        what = f"defaultRoute='{given['defaultRoute']}' has an IPv6 address, and Mininet's takes IPv4 alone"
        fix = f"leave it out, and after start() call {node}.cmd('ip -6 route add default via {word}')"
        raise NetworkError(what, ", ".join(filter(None, (where, str(place)))), fix)


def error(what: str, address: str, node: str, interface: str, where: str, place: Place) -> NetworkError:
    """Return the error for an address of IPv6 that Mininet is to give an interface."""
    with_prefix = address if "/" in address else f"{address}/64"
    at = ", ".join(filter(None, (where, str(place))))
    command = f"{node}.cmd('ip -6 addr add {with_prefix} dev {interface} nodad')"
    fix = f"leave it out, and after start() call {command}{OWN}"
    return NetworkError(f"{what} is an IPv6 address, and Mininet's takes IPv4 alone", at, fix)
