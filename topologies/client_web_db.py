"""A client, a web server and its database on one switch.

    client ──── switch ──── web
                   │
                   db

With Mininet's own command: sudo mn --custom topologies/client_web_db.py --topo client_web_db --link tc
"""

from mininet.link import TCLink
from mininet.topo import Topo


class ClientWebDb(Topo):
    """Three hosts on a switch: client 10.0.0.1, web 10.0.0.2, db 10.0.0.3."""

    def build(self) -> None:
        """Add the hosts, switches and links."""
        switch = self.addSwitch("switch", dpid="1", failMode="standalone")
        for number, name in enumerate(("client", "web", "db"), start=1):
            self.addLink(self.addHost(name, ip=f"10.0.0.{number}/24"), switch, cls=TCLink)


topos = {"client_web_db": ClientWebDb}
