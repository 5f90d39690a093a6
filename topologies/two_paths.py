"""A client and a server with two separate paths between them, as a telephone has over Wi-Fi and over the mobile network.

              ┌── first ───┐
    client ───┤            ├─── server
              └── second ──┘

With Mininet's own command: sudo mn --custom topologies/two_paths.py --topo two_paths
"""

from mininet.link import TCLink
from mininet.topo import Topo


class TwoPaths(Topo):
    """Two hosts on two switches: client 10.0.0.1, server 10.0.0.2 at first; client 10.0.1.1, server 10.0.1.2 at second."""

    def build(self) -> None:
        """Add the hosts, switches and links."""
        hosts = [self.addHost(name, ip=f"10.0.0.{number}/24") for number, name in enumerate(("client", "server"), start=1)]
        for path, name in enumerate(("first", "second")):
            switch = self.addSwitch(name, dpid=f"{path + 1}", failMode="standalone")
            for number, host in enumerate(hosts, start=1):
                self.addLink(host, switch, cls=TCLink, params1={"ip": f"10.0.{path}.{number}/24"})


topos = {"two_paths": TwoPaths}
