"""Options of the route that a host has to its own network (ip-route(8)), for a ``with`` block."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from slownet.model.errors import NetworkError
from slownet.net.process import Host
from slownet.net.route_options import change_route
from slownet.net.tool import run


def quick_route(host: Host) -> AbstractContextManager[None]:
    """Make a host send every ACK to its own network at once for a ``with`` block (``quickack 1``). Raises NetworkError."""
    return own_route(host, "quickack", 1)


def initial_window(host: Host, segments: int) -> AbstractContextManager[None]:
    """Make a host's new connections begin with a window of so many segments for a ``with`` block (``initcwnd``).

    Raises NetworkError.
    """
    return own_route(host, "initcwnd", segments)


@contextmanager
def own_route(host: Host, option: str, value: int) -> Iterator[None]:
    """Set an option of the route to a host's own network for a ``with`` block.

    host: the host.
    option: its name, as for ``ip route``.
    value: its value.
    Raises NetworkError: the host does not have exactly one such route, or the option was not set.
    """
    routes = json.loads(run(host, ["ip", "-json", "route", "show", "scope", "link"]).stdout)
    if len(routes) != 1:
        raise NetworkError(f"{len(routes)} routes to its own networks instead of 1", f"host '{host.name}'")
    change_route(host, routes[0], {option: str(value)})
    try:
        if f"{option} {value}" not in run(host, ["ip", "route", "show", "scope", "link"]).stdout:
            raise NetworkError(f"ip did not set {option} on the route", f"host '{host.name}'")
        yield
    finally:
        change_route(host, routes[0], {})
