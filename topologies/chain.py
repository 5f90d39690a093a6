"""A client and a server with N routers in a row between them.

    client ──── r1 ──── r2 ── ... ── rN ──── server
       10.0.0.0/24 10.0.1.0/24        10.0.N.0/24

With Mininet's own command: sudo mn --custom topologies/chain.py --topo chain,3
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mininet.link import TCLink
from mininet.node import Node
from mininet.topo import Topo

MOST = 62  # a packet starts with a TTL of 64


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


class Chain(Topo):
    """A client, a row of routers, and a server; on cable k the left end is 10.0.k.1, the right one 10.0.k.2.

    Parameters
    ----------
    n : int
        Number of routers, 1 to 62.
    """

    def build(self, n: int = 2) -> None:
        """Add the hosts, switches and links."""
        if not 1 <= n <= MOST:
            raise ValueError(f"a chain has 1 to {MOST} routers (a packet's TTL allows no more), not {n}")
        self.addHost("client", ip="10.0.0.1/24", defaultRoute="via 10.0.0.2")
        for number in range(1, n + 1):
            left = [f"10.0.{cable}.0/24 via 10.0.{number - 1}.1" for cable in range(number - 1)]
            right = [f"10.0.{cable}.0/24 via 10.0.{number}.2" for cable in range(number + 1, n + 1)]
            self.addHost(f"r{number}", cls=Router, ip=f"10.0.{number - 1}.2/24", routes=(*left, *right))
        self.addHost("server", ip=f"10.0.{n}.2/24", defaultRoute=f"via 10.0.{n}.1")
        row = ["client", *(f"r{number}" for number in range(1, n + 1)), "server"]
        for cable, (near, far) in enumerate(pairwise(row)):
            ends = {"params1": {"ip": f"10.0.{cable}.1/24"}, "params2": {"ip": f"10.0.{cable}.2/24"}}
            self.addLink(near, far, cls=TCLink, **ends)


topos = {"chain": Chain}
