"""Output of oha: `--output-format json` or `csv`, and the database of `--db-url FILE`; times in seconds."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from slownet.links.traces.latencies import Latencies, Load, number, of_requests, of_table, rows, span, stated
from slownet.links.traces.recording_file import bounded
from slownet.links.traces.trace_format import HOW, BinaryFormat, TextFormat, json_format
from slownet.model.errors import TraceError


def of_summary(found: Sequence[Any], where: str = "oha") -> Load:
    """Read the JSON of `oha --output-format json`."""
    return Load((_oha(found[0]),))


def _oha(found: Mapping[str, Any]) -> Latencies:
    summary = found["summary"]
    named = ((name, value) for name, value in found["latencyPercentiles"].items() if value is not None)
    percentiles = {float(name.removeprefix("p")): number(value) for name, value in named}
    count = sum(found["statusCodeDistribution"].values())
    failed = sum(found["errorDistribution"].values())
    least, mean, most = (number(summary[name]) for name in ("fastest", "average", "slowest"))
    return Latencies(
        "oha", count, failed, number(summary["requestsPerSec"]), least, mean, most, percentiles, number(summary["total"])
    )


OHA_START, OHA_TOOK = "request-start", "request-duration"


def is_oha_csv(first: str) -> bool:
    """Return whether a first line has the names of the columns of `oha --output-format csv`."""
    return {OHA_START, OHA_TOOK, "status"} <= set(first.split(","))


def oha_csv(text: str, where: str = "oha") -> Latencies:
    """Read the table of `oha --output-format csv`, in seconds; it lacks requests without an answer. Raises TraceError."""
    requests = list(rows(text, where))
    starts, took = ([stated(row, name, where) for row in requests] for name in (OHA_START, OHA_TOOK))
    failed = sum(not 200 <= stated(row, "status", where) < 400 for row in requests)
    return of_requests("oha", took, failed, span(starts, took), where)


SQLITE = b"SQLite format 3\0"
OHA_TABLE = "SELECT coalesce(start_latency_correction, start), end, status FROM oha"


def oha_database(content: bytes, where: str = "oha") -> Latencies:
    """Read the database of `oha --db-url FILE`: a request begins when it was due, as oha counts it. Raises TraceError."""
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(content)
            found = connection.execute(OHA_TABLE).fetchall()
        values = [tuple(map(number, row)) for row in found]
        starts = [start for start, _, _ in values]
        took = [number(end - start) for start, end, _ in values]
    except (sqlite3.Error, ValueError, UnicodeDecodeError, OverflowError) as error:
        raise TraceError(f"its database is not oha's ({str(error)[:80]})", where, HOW) from error
    failed = sum(not 200 <= status < 400 for _, _, status in values)
    return of_requests("oha", took, failed, span(starts, took), where)


def _database(file: BinaryIO, path: Path) -> Load:
    return Load((oha_database(bounded(file, path), str(path)),))


FORMATS = (
    BinaryFormat(lambda head: head.startswith(SQLITE), _database),
    json_format(lambda first: {"summary", "latencyPercentiles"} <= first.keys(), of_summary),
    TextFormat(lambda text: is_oha_csv(text.first), of_table(oha_csv)),
)
