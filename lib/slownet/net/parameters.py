"""The parameters of a program's nodes and links: Mininet passes over those that no class takes; here each is an error.

What a class takes is what its constructors and its `config` name, and for a user's own class also what their code looks up. A
program may state something for itself, such as a cost that it reads from the topology again: that is not an error.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from mininet.link import Intf, Link, OVSIntf, OVSLink, TCIntf, TCLink
from mininet.node import Controller, CPULimitedHost, Host, Node, OVSSwitch
from mininet.nodelib import NAT
from mininet.topo import Topo
from mininet.util import specialClass

from slownet.links.conditions import tclink
from slownet.links.conditions.other_names import MEANT
from slownet.model.errors import ConditionError, NetworkError
from slownet.model.mininets import Parameters
from slownet.net import ipv4_only, places
from slownet.net.places import Place

# Those that Mininet looks up in its keyword arguments, and those that a topology adds to its nodes.
_OF_NODES = {"cls", "name", "inNamespace", "privateDirs", "waitExited", "isSwitch", "batch", "sysctls"}
_OF_BEFORE = {NAT: {"inetIntf"}}
"""Parameters of an earlier Mininet, which programs still use: Mininet's own examples do."""
_OF_INTERFACES = {"use_htb", "disable_gro", "moveIntfFn", "port"}
_NOT_STATED = {"self", "node", "link", "node1", "node2", "intf", "args", "kwargs", "params", "results"}
_METHODS = ("__init__", "config", "build", "start")
OF_CPU = ("cpu", "cores", "sched", "period_us")
BASE = "10.0.0.0/8"
"""The network that Mininet takes hosts' addresses from, unless a program gives it."""


def check_base(base: str) -> None:
    """Raise NetworkError unless hosts can get addresses from this: Mininet takes 300.1.0.0/16, and makes others of it."""
    if ipv4_only.is_ipv6(base):
        what = f"ipBase='{base}' is an IPv6 network, and Mininet gives addresses of IPv4"
        raise NetworkError(what, "ipBase", f"leave it out: hosts get theirs from {BASE}{ipv4_only.OWN}")
    address, slash, length = str(base).partition("/")
    octets = address.split(".")
    right = len(octets) <= 4 and all(each.isdecimal() and int(each) < 256 for each in octets)
    if not right or (slash and not (length.isdecimal() and int(length) <= 32)):
        raise NetworkError(f"no IPv4 network '{base}'", "ipBase", f"write one such as {BASE}")


@functools.cache
def taken(cls: type) -> frozenset[str]:
    """Return the names of the parameters that a class of nodes, links or interfaces takes."""
    names = set(_OF_NODES if issubclass(cls, Node) else _OF_INTERFACES)
    for each in cls.__mro__:
        names |= _OF_BEFORE.get(each, set())
        library = each.__module__.partition(".")[0] in ("mininet", "slownet", "builtins")
        for name, member in vars(each).items():
            function = getattr(member, "__func__", member)
            if isinstance(function, FunctionType) and (name in _METHODS or not library):
                names |= _named(function.__code__)
                if not library:
                    names |= set(_texts(function.__code__))
    return frozenset(names - _NOT_STATED)


def _named(code: CodeType) -> set[str]:
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _texts(code: CodeType) -> Iterator[str]:
    """Yield the texts in a function's code, with those of its inner functions."""
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _texts(constant)


def class_of(maker: Any) -> type | None:
    """Return the class that a maker of nodes or links makes; None for a function, which may make any."""
    while isinstance(maker, partial):
        maker = maker.func
    return maker if isinstance(maker, type) else None


def preset(maker: Any) -> Parameters:
    """Return the parameters that a `partial` adds."""
    found: Parameters = {}
    while isinstance(maker, partial):
        found = {**maker.keywords, **found}
        maker = maker.func
    return found


def special(maker: Any) -> Parameters:
    """Return the parameters in a class that Mininet's `specialClass` made, as for ``mn --switch lxbr,stp=1``."""
    found: Parameters = {}
    for each in reversed(getattr(class_of(maker), "__mro__", ())):
        init = vars(each).get("__init__")
        if each.__module__ == specialClass.__module__ and isinstance(init, FunctionType):
            kept = dict(zip(init.__code__.co_freevars, init.__closure__ or (), strict=True))
            for name in ("defaults", "override"):
                found = {**found, **(kept[name].cell_contents if name in kept else {})}
    return found


