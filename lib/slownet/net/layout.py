"""The layout of a network, for its records: the names of its links, what they connect, and the conditions they were given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from slownet.links.conditions.link import Condition
from slownet.model.facts import Topology

_AS_A_CONTAINERS = re.compile(r"eth\d+")


def named(cables: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return Mininet's links in order with their names; further ones between the same nodes have a number after the name."""
    found: dict[str, object] = {}
    for cable in cables:
        name = "-".join(_ends(cable))
        found[name if name not in found else f"{name}~{len(found)}"] = cable
    return list(found.items())


def interface_name(interface: Any) -> str:
    """Return a name of an interface that no other one of its network has: ``web-eth0`` of a container's ``eth0``.

    `QuickLink` makes it known to Mininet beside the interface's own.
    """
    node, name = interface.node, str(interface.name)
    usual = f"{node.name}-eth{node.ports[interface]}" if _AS_A_CONTAINERS.fullmatch(name) else name
    return usual if usual in node.nameToIntf else name


def layout(hosts: Iterable[Any], switches: Iterable[Any], cables: Iterable[Any]) -> Topology:
    """Return the names of hosts and switches, and the two ends of each link by its name."""
    links = {name: _ends(cable) for name, cable in named(cables)}
    return {"hosts": [each.name for each in hosts], "switches": [each.name for each in switches], "links": links}


def given(cables: Iterable[Any], log: Mapping[Any, list[Condition]], unstated: Mapping[Any, str]) -> dict[str, str]:
    """Return as text the conditions of each link in a `ConditionLog`, by its name.

    unstated: words for what another program has made of a link since.
    """
    found = {}
    for name, cable in named(cables):
        words = [*_stated(log.get(cable, [])), *([unstated[cable]] if cable in unstated else [])]
        if words:
            found[name] = ", then ".join(words)
    return found


def _stated(found: list[Condition]) -> list[str]:
    """Leave out what was set only to verify another condition: its part that is not random."""
    steady = [each.steady for each in found if each.chancy]
    return [str(each) for each in found if each not in steady]


def _ends(cable: Any) -> list[str]:
    return [cable.intf1.node.name, cable.intf2.node.name]
