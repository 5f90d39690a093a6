"""Reads the files of MiniEdit, Mininet's own editor: JSON with hosts, switches, links and controllers.

Source of the format: MiniEdit.saveTopology and loadTopology of Mininet's examples/miniedit.py. Version 1 has one controller,
and nodes without names, which are then h1, s1 and so on by their numbers; version 2 has lists and names.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slownet.links.conditions import tclink
from slownet.live.scene import HOST, MOST_NODES, NAME, ROUTER, SWITCH, Node, Scene, Wire, check_address
from slownet.model.errors import ExperimentError, SlownetError

ENDING = ".mn"
FIX = "open a file that MiniEdit has saved"
ROUTER_TYPE = "legacyRouter"
SAME = {"bw": "rate", "delay": "delay", "jitter": "jitter", "loss": "loss", "max_queue_size": "queue"}
"""The parameters of a link there, and the fields of a condition."""
IP_BASE = "10.0.0.0/8"
OF_NODES: Mapping[str, str] = {
    "cpu": "a limit of the CPU",
    "cores": "a choice of processors",
    "defaultRoute": "a default route",
    "privateDirectory": "private directories",
    "vlanInterfaces": "VLAN interfaces",
    "externalInterfaces": "interfaces of the machine",
    "startCommand": "a start command",
    "stopCommand": "a stop command",
    "dpctl": "a port for dpctl",
    "switchIP": "a switch's address",
    "netflow": "NetFlow",
    "sflow": "sFlow",
}
"""The options of hosts and switches that have no effect here. A host can be given most of them by a shell on it."""
SWITCH_TYPES: Mapping[str, str] = {"user": "a user-space switch", "userns": "a user-space switch", "ivs": "an IVS switch"}
UNSET: tuple[Any, ...] = ("", "0", 0, None, False, [], {})


def read(text: str) -> tuple[Scene, list[str]]:
    """Return the network of a file, and a line for each thing that has no effect here. Raises ExperimentError."""
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise ExperimentError("this is not a file of MiniEdit: it is not JSON", fix=FIX) from error
    if not isinstance(found, dict) or not isinstance(found.get("hosts"), list) or not isinstance(found.get("switches"), list):
        raise ExperimentError("this is not a file of MiniEdit: it has no hosts and switches", fix=FIX)
    application = found.get("application")
    application = application if isinstance(application, dict) else {}
    network = _network(application)
    nodes: dict[str, Node] = {}
    for kind in ("switches", "hosts"):
        for each in found[kind]:
            node = _node(each, kind, network)
            if node.name in nodes:
                raise ExperimentError(f"'{node.name}' appears twice", fix="rename one in MiniEdit")
            nodes[node.name] = node
    if len(nodes) > MOST_NODES:
        raise ExperimentError(f"{len(nodes)} nodes are too many", fix=f"at most {MOST_NODES}")
    controllers = _controllers(found.get("controllers"))
    wires: dict[str, Wire] = {}
    for each in found.get("links") or []:
        if isinstance(each, dict) and not {each.get("src"), each.get("dest")} & controllers.keys():
            wire = _wire(each, nodes, wires)
            wires[wire.key] = wire
    scene = Scene(tuple(_with_routers_addresses(list(nodes.values()), network)), tuple(wires.values()))
    return scene, list(_left_out(found, application, controllers, scene))


def _options(value: Any) -> Mapping[str, Any]:
    options = value.get("opts") if isinstance(value, dict) else None
    return options if isinstance(options, dict) else {}


def _name(value: Any, among: str) -> str:
    """Return a node's name; version 1 has a number alone."""
    number = str(value.get("number", "")) if isinstance(value, dict) else ""
    return str(_options(value).get("hostname") or (f"{among[0]}{number}" if number else ""))


def _network(application: Mapping[str, Any]) -> ipaddress.IPv4Network:
    """Return the network whose addresses hosts have that state none."""
    text = str(application.get("ipBase") or IP_BASE)
    try:
        return ipaddress.IPv4Network(text, strict=False)
    except ValueError:
        raise ExperimentError(f"the IP base '{text[:40]}' is not a network", fix="write one such as 10.0.0.0/8") from None


def _node(value: Any, among: str, network: ipaddress.IPv4Network) -> Node:
    options = _options(value)
    name = _name(value, among)
    if not NAME.fullmatch(name):
        raise ExperimentError(
            f"'{name[:40]}' cannot be a node's name", fix="letters, digits, '-', '_', '.', up to 10, such as web1"
        )
    kind = HOST if among == "hosts" else ROUTER if options.get("switchType") == ROUTER_TYPE else SWITCH
    address = _address(value, options, network) if kind == HOST else ""
    node = Node(name, kind, _number(value.get("x")), _number(value.get("y")), address)
    check_address(node)
    return node


def _address(value: Any, options: Mapping[str, Any], network: ipaddress.IPv4Network) -> str:
    """Return a host's address with its prefix; one that states none has that of its number, as in MiniEdit."""
    if text := str(options.get("ip") or ""):
        return text if "/" in text else f"{text}/8"
    number = str(options.get("nodeNum") or value.get("number") or "")
    if not number.isdecimal() or not 0 < int(number[:9]) < network.num_addresses - 1:
        return ""
    return f"{network.network_address + int(number)}/{network.prefixlen}"


