"""The project's own small server programs, and the one that answers messages, with a choice of when TCP acknowledges them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from slownet.model.errors import NetworkError
from slownet.net.process import Host
from slownet.net.route_options import change_route
from slownet.net.tool import run
from slownet.reproductions.program import python
from slownet.services.composite import OnDemand
from slownet.services.service import Service

# Options of the route that a host has to its own network (ip-route(8)), for a ``with`` block.


def quick_route(host: Host) -> AbstractContextManager[None]:
    """Make a host send every ACK to its own network at once for a ``with`` block (``quickack 1``). Raises NetworkError."""
    return own_route(host, "quickack", 1)


def initial_window(host: Host, segments: int) -> AbstractContextManager[None]:
    """Make a host's new connections begin with a window of so many segments for a ``with`` block (``initcwnd``).

    Raises NetworkError.
    """
    return own_route(host, "initcwnd", segments)


@contextmanager
def own_route(host: Host, option: str, value: int) -> Iterator[None]:
    """Set an option of the route to a host's own network for a ``with`` block.

    host: the host.
    option: its name, as for ``ip route``.
    value: its value.
    Raises NetworkError: the host does not have exactly one such route, or the option was not set.
    """
    routes = json.loads(run(host, ["ip", "-json", "route", "show", "scope", "link"]).stdout)
    if len(routes) != 1:
        raise NetworkError(f"{len(routes)} routes to its own networks instead of 1", f"host '{host.name}'")
    change_route(host, routes[0], {option: str(value)})
    try:
        if f"{option} {value}" not in run(host, ["ip", "route", "show", "scope", "link"]).stdout:
            raise NetworkError(f"ip did not set {option} on the route", f"host '{host.name}'")
        yield
    finally:
        change_route(host, routes[0], {})


class Peer(OnDemand):
    """A host where a listener is started for each cell.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "exchange"

    @property
    def address(self) -> str:
        """The listener's IP address; its port is 5000."""
        return self.host.IP()

    @contextmanager
    def listening(self, quickack: str = "") -> Iterator[Listener]:
        """Run a listener for a ``with`` block.

        quickack: when to send ACKs without delay: ``"once"`` sets TCP_QUICKACK once per connection, ``"always"`` before each
            read, ``"route"`` sets it for the host's route; ``""`` never.
        yields: the running listener.
        """
        option = "" if quickack == "route" else quickack
        with Listener(self.host, self.directory, quickack=option) as listener:
            if quickack != "route":
                yield listener
                return
            with quick_route(self.host):
                yield listener


class Program(Service):
    """The base class of these servers; the program creates the file ``ready`` as soon as it listens."""

    module: str

    def words(self) -> Sequence[str]:
        """Return the arguments after the file."""
        raise NotImplementedError

    @property
    def ready(self) -> Path:
        """The file that exists when the program listens."""
        return self.state / "ready"

    def command(self) -> Sequence[str]:
        """Return the command line."""
        return python(self.module, *self.verb(), self.ready, *self.words())

    def verb(self) -> Sequence[str]:
        """Return the arguments before the file, for a program with several subcommands."""
        return ()

    def answers(self) -> bool:
        """Return whether the file exists."""
        return self.ready.exists()


class Listener(Program):
    """A server that answers messages (`slownet.reproductions.programs.request_writer`).

    host: the host that it runs on.
    directory: the run directory, for the log.
    port: the TCP port to listen on.
    quickack: when to set TCP_QUICKACK: ``"once"`` per connection, ``"always"`` before each read, ``""`` never.
    """

    name, module = "listener", "request_writer"

    def __init__(self, host: Host, directory: str | Path, *, port: int = 5000, quickack: str = "") -> None:
        super().__init__(host, directory)
        self.port = port
        self.quickack = quickack

    def verb(self) -> Sequence[str]:
        """Return the subcommand."""
        return ("serve",)

    def words(self) -> Sequence[str]:
        """Return port and option."""
        return [str(self.port), *filter(None, [self.quickack])]


class Proxy(Program):
    """A proxy that forwards connections to a server (`slownet.reproductions.programs.proxy`).

    host: the host that it runs on.
    directory: the run directory, for the log.
    address, target: the server's IP address and TCP port.
    port: the TCP port to listen on.
    size: how many bytes it reads, and then writes, at a time.
    nodelay: whether it sends each write at once (TCP_NODELAY).
    """

    name, module = "proxy", "proxy"

    def __init__(
        self,
        host: Host,
        directory: str | Path,
        *,
        address: str,
        target: int = 3306,
        port: int = 3306,
        size: int = 128,
        nodelay: bool = False,
    ) -> None:
        super().__init__(host, directory)
        self.address, self.target, self.port = address, target, port
        self.size, self.nodelay = size, nodelay

    def words(self) -> Sequence[str]:
        """Return ports, address, size and option."""
        return [str(self.port), self.address, str(self.target), str(self.size), *(["nodelay"] if self.nodelay else [])]