def named(cls: type) -> str:
    """Return a class's name with an article, as Mininet calls it."""
    made = ("slownet.", specialClass.__module__)  # of mn's own ones, the parameters are part of the name
    name = next(each.__name__ for each in cls.__mro__ if not each.__module__.startswith(made))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def check_names(given: Iterable[str], known: Iterable[str], kind: str, where: str, place: Place) -> None:
    """Raise ConditionError for a parameter that a class does not take, unless the program reads it itself.

    kind: the class, such as "a TCLink". where: such as "interface h1-eth0".
    """
    names = set(known)
    for name in given:
        if name in names or (name not in MEANT and place.file and name in places.reads(place.file)):
            continue
        error = tclink.unknown(name, names, kind)
        raise ConditionError(error.what, _at(where, place), error.fix)


def _at(where: str, place: Place) -> str:
    return ", ".join(filter(None, (where, str(place))))


def check_interface(interface: Any, params: Parameters) -> Parameters:
    """Return an interface's parameters with numbers read from texts. Raises ConditionError for one that has no effect."""
    cls, place = type(interface), places.here()
    _without_effect(cls, params, f"interface {interface.name}", place)
    with places.located(f"interface {interface.name}", place):
        return tclink.numbers(dict(params)) if issubclass(cls, TCIntf) else dict(params)


def _without_effect(cls: type, params: Parameters, where: str, place: Place, link: type | None = None) -> None:
    """Raise ConditionError for a parameter that a class of interfaces does not take. link: the class of its link."""
    stated = [name for name, value in params.items() if value is not None]
    shaping = [name for name in stated if name in tclink.SHAPING and name not in taken(cls) - {"use_htb"}]
    if shaping and not issubclass(cls, TCIntf):
        fix = "use cls=TCLink" if not issubclass(cls, OVSIntf) else "a patch cable of Open vSwitch has no queue: use cls=TCLink"
        kind = f"{named(link)}'s end" if link else named(cls)
        verb = "has" if len(shaping) == 1 else "have"
        raise ConditionError(f"{', '.join(shaping)} {verb} no effect on {kind}", _at(where, place), fix)
    check_names(params, taken(cls) - {"name"}, "a TCLink" if is_plain(cls) else named(cls), where, place)


def is_plain(cls: type) -> bool:
    """Return whether an interface class is TCIntf itself, or what slownet makes of it."""
    return issubclass(cls, TCIntf) and cls.__name__ == "TCIntf"


def ends(maker: Any, params: Parameters, nodes: tuple[Any, Any]) -> tuple[type | None, type | None]:
    """Return the classes of a link's two interfaces; None where only building it shows that.

    maker: the link's class, or a partial or function that makes it. nodes: the classes of its two nodes. A plain link with
    parameters of a TCLink becomes one.
    """
    cls = class_of(maker)
    if cls is None:
        return None, None
    if issubclass(cls, OVSLink) and all(node is not None and issubclass(node, OVSSwitch) for node in nodes):
        return OVSIntf, OVSIntf
    usual = usual_end(cls, params.get("intf"))
    found = []
    for number in ("1", "2"):
        own = class_of(params.get(f"cls{number}") or usual)
        own_params = {**params, **(params.get(f"params{number}") or {})}
        found.append(shaped(own, own_params, cls))
    return found[0], found[1]


def usual_end(link: type, intf: Any) -> Any:
    """Return the maker of a link's ends that have no class of their own: a TCLink takes only an `intf` that can limit."""
    own = class_of(intf)
    if issubclass(link, TCLink) and (intf is None or (own is not None and not issubclass(own, TCIntf))):
        return TCIntf
    return intf or Intf


def shaped(end: type | None, params: Parameters, link: type) -> Any:
    """Return the class of an interface: TCIntf for a plain one of a plain link with a TCLink's parameters."""
    plain = end is not None and end.__name__ == "Intf" and issubclass(end, Intf)
    plain = plain and not issubclass(link, OVSLink) and not _own_words(link) & set(tclink.SHAPING)
    return TCIntf if plain and any(params.get(name) is not None for name in tclink.SHAPING) else end