def _with_routers_addresses(nodes: Sequence[Node], network: ipaddress.IPv4Network) -> Iterator[Node]:
    """Yield the nodes; routers get the last addresses of the network that no host has."""
    taken = {each.address.partition("/")[0] for each in nodes}
    last = int(network.broadcast_address)
    for each in nodes:
        if each.kind == ROUTER:
            last = next(number for number in range(last - 1, 0, -1) if str(ipaddress.IPv4Address(number)) not in taken)
            yield replace(each, address=f"{ipaddress.IPv4Address(last)}/{network.prefixlen}")
        else:
            yield each


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e6 else None


def _controllers(found: Any) -> dict[str, Mapping[str, Any]]:
    """Return the options of each controller: of a list of them, or of version 1's object."""
    if isinstance(found, dict):
        return {str(name): options if isinstance(options, dict) else {} for name, options in found.items()}
    every = found if isinstance(found, list) else []
    return {str(_options(each).get("hostname") or f"c{number}"): _options(each) for number, each in enumerate(every)}


def _wire(value: Mapping[str, Any], nodes: Mapping[str, Node], wires: Mapping[str, Wire]) -> Wire:
    first, second = (str(value.get(name, "")) for name in ("src", "dest"))
    for name in (first, second):
        if name not in nodes:
            raise ExperimentError(f"a link leads to '{name[:40]}', which is not there", fix=FIX)
    key = f"{first}-{second}"
    number = next(n for n in range(len(wires) + 1) if (f"{key}~{n}" if n else key) not in wires)
    key = f"{key}~{number}" if number else key
    try:
        wire = Wire(key, first, second, fields=_fields(_options(value)))
        wire.over(None)
    except SlownetError as error:
        raise ExperimentError(error.what, f"link {key}", error.fix) from error
    except (TypeError, ValueError) as error:
        raise ExperimentError("a parameter is not a number", f"link {key}", FIX) from error
    return wire


def _fields(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a condition for the options of a link: a number of a delay is in us there, as in Mininet."""
    stated = {name: options[name] for name in SAME if options.get(name) not in UNSET}
    condition = tclink.condition(**{name: _as_number(name, value) for name, value in stated.items()})
    fields = {}
    if condition.up:
        fields["delay"] = f"{_plain(condition.up * 1e6)}us"
    if condition.jitter_up:
        fields["jitter"] = f"{_plain(condition.jitter_up * 1e6)}us"
    if "loss" in stated:
        fields["loss"] = f"{_plain(float(stated['loss']))}%"
    if condition.rate_up:
        fields["rate"] = f"{_plain(condition.rate_up)}bit"
    if "max_queue_size" in stated:
        fields["queue"] = f"{int(stated['max_queue_size'])} packets"
    return fields


def _plain(number: float) -> str:
    """Return a number without an exponent."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def _as_number(name: str, value: Any) -> Any:
    if name in ("delay", "jitter") and not str(value).replace(".", "", 1).isdigit():
        return str(value)
    return float(value) if name != "max_queue_size" else int(value)


def _left_out(
    found: Mapping[str, Any], application: Mapping[str, Any], controllers: Mapping[str, Any], scene: Scene
) -> Iterator[str]:
    """Yield a line for each thing that has no effect here, with the nodes that state it."""
    if controllers:
        kinds = {name: str(each.get("controllerType") or "ref") for name, each in controllers.items()}
        remote = [f"{name} ({kind})" if kind in ("remote", "inband", "ovsc") else name for name, kind in kinds.items()]
        yield f"{', '.join(sorted(remote))} {_is(remote)} left out: switches learn by themselves"
    by_kind: dict[str, list[str]] = {}
    for among in ("hosts", "switches"):
        for each in found[among]:
            for words in _without_effect(_options(each), among, application):
                by_kind.setdefault(words, []).append(_name(each, among))
    for words, names in by_kind.items():
        yield f"{', '.join(names)} {_is(names)} opened without {words}"
    for each in scene.nodes:
        if each.kind == ROUTER:
            yield f"{each.name} gets the address {each.address}: MiniEdit saves none of a router"
    if sped := [
        f"{each['src']}-{each['dest']}" for each in found.get("links") or [] if _options(each).get("speedup") not in UNSET
    ]:
        yield f"{', '.join(sped)} {_is(sped)} opened without a speedup"
    yield from _of_application(application)


def _without_effect(options: Mapping[str, Any], among: str, application: Mapping[str, Any]) -> Iterator[str]:
    for name, words in OF_NODES.items():
        if options.get(name) not in UNSET:
            yield words
    kind = options.get("switchType")
    kind = application.get("switchType") if kind == "default" else kind
    if among == "switches" and str(kind) in SWITCH_TYPES:
        yield SWITCH_TYPES[str(kind)]


def _of_application(application: Mapping[str, Any]) -> Iterator[str]:
    for part, target, words in (("netflow", "nflowTarget", "NetFlow"), ("sflow", "sflowTarget", "sFlow")):
        settings = application.get(part)
        if isinstance(settings, dict) and settings.get(target) not in UNSET:
            yield f"{words} to {str(settings[target])[:60]} is not sent"
    versions = application.get("openFlowVersions")
    chosen = [name for name, is_on in versions.items() if is_on not in UNSET] if isinstance(versions, dict) else []
    if set(chosen) - {"ovsOf10"}:
        yield "the network is opened without a version of OpenFlow: switches learn by themselves"
    if application.get("dpctl") not in UNSET:
        yield "the network is opened without a port for dpctl"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
