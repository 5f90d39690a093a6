"""The base class of services that start a server for each cell."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.net.process import Hosts


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
