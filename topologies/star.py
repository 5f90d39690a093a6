"""N clients of one server, on one switch.

    client1 ──┐
    client2 ──┼── switch ──── server
    clientN ──┘

Also for Mininet's own command: sudo mn --custom topologies/star.py --topo star,5
"""

from mininet.link import TCLink
from mininet.topo import Topo

MOST = 1021  # 10.0.0.0/22 less its own two and the server's


class Star(Topo):
    """The server is 10.0.0.1, client1 10.0.0.2 and so on in 10.0.0.0/22.

    Parameters
    ----------
    n
        Clients, 1 to 1021.
    """

    def build(self, n: int = 3) -> None:
        if not 1 <= n <= MOST:
            raise ValueError(f"a star has 1 to {MOST} clients, as many as there are addresses, not {n}")
        switch = self.addSwitch("switch", dpid="1", failMode="standalone")
        self.addLink(self.addHost("server", ip="10.0.0.1/22"), switch, cls=TCLink)
        for number in range(1, n + 1):
            high, low = divmod(number + 1, 256)
            self.addLink(self.addHost(f"client{number}", ip=f"10.0.{high}.{low}/22"), switch, cls=TCLink)


topos = {"star": Star}
