"""Interfaces of a service: one for each of its networks, ordered and named as a container engine does it.

``eth0`` is the interface in the network that Docker Engine 28 prefers for the default route: the one with the highest
``gw_priority``, then one that is not ``internal``, then one with IPv4 and IPv6, then by the network's name in the engine
(moby, daemon/libnetwork/sandbox.go, Endpoint.Less, and sandbox_linux.go, finishEndpointConfig). Compose's ``priority`` does not
count there; the network with the highest one gets the service's own ``mac_address`` (compose-spec, services).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slownet.compose.document import Map
from slownet.compose.longform import text
from slownet.compose.model import Interface
from slownet.compose.scalars import shown
from slownet.model.errors import ComposeError
from slownet.model.shapes import Json

NAME, MAC, GATEWAY, PRIORITY = "interface_name", "mac_address", "gw_priority", "priority"
LONGEST = 15
"""Letters of an interface's name (IFNAMSIZ less one)."""
_ETHERNET = re.compile(r"[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}")


def of(tree: Map, networks: Sequence[str], declared: Mapping[str, Json], project: str) -> tuple[Interface, ...]:
    """Return a service's interfaces, its first one first. Raises ComposeError.

    tree: the service in the files. networks: its networks. declared: what the files say of each network.
    """
    stated = tree.get("networks") or {}
    own = {name: each if isinstance(each := stated.get(name), Map) else Map(tree.place) for name in networks}
    order = sorted(networks, key=lambda each: _rank(each, own[each], declared.get(each) or {}, project))
    first = min(networks, key=lambda each: (-int(own[each].get(PRIORITY) or 0), each), default="")
    macs = {name: _mac(each) or (_mac(tree) if name == first else "") for name, each in own.items()}
    names = dict(_names(order, own))
    return tuple(Interface(each, names[each], macs[each]) for each in order)


def _rank(name: str, own: Map, network: Mapping[str, Json], project: str) -> tuple[int, bool, bool, str]:
    only_ipv4 = not _is_true(network.get("enable_ipv6"))
    in_the_engine = network.get("name") or (name if network.get("external") else f"{project}_{name}")
    return -int(own.get(GATEWAY) or 0), _is_true(network.get("internal")), only_ipv4, str(in_the_engine)


def _names(order: Sequence[str], own: Mapping[str, Map]) -> Iterator[tuple[str, str]]:
    stated = {each: text(own[each][NAME]) for each in order if own[each].get(NAME)}
    taken: dict[str, str] = {}
    for network, name in stated.items():
        at = str(own[network].keys_at[NAME])
        if not 0 < len(name.encode()) <= LONGEST or re.search(r"[\s/:]", name) or name in ("lo", ".", ".."):
            raise ComposeError(f"'{name}' is not an interface's name", at, f"write 1 to {LONGEST} letters, such as eth1")
        if name in taken:
            raise ComposeError(f"two interfaces are called '{name}'", at, f"give one of them another {NAME}")
        taken[name] = network
    free = (name for number in itertools.count() if (name := f"eth{number}") not in taken)
    for each in order:
        yield each, stated.get(each) or next(free)


def _is_true(value: Any) -> bool:
    return shown(value) == "true"


def _mac(tree: Map) -> str:
    value = text(tree.get(MAC) or "")
    if value and not _ETHERNET.fullmatch(value):
        raise ComposeError(f"'{value}' is no Ethernet address", str(tree.keys_at[MAC]), "write one such as 02:42:ac:11:00:0a")
    return value.lower().replace("-", ":")
