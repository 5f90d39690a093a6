"""A page at a name with an IPv4 and an IPv6 address, each over a path of its own."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from slownet.net import ipv6
from slownet.net.network import Network
from slownet.net.tool import run
from slownet.reproductions.address_fallback import FirstByte, first_byte
from slownet.reproductions.named_pages import FILE, PAGE, Site, asking
from slownet.services.composite import InOrder
from slownet.services.unbound import Unbound

ADDRESSES = ("10.0.0.2", "10.0.1.2")
"""Of the server of `TwoPaths`."""
INTERFACES = ("client-eth0", "client-eth1")
REFUSED = "refused.example"
"""A name whose server does not listen on its IPv6 address."""


class DualStack(InOrder):
    """A web server and its name server on the host ``server`` of `TwoPaths`: IPv4 over ``first``, IPv6 over ``second``.

    Parameters
    ----------
    net : Network
        The network; its hosts are given IPv6.
    directory : str or Path
        The run directory, for logs.
    """

    operation = "page"

    def __init__(self, net: Network, directory: str | Path) -> None:
        net.add_ipv6()
        self.client, server = net["client"], net["server"]
        first, second = ADDRESSES
        records = {PAGE: [first, ipv6.of(second)], REFUSED: [first, ipv6.of(first)]}
        run(self.client, ["ping", "-6", "-nqc", "1", ipv6.of(second)])  # so that no neighbour discovery is in a measurement
        self._site = Site(server, directory, f"[{ipv6.of(second)}]:80")
        self._names = Unbound(server, directory, records=records)

    def _begin(self, stack: ExitStack) -> None:
        for each in (self._site, self._names, asking(self.client, self._names.address)):
            stack.enter_context(each)

    def page(self, client: str, name: str = PAGE) -> FirstByte:
        """Request the page with a client: a name in `slownet.theory.fallback.CLIENTS`. Raises ToolError."""
        return first_byte(self.client, client, name, f"/{FILE}", interfaces=INTERFACES)
