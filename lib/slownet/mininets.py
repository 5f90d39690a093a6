"""Mininet's classes as a user's type checker sees them, for Mininet has no types of its own."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:

    class Topology:
        """A plan of hosts, switches and cables: at run time Mininet's `Topo` itself.

        A subclass plans its network in `build`, as each file of `slownet.topologies` does.

        Parameters
        ----------
        *args, **params
            What `build` takes.
        """

        def __init__(self, *args: Any, **params: Any) -> None: ...

        def build(self, *args: Any, **params: Any) -> None:
            """Adds the hosts, switches and links; a subclass has one of its own."""

        def addHost(self, name: str, **opts: Any) -> str:  # noqa: N802
            """Adds a host and returns its name; ``ip="10.0.0.1/24"`` is its address."""

        def addSwitch(self, name: str, **opts: Any) -> str:  # noqa: N802
            """Adds a switch and returns its name."""

        def addLink(  # noqa: N802
            self, node1: str, node2: str, port1: int | None = None, port2: int | None = None, key: Any = None, **opts: Any
        ) -> Any:
            """Adds a cable and returns its key; options such as ``bw=10`` (Mbit/s) are those of its class ``cls``."""

        def hosts(self, sort: bool = True) -> list[str]:
            """The hosts' names."""

        def switches(self, sort: bool = True) -> list[str]:
            """The switches' names."""

        def links(self, sort: bool = False, withKeys: bool = False, withInfo: bool = False) -> list[Any]:  # noqa: N803
            """The cables, each a tuple of two names; the key and the options may follow."""

        def nodeInfo(self, name: str) -> dict[str, Any]:  # noqa: N802
            """The options of a host or switch."""

        def linkInfo(self, src: str, dst: str, key: Any = None) -> dict[str, Any]:  # noqa: N802
            """The options of a cable."""

else:
    from mininet.topo import Topo as Topology

__all__ = ["Node", "Topology"]


class Node(Protocol):
    """A host or a switch of a network that is up, by those of Mininet's methods that are used most.

    At run time it is Mininet's `Node` with all that it has; ``net.mininet[name]`` gives it without a type.
    """

    name: str

    def IP(self, intf: Any = None) -> str:  # noqa: N802
        """The IPv4 address of an interface, of the first one unless it is named."""

    def MAC(self, intf: Any = None) -> str:  # noqa: N802
        """The Ethernet address of an interface, of the first one unless it is named."""

    def cmd(self, *args: Any, **kwargs: Any) -> str:
        """Runs a line in the node's shell and returns what it prints."""

    def pexec(self, *args: Any, **kwargs: Any) -> tuple[str, str, int]:
        """Runs a program to its end: what it wrote to standard output and to standard error, and its exit status."""

    def popen(self, *args: Any, **kwargs: Any) -> subprocess.Popen[Any]:
        """Starts a program in the node's network namespace; options are those of `subprocess.Popen`."""

    def intfNames(self) -> list[str]:  # noqa: N802
        """The names of its interfaces."""

    def connectionsTo(self, node: Any) -> list[tuple[Any, Any]]:  # noqa: N802
        """The cables to another node: pairs of Mininet's interfaces, this node's first."""

    def setIP(self, ip: str, prefixLen: int = 8, intf: Any = None, **kwargs: Any) -> Any:  # noqa: N802, N803
        """Gives an interface another IPv4 address."""

    def setHostRoute(self, ip: str, intf: Any) -> Any:  # noqa: N802
        """Adds a route to one host over an interface."""

    def setDefaultRoute(self, intf: Any = None) -> Any:  # noqa: N802
        """Sends what has no route of its own over an interface, or ``"via 10.0.0.2"``."""
