"""A server that answers messages, with a choice of when TCP acknowledges them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from slownet.reproductions.own_server import Listener
from slownet.reproductions.routes import quick_route
from slownet.services.on_demand import OnDemand


class Peer(OnDemand):
    """A host where a listener is started for each cell.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "exchange"

    @property
    def address(self) -> str:
        """The listener's IP address; its port is 5000."""
        return self.host.IP()

    @contextmanager
    def listening(self, quickack: str = "") -> Iterator[Listener]:
        """Run a listener for a ``with`` block.

        quickack: when to send ACKs without delay: ``"once"`` sets TCP_QUICKACK once per connection, ``"always"`` before each
            read, ``"route"`` sets it for the host's route; ``""`` never.
        yields: the running listener.
        """
        option = "" if quickack == "route" else quickack
        with Listener(self.host, self.directory, quickack=option) as listener:
            if quickack != "route":
                yield listener
                return
            with quick_route(self.host):
                yield listener
