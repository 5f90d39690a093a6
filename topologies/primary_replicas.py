"""A database that writes to one host and reads from N copies of it.

                         ┌── replica1
    client ──── switch ──┼── replicaN
                  │
               primary

Also for Mininet's own command: sudo mn --custom topologies/primary_replicas.py --topo primary_replicas,3
"""

from mininet.link import TCLink
from mininet.topo import Topo

MOST = 252  # 10.0.0.0/24 less its own two, the client's and the primary's


class PrimaryReplicas(Topo):
    """client 10.0.0.1, primary 10.0.0.2, replica1 10.0.0.3 and so on.

    Parameters
    ----------
    n
        Replicas, 1 to 252.
    """

    def build(self, n: int = 2) -> None:
        if not 1 <= n <= MOST:
            raise ValueError(f"a primary has 1 to {MOST} replicas, as many as there are addresses, not {n}")
        switch = self.addSwitch("switch", dpid="1", failMode="standalone")
        names = ["client", "primary", *(f"replica{number}" for number in range(1, n + 1))]
        for number, name in enumerate(names, start=1):
            self.addLink(self.addHost(name, ip=f"10.0.0.{number}/24"), switch, cls=TCLink)


topos = {"primary_replicas": PrimaryReplicas}
