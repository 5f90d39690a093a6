"""Messages from a server that is reached over two paths, one of which is cut."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from slownet.net.process import Host, Hosts
from slownet.net.tool import run
from slownet.reproductions.path_cut import Multipath, multipath
from slownet.services.on_demand import OnDemand

SECOND, DEVICE = "10.0.1.2", "server-eth1"
"""The server's address and interface on the second path of `TwoPaths`."""
INTERFACES = ("client-eth0", "client-eth1")


class Messages(OnDemand):
    """A server of `TwoPaths` that announces its second address to clients that speak MPTCP.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    server : str
        The host's name.
    """

    operation = "connection"

    def __init__(self, net: Hosts, directory: str | Path, server: str = "server") -> None:
        super().__init__(net, directory, server)
        self.client: Host = net["client"]
        run(self.host, ["ip", "mptcp", "endpoint", "flush"])
        run(self.host, ["ip", "mptcp", "endpoint", "add", SECOND, "dev", DEVICE, "signal"])
        for host in (self.host, self.client):
            run(host, ["ip", "mptcp", "limits", "set", "subflow", "1", "add_addr_accepted", "1"])

    def receive(self, protocol: str, cut: Callable[[], AbstractContextManager[Any]]) -> Multipath:
        """Receive messages over MPTCP or TCP while a path is cut; cut: as for `multipath`. Raises ToolError."""
        return multipath(self.client, self.host, protocol, cut, interfaces=INTERFACES)