def _own_words(link: type) -> frozenset[str]:
    return taken(link) - taken(Link)


def check_topology(topology: Topo, link: Any, nodes: Parameters, intf: Any = Intf) -> None:
    """Check the parameters of a topology's nodes and links before anything is built.

    link: the network's maker of links. nodes: the makers of its "host" and "switch". intf: its class of interfaces. Raises
    ConditionError, UnitError.
    """
    classes = {}
    for name in topology.nodes():
        info = dict(topology.nodeInfo(name))
        maker = info.get("cls") or nodes["switch" if topology.isSwitch(name) else "host"]
        classes[name] = class_of(maker)
        check_node(name, maker, info, places.of_node(topology, name))
    for first, second, info in topology.iterLinks(withInfo=True):
        given = {name: value for name, value in info.items() if name not in ("node1", "node2", "cls")}
        maker = info.get("cls") or link
        sides = (first, classes[first]), (second, classes[second])
        check_link(maker, {"intf": intf, **given}, sides, places.of_link(topology, info))


def check_node(name: str, maker: Any, params: Parameters, place: Place) -> None:
    """Check the parameters of a node. Raises ConditionError."""
    cls = class_of(maker)
    if cls is None or not issubclass(cls, Controller):
        ipv4_only.check(params, name, f"{name}-eth0", f"node {name}", place)
    if cls is None:
        return
    params = {**special(maker), **params}
    limited = issubclass(cls, CPULimitedHost) or becomes_limited(maker, params)
    known = taken(cls) | ({"rstp"} if issubclass(cls, OVSSwitch) else set()) | (set(OF_CPU) if limited else set())
    kind = named(cls)
    if issubclass(cls, Host) and not issubclass(cls, CPULimitedHost):
        for word in OF_CPU:
            if params.get(word) is not None and word not in known:
                raise ConditionError(f"{kind} has no parameter '{word}'", _at(f"node {name}", place), "use cls=CPULimitedHost")
    check_names(params, known, kind, f"node {name}", place)


def becomes_limited(maker: Any, params: Parameters) -> bool:
    """Return whether a plain host is given a share of the CPU: it becomes a CPULimitedHost, as its author intends."""
    plain = class_of(maker)
    return plain is not None and plain.__name__ == "Host" and issubclass(plain, Host) and params.get("cpu") is not None


def check_link(maker: Any, given: Parameters, sides: Sequence[tuple[str, Any]], place: Place) -> None:
    """Check the parameters of a link. Raises ConditionError, UnitError.

    maker: the link's class, or a partial of it. sides: the names and classes of its two nodes.
    """
    for number, (node, _) in enumerate(sides, start=1):
        interface = given.get(f"intfName{number}") or f"{node}-eth{given.get(f'port{number}')}"
        ipv4_only.check(given.get(f"params{number}") or {}, node, interface, f"interface {interface}", place)
    cls = class_of(maker)
    if cls is None:
        return
    params = {**preset(maker), **given}
    consumed = taken(cls) | taken(Link) | {"intf", "port1", "port2"}
    own_words = {name: each for name, each in params.items() if name not in consumed - {"use_htb"}}
    made = ends(maker, params, (sides[0][1], sides[1][1]))
    for number, ((node, _), end) in enumerate(zip(sides, made, strict=True), start=1):
        if end is None:
            continue
        own = {**preset(params.get(f"cls{number}") or params.get("intf")), **(params.get(f"params{number}") or {}), **own_words}
        name = params.get(f"intfName{number}")
        port = params.get(f"port{number}")
        where = f"interface {name or f'{node}-eth{port}'}" if name or port is not None else f"link {sides[0][0]}-{sides[1][0]}"
        _without_effect(end, own, where, place, cls)
        if is_plain(end) and getattr(end, "config") is TCIntf.config:  # noqa: B009
            with places.located(where, place):
                read = tclink.numbers(own)
                words = tclink.condition.__kwdefaults__ or {}
                tclink.condition(**{name: value for name, value in read.items() if name in words and value is not None})
