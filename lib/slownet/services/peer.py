"""A server that answers messages, with a choice of when TCP acknowledges them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from slownet.model.errors import NetworkError
from slownet.services.on_demand import OnDemand
from slownet.services.program import Listener
from slownet.tools.process import Host
from slownet.tools.tool import run


class Peer(OnDemand):
    """A host on which a listener is started for each cell.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    server : str
        The host's name.
    """

    operation = "exchange"

    @property
    def address(self) -> str:
        """The listener's IP address; its port is 5000."""
        return self.host.IP()

    @contextmanager
    def listening(self, quickack: str = "") -> Iterator[Listener]:
        """Run a listener for a ``with`` block.

        Parameters
        ----------
        quickack : str
            When to send ACKs without delay: ``"once"`` sets TCP_QUICKACK once per connection, ``"always"`` before each read,
            ``"route"`` sets it for the host's route; ``""`` never.

        Yields
        ------
        Listener
            The running listener.
        """
        option = "" if quickack == "route" else quickack
        with Listener(self.host, self.directory, quickack=option) as listener:
            if quickack != "route":
                yield listener
                return
            with quick_route(self.host):
                yield listener


@contextmanager
def quick_route(host: Host) -> Iterator[None]:
    """Make a host send every ACK to its own network at once for a ``with`` block (``ip route ... quickack 1``).

    Raises
    ------
    NetworkError
        The host does not have exactly one such route, or the option was not set.
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
