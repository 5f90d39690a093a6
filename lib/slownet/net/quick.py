"""Mininet, built in a fraction of the time: the same classes and calls, with netlink below them instead of programs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from mininet.link import Intf, Link
from mininet.net import Mininet
from mininet.node import Host

from slownet.net import tc
from slownet.net.cables import QuickLink, quick_link
from slownet.net.netlink import Route
from slownet.net.nodes import QuickNode, QuickSwitch, quick


class QuickNet(Mininet):  # type: ignore[misc]  # Mininet has no types
    """Takes what Mininet takes; classes of nodes and links that a topology names keep their behaviour.

    sysctls: of every host, set before it has an interface; offloads_off: "tso", "gso", "gro", of every interface.
    """

    def __init__(
        self, *args: Any, sysctls: Mapping[str, str] | None = None, offloads_off: Sequence[str] = (), **params: Any
    ) -> None:
        self._group = secrets.randbits(31) | 1 << 16  # its cables, among others of this machine
        self._sysctls = dict(sysctls or {})
        self._offloads_off = tuple(offloads_off)
        super().__init__(*args, **{"switch": QuickSwitch, "host": Host, "link": Link, "intf": Intf, **params})

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Any:  # noqa: N802  # Mininet's names
        return super().addHost(name, self._with_sysctls(quick(cls or self.host)), **params)

    def addSwitch(self, name: str, cls: Any = None, **params: Any) -> Any:  # noqa: N802
        return super().addSwitch(name, quick(cls or self.switch), **params)

    def addLink(self, node1: Any, node2: Any, *args: Any, cls: Any = None, **params: Any) -> Any:  # noqa: N802
        cls = quick_link(cls or self.link)
        if isinstance(cls, type) and issubclass(cls, QuickLink):
            params |= {"group": self._group, "offloads_off": self._offloads_off}
        return super().addLink(node1, node2, *args, cls=cls, **params)

    def _with_sysctls(self, cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, QuickNode)):
            return cls
        return lambda name, **params: cls(name, sysctls=self._sysctls, **params)

    def start(self) -> None:
        super().start()
        for link in self.links:
            if isinstance(link, QuickLink):
                link.settle()

    def stop(self) -> None:
        """Takes everything down; what fails does not keep the rest from going."""
        for node in self.values():
            tc.close(node)
        try:
            super().stop()
        finally:
            for node in (*self.hosts, *self.switches):
                if isinstance(node, QuickNode) and node.namespace:
                    node.namespace.close()
            with Route() as route:
                route.delete_group(self._group)
