"""A server of messages whose way to acknowledge can be chosen, for experiments with what TCP does in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.errors import NetworkError
from slownet.services.program import Listener
from slownet.tools.process import Host, Hosts
from slownet.tools.tool import run


class Peer:
    """The listener's host, ``net["server"]``; a listener is started for each cell.

    Parameters
    ----------
    net, directory
        The network, and the run directory for logs.
    """

    def __init__(self, net: Hosts, directory: str | Path, server: str = "server") -> None:
        self.host = net[server]
        self.directory = directory

    @property
    def address(self) -> str:
        """Where it listens, port 5000."""
        return self.host.IP()

    @contextmanager
    def listening(self, quickack: str = "") -> Iterator[Listener]:
        """A listener. quickack: TCP_QUICKACK "once" a connection, "always" before a read, or on the "route"."""
        option = "" if quickack == "route" else quickack
        with Listener(self.host, self.directory, quickack=option) as listener:
            if quickack != "route":
                yield listener
                return
            with quick_route(self.host):
                yield listener

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None


@contextmanager
def quick_route(host: Host) -> Iterator[None]:
    """Every ACK that a host sends to its own network leaves at once (``ip route ... quickack 1``), until the block ends.

    Raises
    ------
    NetworkError
        The host has no such route, or does not take the option.
    """
    routes = json.loads(run(host, ["ip", "-json", "route", "show", "scope", "link"]).stdout)
    if len(routes) != 1:
        raise NetworkError(f"{len(routes)} routes to its own networks instead of 1", f"host '{host.name}'")
    route = [routes[0]["dst"], "dev", routes[0]["dev"], "proto", routes[0]["protocol"], "scope", "link"]
    route += ["src", routes[0]["prefsrc"]]
    run(host, ["ip", "route", "change", *route, "quickack", "1"])
    try:
        if "quickack 1" not in run(host, ["ip", "route", "show", "scope", "link"]).stdout:
            raise NetworkError("ip did not set quickack on the route", f"host '{host.name}'")
        yield
    finally:
        run(host, ["ip", "route", "change", *route])
