"""Types of Mininet's classes for type checkers, because Mininet has none."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

Parameters = Mapping[str, Any]
"""Arguments of a program to Mininet for a node, a link or an interface: values of any type, by the names of parameters."""

if TYPE_CHECKING:

    class Topology:
        """A plan of hosts, switches and links; at run time it is Mininet's `Topo`.

        A subclass plans its network in `build`; see the files of `slownet.topologies`.

        *args, **params: passed to `build`.
        """

        def __init__(self, *args: Any, **params: Any) -> None: ...

        def build(self, *args: Any, **params: Any) -> None:
            """Add the hosts, switches and links; subclasses override it."""

        def addHost(self, name: str, **opts: Any) -> str:  # noqa: N802
            """Add a host and return its name; ``ip="10.0.0.1/24"`` sets its address."""

        def addSwitch(self, name: str, **opts: Any) -> str:  # noqa: N802
            """Add a switch and return its name."""

        def addLink(  # noqa: N802
            self, node1: str, node2: str, port1: int | None = None, port2: int | None = None, key: Any = None, **opts: Any
        ) -> Any:
            """Add a link and return its key; options such as ``bw=10`` (Mbit/s) are those of its class ``cls``."""

        def hosts(self, sort: bool = True) -> list[str]:
            """Return the hosts' names."""

        def switches(self, sort: bool = True) -> list[str]:
            """Return the switches' names."""

        def links(self, sort: bool = False, withKeys: bool = False, withInfo: bool = False) -> list[Any]:  # noqa: N803
            """Return the links: tuples of two names, followed by the key and the options if requested."""

        def nodeInfo(self, name: str) -> Parameters:  # noqa: N802
            """Return the options of a host or switch."""

        def linkInfo(self, src: str, dst: str, key: Any = None) -> Parameters:  # noqa: N802
            """Return the options of a link."""

else:
    from mininet.topo import Topo as Topology

__all__ = ["Node", "Topology"]


class Node(Protocol):
    """A host or a switch of a running network, with Mininet's most used methods.

    At run time it is Mininet's `Node` with all its methods; ``net.mininet[name]`` returns it without a type.
    """

    name: str

    def IP(self, intf: Any = None) -> str:  # noqa: N802
        """Return the IPv4 address of an interface, by default of the first one."""

    def MAC(self, intf: Any = None) -> str:  # noqa: N802
        """Return the Ethernet address of an interface, by default of the first one."""

    def cmd(self, *args: Any, **kwargs: Any) -> str:
        """Run a line in the node's shell and return its output."""

    def pexec(self, *args: Any, **kwargs: Any) -> tuple[str, str, int]:
        """Run a program to its end and return its standard output, its standard error and its exit status."""

    def popen(self, *args: Any, **kwargs: Any) -> subprocess.Popen[Any]:
        """Start a program in the node's network namespace, with the options of `subprocess.Popen`."""

    def intfNames(self) -> list[str]:  # noqa: N802
        """Return the names of its interfaces."""

    def connectionsTo(self, node: Any) -> list[tuple[Any, Any]]:  # noqa: N802
        """Return the links to another node: pairs of Mininet's interfaces, this node's first."""

    def setIP(self, ip: str, prefixLen: int = 8, intf: Any = None, **kwargs: Any) -> Any:  # noqa: N802, N803
        """Set an interface's IPv4 address."""

    def setHostRoute(self, ip: str, intf: Any) -> Any:  # noqa: N802
        """Add a route to one host over an interface."""

    def setDefaultRoute(self, intf: Any = None) -> Any:  # noqa: N802
        """Set the default route: an interface, or ``"via 10.0.0.2"``."""
