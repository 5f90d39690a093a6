"""Rows for a database and messages for a server, without a web site, to compare how a program sends them."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.net.process import Host, Hosts
from slownet.reproductions.exchange import exchange
from slownet.reproductions.operation import Operation
from slownet.reproductions.peer import Peer
from slownet.reproductions.pipeline import BrokerAndDatabase


class RowsAndMessages:
    """A worker on web that writes rows to db, and a client that exchanges messages with web; see `ClientWebDb`.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    """

    chance = BrokerAndDatabase.chance

    operation = "operation"

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.client: Host = net["client"]
        self.peer = Peer(net, directory, server="web")
        self.rows = BrokerAndDatabase(net, directory, broker="web", worker="web")

    def row(self, way: str, rows: int) -> Operation:
        """Move rows into the database in one of the `WAYS` of `tools.pipeline`; the operation is one row."""
        return Operation(self.rows.copy(way, rows), "steady_row_ms")

    def message(self, pattern: str, count: int) -> Operation:
        """Exchange messages in one of the `PATTERNS` of `tools.exchange`; the operation is one message and its answer."""
        with self.peer.listening():
            return Operation(exchange(self.client, self.peer.address, pattern, count=count), "exchange_ms")

    def __enter__(self) -> Self:
        self.rows.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.rows.__exit__(kind, error, trace)
