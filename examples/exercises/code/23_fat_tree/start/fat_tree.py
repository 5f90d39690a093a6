"""A fat tree of k-port switches. This is only one pod of it, and only for k = 4: complete it, for every even k."""

from mininet.topo import Topo


class FatTree(Topo):
    def build(self, k=4):
        for edge in ("e1", "e2"):
            self.addSwitch(edge)
            for number in (1, 2):
                self.addLink(self.addHost(f"h{edge}{number}"), edge)
        for aggregation in ("a1", "a2"):
            self.addSwitch(aggregation)
            for edge in ("e1", "e2"):
                self.addLink(aggregation, edge)
