"""N clients of one server, on one switch.

    client1 ──┐
    client2 ──┼── switch ──── server
    clientN ──┘

With Mininet's own command: sudo mn --custom topologies/star.py --topo star,5
"""

from mininet.link import TCLink
from mininet.topo import Topo

MOST = 1021  # the 1022 addresses of 10.0.0.0/22 less the server's


class Star(Topo):
    """A server and its clients on one switch: server 10.0.0.1, client1 10.0.0.2 and so on in 10.0.0.0/22.

    Parameters
    ----------
    n : int
        Number of clients, 1 to 1021.
    """

    def build(self, n: int = 3) -> None:
        """Add the hosts, switches and links."""
        if not 1 <= n <= MOST:
            raise ValueError(f"a star has 1 to {MOST} clients (the subnet has no more addresses), not {n}")
        switch = self.addSwitch("switch", dpid="1", failMode="standalone")
        self.addLink(self.addHost("server", ip="10.0.0.1/22"), switch, cls=TCLink)
        for number in range(1, n + 1):
            high, low = divmod(number + 1, 256)
            self.addLink(self.addHost(f"client{number}", ip=f"10.0.{high}.{low}/22"), switch, cls=TCLink)


topos = {"star": Star}
