"""A client with a cache nearby, and a web server with its database far away; one long link between the two places.

    client ──┐                ┌── web
             near ─────── far
    edge   ──┘                └── db

The distance is the link between the switches: net.link("near", "far").set(rtt="40ms").
With Mininet's own command: sudo mn --custom topologies/client_edge_web_db.py --topo client_edge_web_db
"""

from mininet.link import TCLink
from mininet.topo import Topo


class ClientEdgeWebDb(Topo):
    """Four hosts on two switches: client 10.0.0.1, web 10.0.0.2 and db 10.0.0.3 as in ClientWebDb, and edge 10.0.0.4."""

    def build(self) -> None:
        """Add the hosts, switches and links."""
        places = {"near": ("client", "edge"), "far": ("web", "db")}
        numbers = {"client": 1, "web": 2, "db": 3, "edge": 4}
        for dpid, (place, names) in enumerate(places.items(), start=1):
            switch = self.addSwitch(place, dpid=f"{dpid:x}", failMode="standalone")
            for name in names:
                self.addLink(self.addHost(name, ip=f"10.0.0.{numbers[name]}/24"), switch, cls=TCLink)
        self.addLink("near", "far", cls=TCLink)


topos = {"client_edge_web_db": ClientEdgeWebDb}
