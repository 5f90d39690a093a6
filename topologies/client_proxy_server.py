"""A client, and a server behind a proxy.

    client ──── proxy ──── server
      10.0.0.0/24  10.0.1.0/24

The proxy also forwards packets, so connections through it can be compared with direct ones.
With Mininet's own command: sudo mn --custom topologies/client_proxy_server.py --topo client_proxy_server
"""

from collections.abc import Sequence
from typing import Any

from mininet.link import TCLink
from mininet.node import Node
from mininet.topo import Topo


class Router(Node):
    """A host that forwards packets. routes: arguments of `ip route add`, such as "10.0.2.0/24 via 10.0.1.2"."""

    def config(self, routes: Sequence[str] = (), **params: Any) -> Any:
        """Configure the node, switch forwarding on and add its routes."""
        result = super().config(**params)
        lines = "".join(f"route add {route}\\n" for route in routes)
        script = f"echo 1 > /proc/sys/net/ipv4/ip_forward && printf '{lines}' | ip -batch -"
        _, errors, status = self.pexec(["sh", "-c", script])
        if status:
            raise RuntimeError(f"router {self.name}: {errors.strip()}")
        return result


class ClientProxyServer(Topo):
    """Three hosts: client 10.0.0.1, proxy 10.0.0.2 towards it and 10.0.1.1 towards the server, server 10.0.1.2."""

    def build(self) -> None:
        """Add the hosts, switches and links."""
        client = self.addHost("client", ip="10.0.0.1/24", defaultRoute="via 10.0.0.2")
        proxy = self.addHost("proxy", cls=Router, ip="10.0.0.2/24")
        server = self.addHost("server", ip="10.0.1.2/24", defaultRoute="via 10.0.1.1")
        self.addLink(client, proxy, cls=TCLink)
        self.addLink(proxy, server, cls=TCLink, params1={"ip": "10.0.1.1/24"})


topos = {"client_proxy_server": ClientProxyServer}
