"""Rows for a database and messages for a server, without a web site, to compare how a program sends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from slownet.judge.measured import Metrics
from slownet.model.errors import ServiceError, ToolError, nearest
from slownet.net.process import Host, Hosts
from slownet.net.tool import run
from slownet.reproductions.exchange import exchange
from slownet.reproductions.own_server import Peer
from slownet.reproductions.program import python
from slownet.reproductions.programs.row_mover import BATCH as BATCH
from slownet.reproductions.programs.row_mover import TABLE
from slownet.services.composite import Together
from slownet.services.mariadb import MariaDB
from slownet.services.redis import Redis
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.program import nanoseconds, read_json

# A broker and a database on two hosts, a consumer that moves rows from one to the other, and what that costs a row.

WAYS = ("row-by-row", "batches", "pipelined")


@dataclass(frozen=True)
class Pipeline(Metrics):
    """The results of a consumer.

    command: the command.
    raw: its output.
    way: one of `WAYS`.
    each: rows per batch.
    times_ms: time of each batch, in order.
    """

    command: tuple[str, ...]
    raw: str
    way: str
    each: int
    times_ms: tuple[float, ...]

    @property
    def rows(self) -> int:
        """The number of rows moved."""
        return self.each * len(self.times_ms)

    def metrics(self) -> dict[str, Metric]:
        """Return ``row_ms``, ``steady_row_ms`` and ``rows_per_second``.

        ``steady_row_ms`` is over the second half of the batches, when TCP's windows have grown. ``rows_per_second`` follows
        from ``row_ms`` (delta method).
        """
        times = [time / self.each for time in self.times_ms]
        middle, sd = mean(times), sample_sd(times)
        steady = times[len(times) // 2 :]
        metrics = {
            "row_ms": metric(middle, sd, len(times)),
            "steady_row_ms": metric(mean(steady), sample_sd(steady), len(steady)),
        }
        if middle > 0:
            metrics["rows_per_second"] = metric(1000 / middle, 1000 * sd / middle**2, len(times))
        return metrics

    def facts(self) -> dict[str, object]:
        """Return the number of rows."""
        return {"rows": self.rows}


def produce(host: Host, broker: str, rows: int) -> None:
    """Fill the broker's stream with ``rows`` rows. Raises ToolError if the broker does not accept them."""
    command = python("row_mover", "produce", broker, rows)
    done = run(host, command)
    kept = read_json(done.stdout, command, "rows")["rows"]
    if kept != rows:
        fix = "fill the broker before the copy starts"
        raise ToolError(f"the broker has {kept} of {rows} rows", f"host '{host.name}'", fix, raw=done.raw)


def consume(host: Host, broker: str, database: str, way: str, rows: int, *, timeout: float = 3600.0) -> Pipeline:
    """Move rows from the stream into the database.

    host: the consumer's host.
    broker, database: the IP addresses of both servers.
    way: how rows are moved: one of `WAYS`.
    rows: the number of rows.
    timeout: seconds for all rows.
    returns: times in ms.
    Raises ToolError: the way is unknown, the broker or the database is unreachable or closes the connection, or the output is
    not understood.
    """
    if way not in WAYS:
        raise ToolError(f"unknown way '{way}'", fix=nearest(way, WAYS))
    command = python("row_mover", "consume", broker, database, way, rows)
    return parse(run(host, command, timeout=timeout).stdout, command)


def parse(text: str, command: Sequence[str] = ("pipeline",)) -> Pipeline:
    """Parse the consumer's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "way", "each", "times_ns")
    return Pipeline(tuple(command), text, record["way"], record["each"], nanoseconds(record, "times_ns", text, least=1))


CREATE = f"CREATE OR REPLACE TABLE wordpress.{TABLE} (id INT PRIMARY KEY, payload VARCHAR(255) NOT NULL) ENGINE=InnoDB"


class BrokerAndDatabase(Together):
    """Redis on one host and MariaDB on another, with a consumer on a third or on one of the two.

    net: the network.
    directory: the run directory, for logs.
    broker, db, worker: the names of the hosts of Redis, MariaDB and the consumer.
    """

    chance = MariaDB.chance

    def __init__(
        self, net: Hosts, directory: str | Path, broker: str = "broker", db: str = "db", worker: str = "worker1"
    ) -> None:
        self.worker = net[worker]
        self.redis = Redis(net[broker], directory)
        self.mariadb = MariaDB(net[db], directory)
        super().__init__((self.mariadb, self.redis))

    def copy(self, way: str, rows: int) -> Pipeline:
        """Refill the broker, and move all rows into an empty table.

        way: how rows are moved: one of `slownet.reproductions.rows_and_messages.WAYS`.
        rows: the number of rows.
        returns: times in ms.
        Raises ServiceError: rows are missing in the table, or the broker still waits for acknowledgements. Raises ToolError:
        the producer or the consumer failed.
        """
        self.mariadb.query(CREATE)
        broker, database = self.redis.host.IP(), self.mariadb.host.IP()
        produce(self.redis.host, broker, rows)
        record = consume(self.worker, broker, database, way, rows)
        ((written,),) = self.mariadb.query(f"SELECT COUNT(*) FROM wordpress.{TABLE}")
        if int(written) != rows or self.redis.pending() != 0:
            raise ServiceError(f"{written} of {rows} rows arrived, {self.redis.pending()} are not acknowledged", f"way {way}")
        return record


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
