"""Servers that are the project's own small programs (slownet.programs)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from slownet.services.service import Service
from slownet.tools.process import Host


class Program(Service):
    """One of the programs, which makes the file ``ready`` in its state as soon as it listens."""

    module: str

    def words(self) -> Sequence[str]:
        """Its arguments after the file."""
        raise NotImplementedError

    @property
    def ready(self) -> Path:
        """There when the program listens."""
        return self.state / "ready"

    def command(self) -> Sequence[str]:
        return [sys.executable, "-m", f"slownet.programs.{self.module}", *self.verb(), str(self.ready), *self.words()]

    def verb(self) -> Sequence[str]:
        """What goes before the file, for a program that can do several things."""
        return ()

    def answers(self) -> bool:
        return self.ready.exists()


class Listener(Program):
    """Answers messages (slownet.programs.exchange).

    Parameters
    ----------
    quickack
        TCP_QUICKACK: ``"once"`` for each connection, ``"always"`` before each read, or not at all.
    """

    name, module = "listener", "exchange"

    def __init__(self, host: Host, directory: str | Path, *, port: int = 5000, quickack: str = "") -> None:
        super().__init__(host, directory)
        self.port = port
        self.quickack = quickack

    def verb(self) -> Sequence[str]:
        return ("serve",)

    def words(self) -> Sequence[str]:
        return [str(self.port), *filter(None, [self.quickack])]


class Proxy(Program):
    """Passes connections on to a server, reading ``size`` bytes at a time (slownet.programs.proxy).

    Parameters
    ----------
    address, target
        The server's address and port.
    nodelay
        Whether its writes leave at once (TCP_NODELAY).
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
        return [str(self.port), self.address, str(self.target), str(self.size), *(["nodelay"] if self.nodelay else [])]
