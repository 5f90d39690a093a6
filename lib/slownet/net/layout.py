"""What a network looks like, for its records: the names of its links, what they connect, and the conditions they were given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from slownet.conditions.link import Condition

if TYPE_CHECKING:
    from slownet.net.network import Network


def named(cables: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return Mininet's links in order with their names; further ones between the same nodes have a number after the name."""
    found: dict[str, Any] = {}
    for cable in cables:
        name = "-".join(_ends(cable))
        found[name if name not in found else f"{name}~{len(found)}"] = cable
    return list(found.items())


def layout(net: Network) -> dict[str, Any]:
    """Return the names of hosts and switches, and the two ends of each link by its name."""
    links = {name: _ends(cable) for name, cable in named(net.mininet.links)}
    return {"hosts": [each.name for each in net.hosts], "switches": [each.name for each in net.switches], "links": links}


def given(net: Network) -> dict[str, str]:
    """Return in words the conditions that each link was given since `ConditionLog.begin`, by its name."""
    log: Mapping[Any, list[Condition]] = net.condition_log.given
    return {name: ", then ".join(map(str, log[cable])) for name, cable in named(net.mininet.links) if cable in log}


def _ends(cable: Any) -> list[str]:
    return [cable.intf1.node.name, cable.intf2.node.name]
