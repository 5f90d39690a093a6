"""Rows from a broker's stream into a database, by a consumer on a host (slownet.programs.pipeline)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slownet.errors import ToolError, nearest
from slownet.measured import Metrics
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.process import Host
from slownet.tools.program import nanoseconds, python, read_json
from slownet.tools.tool import run

WAYS = ("row-by-row", "batches", "pipelined")


@dataclass(frozen=True)
class Pipeline(Metrics):
    """What a consumer did: times in ms, in order, each for ``each`` rows."""

    command: tuple[str, ...]
    raw: str
    way: str
    each: int
    times_ms: tuple[float, ...]

    @property
    def rows(self) -> int:
        """How many rows it moved."""
        return self.each * len(self.times_ms)

    def metrics(self) -> dict[str, Metric]:
        """``row_ms`` a row, over the lots; ``steady_row_ms`` over their second half, when TCP's windows have grown.

        ``rows_per_second`` follows from ``row_ms`` (delta method).
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

    def facts(self) -> dict[str, Any]:
        """What belongs beside the numbers in a record."""
        return {"rows": self.rows}


def produce(host: Host, broker: str, rows: int) -> None:
    """Fills the broker's stream with ``rows`` rows. Raises ToolError when the broker does not take them."""
    command = python("pipeline", "produce", broker, rows)
    done = run(host, command)
    kept = read_json(done.stdout, command, "rows")["rows"]
    if kept != rows:
        raise ToolError(f"the broker keeps {kept} of {rows} rows", f"host '{host.name}'", raw=done.raw)


def consume(host: Host, broker: str, database: str, way: str, rows: int, *, timeout: float = 3600.0) -> Pipeline:
    """Moves rows from the stream into the database in one of the ``WAYS``.

    Raises
    ------
    ToolError
        No such way, the broker or the database is not there or goes away, or the output is not understood.
    """
    if way not in WAYS:
        raise ToolError(f"no way '{way}'", fix=nearest(way, WAYS))
    command = python("pipeline", "consume", broker, database, way, rows)
    return parse(run(host, command, timeout=timeout).stdout, command)


def parse(text: str, command: Sequence[str] = ("pipeline",)) -> Pipeline:
    """Reads what the consumer printed. Raises ToolError with the line that is not understood."""
    record = read_json(text, command, "way", "each", "times_ns")
    return Pipeline(tuple(command), text, record["way"], record["each"], nanoseconds(record, "times_ns", text, least=1))
