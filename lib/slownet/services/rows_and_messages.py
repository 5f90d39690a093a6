"""What a program does to a network, without a web site: rows for a database, messages for a server."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.services.peer import Peer
from slownet.services.pipeline import BrokerAndDatabase
from slownet.tools.exchange import exchange
from slownet.tools.operation import Operation
from slownet.tools.process import Host, Hosts


class RowsAndMessages:
    """On the hosts of ``ClientWebDb``: a worker on web writes to db, a client exchanges messages with web.

    Parameters
    ----------
    net, directory
        The network, and the run directory for logs.
    """

    chance = BrokerAndDatabase.chance

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.client: Host = net["client"]
        self.peer = Peer(net, directory, server="web")
        self.rows = BrokerAndDatabase(net, directory, broker="web", worker="web")

    def row(self, way: str, rows: int) -> Operation:
        """A row on its way into the database, in one of the ways of `tools.pipeline`."""
        return Operation(self.rows.copy(way, rows), "steady_row_ms")

    def message(self, pattern: str, count: int) -> Operation:
        """A message and its answer, in one of the patterns of `tools.exchange`."""
        with self.peer.listening():
            return Operation(exchange(self.client, self.peer.address, pattern, count=count), "exchange_ms")

    def __enter__(self) -> Self:
        self.rows.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.rows.__exit__(kind, error, trace)
