"""N clients and N servers that share one cable, the bottleneck.

    client1 ──┐                        ┌── server1
              west ── bottleneck ── east
    clientN ──┘                        └── serverN

Also for Mininet's own command: sudo mn --custom topologies/dumbbell.py --topo dumbbell,3,bw=10 --link tc
"""

from typing import Any

from mininet.link import TCLink
from mininet.topo import Topo

MOST = 254


class Dumbbell(Topo):
    """client1 10.0.0.1 ... on the switch west, server1 10.0.1.1 ... on the switch east.

    Parameters
    ----------
    n
        Hosts on each side, 1 to 254.
    **bottleneck
        What Mininet's TCLink takes, for the cable between the switches: ``bw=10`` (Mbit/s), ``delay="5ms"`` (one way).
    """

    def build(self, n: int = 2, **bottleneck: Any) -> None:
        if not 1 <= n <= MOST:
            raise ValueError(f"a dumbbell has 1 to {MOST} hosts on each side, as many as there are addresses, not {n}")
        sides = ("west", "client", "10.0.0"), ("east", "server", "10.0.1")
        for dpid, (side, _, _) in enumerate(sides, start=1):
            self.addSwitch(side, dpid=f"{dpid:x}", failMode="standalone")
        self.addLink("west", "east", cls=TCLink, **bottleneck)
        for side, name, network in sides:
            for number in range(1, n + 1):
                self.addLink(self.addHost(f"{name}{number}", ip=f"{network}.{number}/16"), side, cls=TCLink)


topos = {"dumbbell": Dumbbell}
