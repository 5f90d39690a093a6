"""A consumer on a host that moves rows from a broker's stream into a database (`slownet.reproductions.programs.row_mover`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, nearest
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.reproductions.program import python
from slownet.reproductions.programs.row_mover import BATCH as BATCH
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.program import nanoseconds, read_json

WAYS = ("row-by-row", "batches", "pipelined")


@dataclass(frozen=True)
class Pipeline(Metrics):
    """The results of a consumer.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    way : str
        One of `WAYS`.
    each : int
        Rows per batch.
    times_ms : tuple of float
        Time of each batch, in order.
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
        raise ToolError(f"the broker has {kept} of {rows} rows", f"host '{host.name}'", raw=done.raw)


def consume(host: Host, broker: str, database: str, way: str, rows: int, *, timeout: float = 3600.0) -> Pipeline:
    """Move rows from the stream into the database.

    Parameters
    ----------
    host : Host
        The consumer's host.
    broker, database : str
        The IP addresses of both servers.
    way : str
        How rows are moved: one of `WAYS`.
    rows : int
        The number of rows.
    timeout : float
        Seconds for all rows.

    Returns
    -------
    Pipeline
        Times in ms.

    Raises
    ------
    ToolError
        The way is unknown, the broker or the database is unreachable or closes the connection, or the output is not understood.
    """
    if way not in WAYS:
        raise ToolError(f"unknown way '{way}'", fix=nearest(way, WAYS))
    command = python("row_mover", "consume", broker, database, way, rows)
    return parse(run(host, command, timeout=timeout).stdout, command)


def parse(text: str, command: Sequence[str] = ("pipeline",)) -> Pipeline:
    """Parse the consumer's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "way", "each", "times_ns")
    return Pipeline(tuple(command), text, record["way"], record["each"], nanoseconds(record, "times_ns", text, least=1))
