"""A client sends jobs to a broker; N workers fetch them and write to a database.

    client ──┐          ┌── worker1
             ├─ switch ─┤
    broker ──┘    │     └── workerN
                  db

With Mininet's own command: sudo mn --custom topologies/broker_worker_database.py --topo broker_worker_database,3
"""

from mininet.link import TCLink
from mininet.topo import Topo

MOST = 251  # the 254 addresses of 10.0.0.0/24 less those of client, broker and database


class BrokerWorkerDatabase(Topo):
    """A broker, its workers and a database on one switch.

    Addresses: client 10.0.0.1, broker 10.0.0.2, db 10.0.0.3, worker1 10.0.0.4 and so on.

    Parameters
    ----------
    n : int
        Number of workers, 1 to 251.
    """

    def build(self, n: int = 2) -> None:
        """Add the hosts, switches and links."""
        if not 1 <= n <= MOST:
            raise ValueError(f"a broker has 1 to {MOST} workers (the subnet has no more addresses), not {n}")
        switch = self.addSwitch("switch", dpid="1", failMode="standalone")
        names = ["client", "broker", "db", *(f"worker{number}" for number in range(1, n + 1))]
        for number, name in enumerate(names, start=1):
            self.addLink(self.addHost(name, ip=f"10.0.0.{number}/24"), switch, cls=TCLink)


topos = {"broker_worker_database": BrokerWorkerDatabase}
