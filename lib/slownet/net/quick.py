"""Mininet with faster construction: the same classes and calls, with netlink instead of processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import SystemRandom
from typing import Any

from mininet.link import Intf, Link
from mininet.net import Mininet
from mininet.node import Controller, DefaultController, Host, NullController, OVSBridge, OVSSwitch, findController

from slownet.errors import NetworkError
from slownet.net import device, names
from slownet.net.cables import QuickLink, quick_link
from slownet.net.conversion import made_quick, quick
from slownet.net.netlink import Route
from slownet.net.nodes import QuickNode, QuickSwitch, Renamed
from slownet.net.shaping import Shaping
from slownet.net.trials import Trials


def _is_missing(controller: Any) -> bool:
    """Return whether a program wants a default controller but none is installed.

    Like Mininet's own command, these networks then use learning bridges.
    """
    if controller is DefaultController:
        return findController() is None
    return controller is Controller and not Controller.isAvailable()


class QuickNet(Trials, Mininet):  # type: ignore[misc]  # Mininet has no types
    """Mininet, with its parameters; a topology's own classes of nodes and links keep their behaviour.

    sysctls: for every host, set before it has an interface. offloads_off: those of "tso", "gso", "gro" to switch off on every
    interface, by default all. shaping: the state of its interfaces.
    """

    def __init__(
        self, *args: Any, sysctls: Mapping[str, str] | None = None, offloads_off: Sequence[str] = tuple(device.OFFLOADS),
        shaping: Shaping | None = None, **params: Any,
    ) -> None:  # fmt: skip
        self._group = SystemRandom().getrandbits(31) | 1 << 16  # tells its cables from others of this machine
        self._sysctls = dict(sysctls or {})
        self._offloads_off = tuple(offloads_off)
        self.shaping = shaping or Shaping()
        self._taken = names.taken()
        given = dict(zip(("topo", "switch", "host", "controller"), args, strict=False)) | params
        self._on_their_own = _is_missing(given.get("controller", DefaultController))
        if self._on_their_own:
            given["controller"] = NullController
        defaults = {"switch": QuickSwitch, "host": Host, "link": Link, "intf": Intf}
        super().__init__(*args[4:], **defaults | given)

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Any:  # noqa: N802  # Mininet's names
        """Add a host like Mininet. Raises NetworkError if no address is left."""
        most = (0xFFFFFFFF >> self.prefixLen) - 1
        if "ip" not in params and self.nextIP > most:
            raise NetworkError(
                f"no address is left for '{name}': {self.ipBase} has {most}",
                fix="give the network a larger ipBase, or give hosts an ip",
            )
        cls = made_quick(cls or self.host, lambda each: self._with_sysctls(quick(each)))
        return self._renamed(super().addHost(name, cls, **params))

    def addSwitch(self, name: str, cls: Any = None, **params: Any) -> Any:  # noqa: N802
        """Add a switch like Mininet; it learns by itself if no controller is installed."""
        cls = made_quick(cls or self.switch, quick)
        kind = cls.func if isinstance(cls, partial) else cls
        if self._on_their_own and isinstance(kind, type) and issubclass(kind, OVSSwitch) and not issubclass(kind, OVSBridge):
            params.setdefault("failMode", "standalone")
        return self._renamed(super().addSwitch(name, cls, **params))

    def _renamed(self, node: Any) -> Any:
        """Give a node of the machine's own namespace a name that is unique there."""
        if isinstance(node, Renamed) and not node.inNamespace:
            node.machine_name = names.machine_name(node.name, self._taken)
            self._taken.add(node.machine_name)
        return node

    def addLink(self, node1: Any, node2: Any, *args: Any, cls: Any = None, **params: Any) -> Any:  # noqa: N802
        """Add a link like Mininet."""
        cls = made_quick(cls or self.link, quick_link)
        kind = cls.func if isinstance(cls, partial) else cls
        if isinstance(kind, type) and issubclass(kind, QuickLink):
            params |= {"group": self._group, "offloads_off": self._offloads_off, "shaping": self.shaping}
        return super().addLink(node1, node2, *args, cls=cls, **params)

    def _with_sysctls(self, cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, QuickNode)):
            return cls
        return lambda name, **params: cls(name, sysctls=self._sysctls, **params)

    def start(self) -> None:
        """Start the switches and wait until all links can send."""
        super().start()
        for link in self.links:
            if isinstance(link, QuickLink):
                link.settle()

    def stop(self) -> None:
        """Remove everything; a failure does not prevent the removal of the rest."""
        self.shaping.programs.close()
        try:
            super().stop()
        finally:
            for node in (*self.hosts, *self.switches):
                if isinstance(node, QuickNode) and node.namespace:
                    node.namespace.close()
            with Route() as route:
                route.delete_group(self._group)
