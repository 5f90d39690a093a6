"""Rows for a database and messages for a server, without a web site, to compare how a program sends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, nearest
from slownet.net.process import Host, Hosts
from slownet.reproductions.exchange import exchange
from slownet.reproductions.own_server import Peer
from slownet.reproductions.pipeline import BrokerAndDatabase
from slownet.tools.numbers import Metric

# One metric name for the time per operation of different tools, so that their results fit in one table.


@dataclass(frozen=True)
class Operation(Metrics):
    """A tool's record with one of its metrics repeated as ``operation_ms``.

    record: the tool's record, such as `Ab`.
    time: the metric, in ms, that is the time of an operation: a page, a row, a message.
    """

    record: Any
    time: str

    @property
    def command(self) -> Sequence[str]:
        """The tool's command."""
        return tuple(self.record.command)

    @property
    def raw(self) -> str:
        """The tool's output."""
        return str(self.record.raw)

    def metrics(self) -> dict[str, Metric]:
        """Return ``operation_ms`` and all metrics of the tool. Raises ToolError if the tool has no metric ``time``."""
        metrics: dict[str, Metric] = self.record.metrics()
        if self.time not in metrics:
            tool = type(self.record).__name__.lower()
            raise ToolError(f"{tool} has no metric '{self.time}'", fix=nearest(self.time, metrics), raw=self.raw)
        return {"operation_ms": metrics[self.time], **metrics}

    def facts(self) -> dict[str, object]:
        """Return the tool's facts, and as ``timed`` the name of the metric."""
        return {**self.record.facts(), "timed": self.time}


class RowsAndMessages:
    """A worker on web that writes rows to db, and a client that exchanges messages with web; see `ClientWebDb`.

    net: the network.
    directory: the run directory, for logs.
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
