"""Adds, connects and removes hosts, switches and links of a network that runs."""

from __future__ import annotations

import ipaddress
from typing import Any

from mininet.node import Node
from mininet.topo import Topo

from slownet.live.scene import ROUTER, SWITCH, Scene
from slownet.model.errors import NetworkError
from slownet.net.namespace import inside
from slownet.net.network import Network

FORWARD = "/proc/sys/net/ipv4/ip_forward"


class Forwarding(Node):  # type: ignore[misc]  # Mininet has no types
    """A host that forwards packets, as MiniEdit's router."""

    def config(self, **params: Any) -> Any:
        """Configure it, and switch forwarding on."""
        result = super().config(**params)
        forward(self)
        return result


class Drawn(Topo):  # type: ignore[misc]  # Mininet has no types
    """The topology of a network that was drawn."""

    def build(self, scene: Scene | None = None) -> None:
        """Add its hosts, switches and links."""
        for node in scene.nodes if scene else ():
            if node.kind == SWITCH:
                self.addSwitch(node.name, failMode="standalone")
            else:
                made = {"cls": Forwarding} if node.kind == ROUTER else {}
                self.addHost(node.name, **made, **({"ip": node.address} if node.address else {}))
        for wire in scene.wires if scene else ():
            self.addLink(wire.first, wire.second)


def forwards(host: Any) -> bool:
    """Return whether a host forwards packets."""
    with inside(host), open(FORWARD, encoding="ascii") as file:
        return file.read().strip() == "1"


def forward(host: Any) -> None:
    """Make a host forward packets, as MiniEdit's router does."""
    with inside(host), open(FORWARD, "w", encoding="ascii") as file:
        file.write("1")


def add(network: Network, name: str, kind: str, address: str) -> str:
    """Add a node; return a host's address. Raises SlownetError."""
    if kind == SWITCH:
        network.mininet.addSwitch(name).start([])
        return ""
    address = address or free_address(network.hosts)
    host = network.mininet.addHost(name, ip=address)
    host.configDefault(ip=None, mac=None)
    if kind == ROUTER:
        forward(host)
    network.name_hosts()
    return address


def free_address(hosts: list[Any]) -> str:
    """Return the first free address of the first host's subnet, such as 10.0.0.4/8. Raises NetworkError."""
    taken = {str(interface.IP()) for host in hosts for interface in host.intfList()}
    taken |= {str(host.params.get("ip", "")).partition("/")[0] for host in hosts}
    first = next((each for host in hosts for each in host.intfList() if each.IP()), None)
    within = ipaddress.ip_network(f"{first.IP()}/{first.prefixLen}" if first else "10.0.0.0/8", strict=False)
    for address in within.hosts():
        if str(address) not in taken:
            return f"{address}/{within.prefixlen}"
    raise NetworkError(f"no address is left in {within}", fix="remove a host first")


def remove(network: Network, name: str) -> None:
    """Remove a node, which has no links any more."""
    network.mininet.delNode(network[name])
    network.name_hosts()


def connect(network: Network, first: str, second: str, address: dict[str, str]) -> Any:
    """Connect two nodes; return Mininet's link. address: of each host. Raises SlownetError."""
    cable = network.mininet.addLink(first, second)
    for end in (cable.intf1, cable.intf2):
        if hasattr(end.node, "attach"):
            end.node.attach(end)
        elif address.get(end.node.name) and not any(each.IP() for each in end.node.intfList()):
            end.setIP(address[end.node.name])
        else:
            end.isUp(setUp=True)
    cable.settle()
    network.shaping.parts = []  # who reaches whom may have changed: a ping that gets no answer shows it
    network.name_hosts()
    return cable


def disconnect(network: Network, cable: Any) -> None:
    """Remove a link."""
    for end in (cable.intf1, cable.intf2):
        if hasattr(end.node, "detach"):
            end.node.detach(end)
    network.mininet.delLink(cable)
    network.shaping.programs.close()  # tc remembers the numbers of interfaces by their names, which the next ones may have
    network.shaping.parts = []
