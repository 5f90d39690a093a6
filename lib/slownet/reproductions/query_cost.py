"""What a query costs: databases and brokers asked in the ways that their clients offer (`slownet.tools.programs.queries`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, nearest
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, series
from slownet.tools.program import nanoseconds, python, read_json
from slownet.tools.programs.queries import SYSTEMS


@dataclass(frozen=True)
class QueryCost(Metrics):
    """The times of each way of asking.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    system : str
        What was asked: ``postgresql``, ``mariadb``, ``redis`` or ``grpc``.
    times_ms : mapping of str to tuple of float
        Way to its times, in order.
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

    Parameters
    ----------
    host : Host
        The client's host.
    address : str
        The server's IP address.
    system : str
        ``postgresql`` (psycopg 3), ``mariadb`` (PyMySQL), ``redis`` (redis-py) or ``grpc``.
    count : int
        How often in each way.

    Returns
    -------
    QueryCost
        Times in ms.

    Raises
    ------
    ToolError
        The system is unknown, its client is not installed or cannot reach the server, or the output is not understood.
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
