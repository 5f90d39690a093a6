"""Checks a topology before it is built."""

from __future__ import annotations

from mininet.link import TCLink
from mininet.node import Host, OVSSwitch
from mininet.topo import Topo

from slownet.model.errors import NetworkError
from slownet.net import collisions, loops, parameters, places


def check(topology: Topo, stp: bool = False) -> None:
    """Raise an error for a topology that could not run.

    NetworkError: hosts share an address, something is stated twice or its name is too long, parts are not connected, or
    switches form a loop without a spanning tree. ConditionError, UnitError: a parameter of a node or link has no effect or is
    wrong. stp: whether all switches run STP.
    """
    where = type(topology).__name__
    nodes, links = list(topology.nodes()), list(topology.iterLinks(withInfo=True))
    collisions.check_topology(topology, where)
    if not topology.hosts():
        raise NetworkError("there is no host", where=where, fix="addHost in the topology's build()")
    for first, second, info in links:
        if first == second and not topology.isSwitch(first):
            raise NetworkError(f"'{first}' is linked to itself", where=_places(where, topology, info), fix="name another node")
    _addresses(topology, where)
    parameters.check_topology(topology, TCLink, {"host": Host, "switch": OVSSwitch})
    loops.check_topology(topology, OVSSwitch, where, standalone=True, stp=stp)
    for part in _parts(nodes, [(first, second) for first, second, _ in links])[1:]:
        if sum(not topology.isSwitch(name) for name in part) < 2:  # two islands may be meant, a node without a link is not
            what = f"'{part[0]}' is not connected to '{nodes[0]}'"
            raise NetworkError(what, where=where, fix="addLink in the topology's build()")


def _places(where: str, topology: Topo, info: dict[str, object]) -> str:
    return ", ".join(filter(None, (where, str(places.of_link(topology, info)))))


def _addresses(topology: Topo, where: str) -> None:
    """Refuse an address twice in one part, unless a class of a user's may keep the hosts apart."""
    links = [(first, second) for first, second in topology.links()]
    for part in _parts(list(topology.nodes()), links):
        owner: dict[str, str] = {}
        for name in filter(set(topology.hosts()).__contains__, part):
            info = topology.nodeInfo(name)
            cls = parameters.class_of(info.get("cls") or Host)
            if cls is None or not cls.__module__.startswith(("mininet.", "slownet.")):
                continue
            for address in (str(info.get("ip") or "").partition("/")[0], str(info.get("mac") or "").lower()):
                first = owner.setdefault(address, name) if address else name
                if first != name:
                    stated = ", ".join(filter(None, (str(places.of_node(topology, each)) for each in (first, name))))
                    at = ", ".join(filter(None, (where, stated)))
                    raise NetworkError(f"'{first}' and '{name}' share the address {address}", at, "give each one of its own")


def _parts(nodes: list[str], links: list[tuple[str, str]]) -> list[list[str]]:
    """Return the nodes that paths connect, in the topology's order."""
    neighbours: dict[str, set[str]] = {name: set() for name in nodes}
    for first, second in links:
        neighbours[first].add(second)
        neighbours[second].add(first)
    found: list[list[str]] = []
    seen: set[str] = set()
    for node in nodes:
        if node in seen:
            continue
        part, todo = {node}, [node]
        while todo:
            for name in neighbours[todo.pop()] - part:
                part.add(name)
                todo.append(name)
        seen |= part
        found.append([name for name in nodes if name in part])
    return found
