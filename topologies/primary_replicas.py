"""A client of a database with one primary for writes and N replicas for reads.

                         ┌── replica1
    client ──── switch ──┼── replicaN
                  │
               primary

With Mininet's own command: sudo mn --custom topologies/primary_replicas.py --topo primary_replicas,3
"""

from mininet.link import TCLink
from mininet.topo import Topo

MOST = 252  # the 254 addresses of 10.0.0.0/24 less those of client and primary


class PrimaryReplicas(Topo):
    """A client, a primary and its replicas on one switch.

    Addresses: client 10.0.0.1, primary 10.0.0.2, replica1 10.0.0.3 and so on.

    Parameters
    ----------
    n : int
        Number of replicas, 1 to 252.
    """

    def build(self, n: int = 2) -> None:
        """Add the hosts, switches and links."""
        if not 1 <= n <= MOST:
            raise ValueError(f"a primary has 1 to {MOST} replicas (the subnet has no more addresses), not {n}")
        switch = self.addSwitch("switch", dpid="1", failMode="standalone")
        names = ["client", "primary", *(f"replica{number}" for number in range(1, n + 1))]
        for number, name in enumerate(names, start=1):
            self.addLink(self.addHost(name, ip=f"10.0.0.{number}/24"), switch, cls=TCLink)


topos = {"primary_replicas": PrimaryReplicas}
