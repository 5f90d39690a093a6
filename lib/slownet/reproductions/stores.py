"""PostgreSQL, MariaDB, Redis and a gRPC server side by side on one host, and what a query costs each of their clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, nearest
from slownet.net.process import Host, Hosts
from slownet.net.tool import run
from slownet.services.composite import Together
from slownet.services.mariadb import MariaDB
from slownet.services.postgresql import PostgreSQL
from slownet.services.readiness import Command
from slownet.services.redis import Redis
from slownet.tools.numbers import Metric, series
from slownet.tools.program import nanoseconds, python, read_json
from slownet.tools.programs.queries import PORT, SYSTEMS


@dataclass(frozen=True)
class QueryCost(Metrics):
    """The times of each way of asking.

    command: the command.
    raw: its output.
    system: what was asked: ``postgresql``, ``mariadb``, ``redis`` or ``grpc``.
    times_ms: way to its times, in order.
    """

    command: tuple[str, ...]
    raw: str
    system: str
    times_ms: Mapping[str, tuple[float, ...]]

    def metrics(self) -> dict[str, Metric]:
        """Return the mean time of each way without its slowest, in ms: ``connect_ms``, ``query_ms``, ``transaction_ms``...

        Without it, because gRPC's server pauses for 200 ms once in a while, whatever it is asked: in a capture, the call
        arrives in time and is answered late, with threads and with asyncio alike.
        """
        return {f"{way}_ms": series(_without_slowest(times)) for way, times in self.times_ms.items()}

    def facts(self) -> dict[str, object]:
        """Return what was asked."""
        return {"system": self.system}


def query_cost(host: Host, address: str, *, system: str, count: int = 5) -> QueryCost:
    """Ask a database or broker from a host, in each way that its Python client offers.

    host: the client's host.
    address: the server's IP address.
    system: ``postgresql`` (psycopg 3), ``mariadb`` (PyMySQL), ``redis`` (redis-py) or ``grpc``.
    count: how often in each way.
    returns: times in ms.
    Raises ToolError: the system is unknown, its client is not installed or cannot reach the server, or the output is not
    understood.
    """
    if system not in SYSTEMS:
        raise ToolError(f"unknown system '{system}'", fix=nearest(system, SYSTEMS))
    command = python("queries", "ask", system, address, count)
    return parse(run(host, command).stdout, command, system)


def parse(text: str, command: Sequence[str] = ("queries",), system: str = "") -> QueryCost:
    """Parse the program's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "connect", "query")
    return QueryCost(tuple(command), text, system, {way: nanoseconds(record, way, text, least=1) for way in record})


def _without_slowest(times: Sequence[float]) -> Sequence[float]:
    """Return times in order without their maximum; a single time as it is."""
    slowest = times.index(max(times))
    return [*times[:slowest], *times[slowest + 1 :]] or times


class Stores(Together):
    """The server for `slownet.reproductions.stores`, on the host ``server``; the host ``client`` asks.

    net: the network.
    directory: the run directory, for logs.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.client, self.server = net["client"], net["server"]
        grpc = Command(self.server, python("queries", "serve"), directory, port=PORT, name="grpc")
        super().__init__(
            (PostgreSQL(self.server, directory), MariaDB(self.server, directory), Redis(self.server, directory), grpc)
        )

    def ask(self, system: str) -> QueryCost:
        """Ask one of them in each way. Raises ToolError."""
        return query_cost(self.client, self.server.IP(), system=system)
