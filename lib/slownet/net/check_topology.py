"""Checks a topology before it is built; where two statements exclude each other, one line names both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mininet.link import TCLink
from mininet.node import Host, OVSSwitch, Switch
from mininet.topo import Topo

from slownet.model.errors import NetworkError
from slownet.net import loops, parameters, places
from slownet.net.places import Place
from slownet.net.unique_names import NAME_LENGTH

# Mininet takes the last of two nodes of one name, and the kernel refuses the second of two interfaces with "File exists".

LIBRARIES = ("mininet", "slownet", "builtins")
OTHER_NAME = "give one of them another name"
OTHER_PORT = "give each link of {node} a port of its own (port1, port2), or leave all of them out"
OTHER_INTERFACE = "give one of them another name: intfName1 or intfName2"


def check_topology(topology: Topo, where: str) -> None:
    """Raise NetworkError for a node that is stated twice or not at all, two links on one port, and names of interfaces.

    where: the topology's name.
    """
    for name in topology.nodes():
        _check_node(topology, name, where)
    ports: dict[tuple[str, int], str] = {}
    interfaces: dict[tuple[str, str], str] = {}
    for name in topology.switches():
        check_length(name, "switch", where, places.of_node(topology, name))
    for info in places.of_links(topology):
        place = places.of_link(topology, info)
        link = _placed(f"{info['node1']}-{info['node2']}", place)
        for number in ("1", "2"):
            node, port, own = info[f"node{number}"], info[f"port{number}"], info.get(f"intfName{number}")
            interface = own or f"{node}-eth{port}"
            if not own or topology.isSwitch(node):
                _once(ports, (node, port), link, f"{node} has two links on port {port}", where, OTHER_PORT.format(node=node))
            space = "" if _in_machine(topology, node) else node
            what = f"two interfaces{f' of {space}' if space else ''} are called {interface}"
            _once(interfaces, (space, interface), link, what, where, OTHER_INTERFACE)
            check_length(interface, "interface", where, place)


def _check_node(topology: Topo, name: str, where: str) -> None:
    """A switch may be stated again just as it was, as programs do that go from link to link; so may a host by the same line."""
    stated = places.statements(topology, name)
    if not stated:
        link = next(each for each in places.of_links(topology) if name in (each["node1"], each["node2"]))
        known = [each for each in topology.nodes() if places.statements(topology, each)]
        raise places.no_node(name, _at(where, places.of_link(topology, link)), known)
    first, *others = stated
    for other in others:
        alike = other.params == first.params and (topology.isSwitch(name) or other.place == first.place)
        if not alike:
            raise NetworkError(f"'{name}' is given twice, {first.place} and {other.place}", where, OTHER_NAME)


def _in_machine(topology: Topo, node: str) -> bool:
    info = topology.nodeInfo(node)
    return not info.get("inNamespace", not topology.isSwitch(node))


def _once(seen: dict[Any, str], key: Any, link: str, what: str, where: str, fix: str) -> None:
    first = seen.setdefault(key, link)
    if first is not link:
        raise NetworkError(f"{what}: {first} and {link}", where, fix)


def _placed(name: str, place: Place) -> str:
    return f"{name} ({place})" if str(place) else name


def _at(where: str, place: Place) -> str:
    return ", ".join(filter(None, (where, str(place))))


def check_length(name: str, kind: str, where: str, place: Place) -> None:
    """Raise NetworkError for a name of an interface or a switch that Linux does not take."""
    if len(name) > NAME_LENGTH:
        what = f"the {kind}'s name '{name}' is too long"
        raise NetworkError(what, _at(where, place), f"shorten it: Linux takes {NAME_LENGTH} characters, and it has {len(name)}")


def check_link(
    sides: Iterable[tuple[Any, int, str | None]], nodes: Iterable[Any], stated: Mapping[Any, Place], place: Place
) -> None:
    """Raise NetworkError for a link of a network whose ports or interfaces another one has.

    sides: of each end the node, its port, and the interface's name if the program states one. nodes: all of the network.
    stated: the places of its links.
    """
    for node, port, own in sides:
        name = own or f"{node}-eth{port}"
        check_length(name, "interface", f"node {node.name}", place)
        there = node.intfs.get(port) if not own or isinstance(node, Switch) else None
        if there is not None:
            other = _placed(str(there.name), stated.get(there.link, Place()))
            fix = OTHER_PORT.format(node=node.name)
            raise NetworkError(f"{node.name} has two links on port {port}", f"{other} and {place}", fix)
        for each in [node] if node.inNamespace else [each for each in nodes if not each.inNamespace]:
            taken = each.nameToIntf.get(name)
            if taken is not None and taken.name == name:
                other = _placed(f"of {each.name}", stated.get(taken.link, Place()))
                raise NetworkError(f"two interfaces are called {name}: {other} and of {node.name}", str(place), OTHER_INTERFACE)


def shared_addresses(hosts: Iterable[Any], switches: Iterable[Any], links: Iterable[Any]) -> Iterator[str]:
    """Yield a line for each two hosts on one segment that have the same IP or MAC address, as their interfaces are configured.

    Hosts of a user's class are left out: it may keep them apart, as by VLANs.
    """
    segments = _segments(switches, links)
    owners: dict[tuple[Any, str], Any] = {}
    for host in hosts:
        if any(each.__module__.partition(".")[0] not in LIBRARIES for each in type(host).__mro__):
            continue
        for interface in filter(lambda each: each.link, host.intfList()):
            for kind, address in (("IP", interface.ip), ("MAC", interface.mac)):
                owner = owners.setdefault((segments[interface], str(address).lower()), host) if address else host
                if owner is not host:
                    first, second = (_placed(each.name, getattr(each, "stated_at", Place())) for each in (owner, host))
                    yield f"{first} and {second} share the {kind} address {address}"


def _segments(switches: Iterable[Any], links: Iterable[Any]) -> dict[Any, Any]:
    """Return for each interface of a link one that stands for its segment: what switches and cables connect."""
    leader: dict[Any, Any] = {}

    def found(each: Any) -> Any:
        while leader.setdefault(each, each) is not each:
            each = leader[each]
        return each

    links = list(links)
    for link in links:
        leader[found(link.intf1)] = found(link.intf2)
    for switch in switches:
        ends = [each for each in switch.intfList() if each.link]
        for end in ends[1:]:
            leader[found(end)] = found(ends[0])
    return {end: found(end) for link in links for end in (link.intf1, link.intf2)}


def check(topology: Topo, stp: bool = False) -> None:
    """Raise an error for a topology that could not run.

    NetworkError: hosts share an address, something is stated twice or its name is too long, parts are not connected, or
    switches form a loop without a spanning tree. ConditionError, UnitError: a parameter of a node or link has no effect or is
    wrong. stp: whether all switches run STP.
    """
    where = type(topology).__name__
    nodes, links = list(topology.nodes()), list(topology.iterLinks(withInfo=True))
    check_topology(topology, where)
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
