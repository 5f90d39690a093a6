"""N clients and N servers that share one bottleneck link.

    client1 ──┐                        ┌── server1
              west ── bottleneck ── east
    clientN ──┘                        └── serverN

With Mininet's own command: sudo mn --custom topologies/dumbbell.py --topo dumbbell,3,bw=10 --link tc
"""

from typing import Any

from mininet.link import TCLink
from mininet.topo import Topo

MOST = 254


class Dumbbell(Topo):
    """Hosts on two switches: client1 10.0.0.1 and so on at west, server1 10.0.1.1 and so on at east.

    Parameters
    ----------
    n : int
        Number of hosts on each side, 1 to 254.
    **bottleneck : any
        Parameters of Mininet's TCLink for the link between the switches: ``bw=10`` (Mbit/s), ``delay="5ms"`` (one way).
    """

    def build(self, n: int = 2, **bottleneck: Any) -> None:
        """Add the hosts, switches and links."""
        if not 1 <= n <= MOST:
            raise ValueError(f"a dumbbell has 1 to {MOST} hosts on each side (the subnets have no more addresses), not {n}")
        sides = ("west", "client", "10.0.0"), ("east", "server", "10.0.1")
        for dpid, (side, _, _) in enumerate(sides, start=1):
            self.addSwitch(side, dpid=f"{dpid:x}", failMode="standalone")
        self.addLink("west", "east", cls=TCLink, **bottleneck)
        for side, name, network in sides:
            for number in range(1, n + 1):
                self.addLink(self.addHost(f"{name}{number}", ip=f"{network}.{number}/16"), side, cls=TCLink)


topos = {"dumbbell": Dumbbell}
