"""Base classes of services that consist of several servers, and of those that start a server for each cell."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.net.process import Hosts
from slownet.services.service import Service


class OnDemand:
    """A host where a server is started when a cell needs it; nothing runs in between.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    def __init__(self, net: Hosts, directory: str | Path, server: str = "server") -> None:
        self.host = net[server]
        self.directory = directory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None


class InOrder:
    """Servers and settings that begin one after the other, in `_begin`, and end in reverse order; all of them or none."""

    def _begin(self, stack: ExitStack) -> None:
        """Enter each of them on this stack."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._begin(stack)
            self._running = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._running.close()


class Together:
    """Several servers that start side by side and stop together.

    A subclass sets ``servers`` and, if they need more than to run, `_ready`.
    """

    servers: Sequence[Service]

    def __init__(self, servers: Sequence[Service]) -> None:
        self.servers = tuple(servers)
        self._running = ExitStack()

    def start(self) -> Self:
        """Start the servers, and wait until all are ready.

        Returns
        -------
        Together
            This service.

        Raises
        ------
        ServiceError
            A server does not start, or is not as it must be. Nothing is left running.
        """
        with ExitStack() as stack:
            for server in self.servers:
                stack.callback(server.stop)
            for server in self.servers:
                self._launch(server)
            for server in self.servers:
                server.wait()
            self._ready()
            self._running = stack.pop_all()
        return self

    def stop(self) -> None:
        """Stop the servers that were started, last one first. Fine to call twice."""
        self._running.close()

    def _launch(self, server: Service) -> None:
        """Start one server's program."""
        server.launch()

    def _ready(self) -> None:
        """Do what is left when all servers answer. Raises ServiceError."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
