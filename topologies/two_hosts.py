"""A client and a server with one link between them.

    client ──────── server

With Mininet's own command: sudo mn --custom topologies/two_hosts.py --topo two_hosts
"""

from mininet.link import TCLink
from mininet.topo import Topo


class TwoHosts(Topo):
    """Two hosts, no switch: client 10.0.0.1, server 10.0.0.2."""

    def build(self) -> None:
        """Add the hosts, switches and links."""
        self.addLink(self.addHost("client", ip="10.0.0.1/24"), self.addHost("server", ip="10.0.0.2/24"), cls=TCLink)


topos = {"two_hosts": TwoHosts}
