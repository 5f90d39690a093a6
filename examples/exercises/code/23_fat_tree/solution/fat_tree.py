"""A fat tree of k-port switches (Al-Fares, Loukissas and Vahdat, 2008): k pods, and (k/2)^2 core switches above them."""

from mininet.topo import Topo


class FatTree(Topo):
    def build(self, k=4):
        half = k // 2
        cores = [[self.addSwitch(f"c{row}{column}") for column in range(half)] for row in range(half)]
        for pod in range(k):
            edges = [self.addSwitch(f"e{pod}{number}") for number in range(half)]
            for number, edge in enumerate(edges):
                for port in range(half):
                    self.addLink(self.addHost(f"h{pod}{number}{port}"), edge)
            for row in range(half):
                aggregation = self.addSwitch(f"a{pod}{row}")
                for other in (*edges, *cores[row]):
                    self.addLink(aggregation, other)
