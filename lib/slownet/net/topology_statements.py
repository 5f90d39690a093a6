"""Statements of a topology beyond nodes and links: files of its hosts, and conditions that links have from the start.

Both are optional attributes of a Mininet topology: ``prepare(hosts, folder)`` and ``conditions``, by the links' ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slownet.net.nodes import QuickNode


def prepare(topology: Any, hosts: Sequence[Any], folder: Path) -> None:
    """Give the hosts a folder that lasts as long as the network, and what the topology puts there for their programs."""
    for host in hosts:
        if isinstance(host, QuickNode) and host.namespace:
            host.namespace.folder = folder
    if hasattr(topology, "prepare"):
        topology.prepare(hosts, folder)


def set_conditions(network: Any) -> None:
    """Set the conditions that the links of a running network have from the start."""
    for ends, condition in getattr(network.topology, "conditions", {}).items():
        link = network.link(*ends)
        link.set(condition)
        link.own(condition)
    network.verified.clear()
    network.settings.clear()
