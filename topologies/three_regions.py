"""Three regions of N hosts each, with a long link between every two regions.

    eu1 ──┐                            ┌── us1
          eu ── eu-gw ──────── us-gw ── us
    euN ──┘         └── ap-gw ──┘      └── usN
                          │
                   ap1 ── ap ── apN

Distances are the links between the gateways: net.link("eu-gw", "us-gw").set(rtt="90ms").
With Mininet's own command: sudo mn --custom topologies/three_regions.py --topo three_regions,2
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from mininet.link import TCLink
from mininet.node import Node
from mininet.topo import Topo

REGIONS = {"eu": 1, "us": 2, "ap": 3}
MOST = 253  # the 254 addresses of a /24 less the gateway's


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


class ThreeRegions(Topo):
    """Three regions, each with hosts on a switch and a gateway.

    Addresses: eu1 10.1.0.1, us1 10.2.0.1, ap1 10.3.0.1; each gateway has .254 in its region.

    Parameters
    ----------
    n : int
        Number of hosts in each region, 1 to 253.
    """

    def build(self, n: int = 2) -> None:
        """Add the hosts, switches and links."""
        if not 1 <= n <= MOST:
            raise ValueError(f"a region has 1 to {MOST} hosts (its subnet has no more addresses), not {n}")
        for region, number in REGIONS.items():
            switch = self.addSwitch(region, dpid=f"{number:x}", failMode="standalone")
            routes = [f"10.{other}.0.0/24 via {between(other, number)}" for other in REGIONS.values() if other != number]
            gateway = self.addHost(f"{region}-gw", cls=Router, ip=f"10.{number}.0.254/24", routes=routes)
            self.addLink(gateway, switch, cls=TCLink)
            for host in range(1, n + 1):
                name = self.addHost(f"{region}{host}", ip=f"10.{number}.0.{host}/24", defaultRoute=f"via 10.{number}.0.254")
                self.addLink(name, switch, cls=TCLink)
        for (near, one), (far, other) in combinations(REGIONS.items(), 2):
            ends = {"params1": {"ip": f"{between(one, other)}/24"}, "params2": {"ip": f"{between(other, one)}/24"}}
            self.addLink(f"{near}-gw", f"{far}-gw", cls=TCLink, **ends)


def between(region: int, other: int) -> str:
    """Return the address of a region's gateway on its link to another region.

    Parameters
    ----------
    region, other : int
        Numbers of regions, see `REGIONS`.

    Returns
    -------
    str
    """
    return f"10.0.{min(region, other)}{max(region, other)}.{region}"


topos = {"three_regions": ThreeRegions}
