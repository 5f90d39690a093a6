"""Checks a topology before it is built."""

from __future__ import annotations

from collections.abc import Iterable

from mininet.link import TCLink
from mininet.node import Host, OVSSwitch
from mininet.topo import Topo

from slownet.model.errors import NetworkError
from slownet.net import loops, parameters, places

NAME_LENGTH = 15  # of an interface or a bridge, IFNAMSIZ less one


def check(topology: Topo, stp: bool = False) -> None:
    """Raise an error for a topology that could not run.

    NetworkError: hosts share an address, a name is too long, parts are not connected, or switches form a loop without a
    spanning tree. ConditionError, UnitError: a parameter of a node or link has no effect or is wrong. stp: whether all switches
    run STP.
    """
    where = type(topology).__name__
    nodes, links = list(topology.nodes()), list(topology.iterLinks(withInfo=True))
    if not topology.hosts():
        raise NetworkError("there is no host", where=where, fix="addHost in the topology's build()")
    for first, second, info in links:
        if first == second and not topology.isSwitch(first):
            raise NetworkError(f"'{first}' is linked to itself", where=_places(where, topology, info), fix="name another node")
    _names(topology, links, where)
    _addresses(topology, where)
    parameters.check_topology(topology, TCLink, {"host": Host, "switch": OVSSwitch})
    loops.check_topology(topology, OVSSwitch, where, standalone=True, stp=stp)
    for part in _parts(nodes, [(first, second) for first, second, _ in links])[1:]:
        if sum(not topology.isSwitch(name) for name in part) < 2:  # two islands may be meant, a node without a link is not
            what = f"'{part[0]}' is not connected to '{nodes[0]}'"
            raise NetworkError(what, where=where, fix="addLink in the topology's build()")


def _places(where: str, topology: Topo, info: dict[str, object]) -> str:
    return ", ".join(filter(None, (where, str(places.of_link(topology, info)))))


def _names(topology: Topo, links: Iterable[tuple[str, str, dict[str, object]]], where: str) -> None:
    names = [(name, name) for name in topology.switches()]
    for first, second, info in links:
        for node, port, own in ((first, "port1", "intfName1"), (second, "port2", "intfName2")):
            names.append((node, str(info.get(own) or f"{node}-eth{info.get(port)}")))
    for node, name in names:
        if len(name) > NAME_LENGTH:
            raise NetworkError(
                f"the name '{node}' is too long",
                where=where,
                fix=f"shorten it: Linux cuts '{name}' at {NAME_LENGTH} characters",
            )


def _addresses(topology: Topo, where: str) -> None:
    """Refuse an address twice in one part, unless a class of a user's may keep the hosts apart."""
    links = [(first, second) for first, second in topology.links()]
    for part in _parts(list(topology.nodes()), links):
        owner: dict[str, str] = {}
        for name in filter(set(topology.hosts()).__contains__, part):
            info = topology.nodeInfo(name)
            cls, address = parameters.class_of(info.get("cls") or Host), str(info.get("ip") or "").partition("/")[0]
            if cls is None or not cls.__module__.startswith(("mininet.", "slownet.")):
                continue
            if address and owner.setdefault(address, name) != name:
                raise NetworkError(f"'{owner[address]}' and '{name}' share the address {address}", where=where)


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
