"""A page at a name with an IPv4 and an IPv6 address, each over a path of its own, and clients that fall back to IPv4."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.links.packets import connection_attempts
from slownet.links.packets.connection_attempts import PORT, Attempts
from slownet.model.errors import ToolError, nearest
from slownet.net.process import Host
from slownet.net.tcpdump import Capture
from slownet.net.tool import run
from slownet.reproductions.named_pages import FILE, PAGE, Site, asking
from slownet.reproductions.program import python
from slownet.services.composite import InOrder
from slownet.services.unbound import Unbound
from slownet.theory.fallback import CLIENTS
from slownet.tools.numbers import Metric, single

if TYPE_CHECKING:
    from slownet.net.network import Network

COMMANDS: Mapping[str, Callable[[str, str], Sequence[str]]] = {
    "curl": lambda name, path: ["curl", "--disable", "-sS", "--fail", "--output", "/dev/null", f"http://{name}{path}"],
    "asyncio": lambda name, path: python("eyeballs", name, PORT, path, (CLIENTS["asyncio"] or 0) / 1000),
    "wget": lambda name, path: ["wget", "-q", "--tries=1", "--read-timeout=0", "-O", "/dev/null", f"http://{name}{path}"],
}


@dataclass(frozen=True)
class FirstByte(Metrics):
    """One page.

    command: the client's command.
    seen: the connections that it tried.
    files: the capture of each interface.
    """

    command: tuple[str, ...]
    seen: Attempts
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    @property
    def raw(self) -> str:
        """The connections as text."""
        return f"{self.seen}\n"

    def metrics(self) -> dict[str, Metric]:
        """Return ``first_byte_ms``, from the first SYN."""
        return {"first_byte_ms": single(self.seen.first_byte_ms, 1)}

    def facts(self) -> dict[str, object]:
        """Return what the captures show: over what connections were tried, and over which the page came."""
        return {"tried": ", ".join(self.seen.families), "answered": self.seen.answered}


def first_byte(host: Host, client: str, name: str, path: str = "/", *, interfaces: Sequence[str]) -> FirstByte:
    """Request a page by its name.

    host: the host of the client.
    client: which program: a name in `COMMANDS`.
    name, path: the server's name, and the page's path.
    interfaces: the host's interfaces over which connections may go.
    returns: the time to the first byte.
    Raises ToolError: no such client, a program is missing or fails, or a capture lost packets.
    """
    if client not in COMMANDS:
        raise ToolError(f"no client '{client}'", f"host '{host.name}'", nearest(client, COMMANDS))
    with owner.temporary("fallback") as directory, ExitStack() as stack:
        captures = [Capture(host, each, Path(directory, each), filter=f"tcp port {PORT}") for each in interfaces]
        for each in captures:
            stack.enter_context(each)
        done = run(host, COMMANDS[client](name, path))
        stack.close()
        if lost := sum(each.dropped for each in captures):
            raise ToolError(f"tcpdump lost {lost} packets", f"host '{host.name}'")
        seen = connection_attempts.read(each.path for each in captures)
        return FirstByte(done.argv, seen, {f"{each.interface}.pcap": each.path.read_bytes() for each in captures})


ADDRESSES = ("10.0.0.2", "10.0.1.2")
"""Of the server of `TwoPaths`."""
INTERFACES = ("client-eth0", "client-eth1")
REFUSED = "refused.example"
"""A name whose server does not listen on its IPv6 address."""


class DualStack(InOrder):
    """A web server and its name server on the host ``server`` of `TwoPaths`: IPv4 over ``first``, IPv6 over ``second``.

    net: the network; its hosts are given IPv6.
    directory: the run directory, for logs.
    """

    operation = "page"

    def __init__(self, net: Network, directory: str | Path) -> None:
        from slownet.net import ipv6

        net.add_ipv6()
        self.client, server = net["client"], net["server"]
        first, second = ADDRESSES
        records = {PAGE: [first, ipv6.of(second)], REFUSED: [first, ipv6.of(first)]}
        run(self.client, ["ping", "-6", "-nqc", "1", ipv6.of(second)])  # so that no neighbour discovery is in a measurement
        self._site = Site(server, directory, f"[{ipv6.of(second)}]:80")
        self._names = Unbound(server, directory, records=records)

    def _begin(self, stack: ExitStack) -> None:
        for each in (self._site, self._names, asking(self.client, self._names.address)):
            stack.enter_context(each)

    def page(self, client: str, name: str = PAGE) -> FirstByte:
        """Request the page with a client: a name in `slownet.theory.fallback.CLIENTS`. Raises ToolError."""
        return first_byte(self.client, client, name, f"/{FILE}", interfaces=INTERFACES)
