"""Output of vegeta 12: `report -type=json`, and `encode` as JSON or CSV; times in ns."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from slownet.links.traces.latencies import Latencies, Load, number, of_requests, of_table
from slownet.links.traces.trace_format import HOW, BinaryFormat, TextFormat, json_format
from slownet.model.errors import TraceError


def of_report(found: Sequence[Any], where: str = "vegeta") -> Load:
    """Read the JSON of `vegeta report -type=json`."""
    return Load((_vegeta_report(found[0]),))


def of_lines(found: Sequence[Any], where: str = "vegeta") -> Load:
    """Read the JSON of `vegeta encode`, an object for each request."""
    return Load((of_requests("vegeta", *_vegeta_requests(found), where),))


def _vegeta_report(found: Mapping[str, Any]) -> Latencies:
    times = {name: number(value) / 1e9 for name, value in found["latencies"].items()}
    percentiles = {float(name.removesuffix("th")): value for name, value in times.items() if name.endswith("th")}
    count = int(number(found["requests"]))
    failed = round(count * (1 - number(found["success"])))
    seconds = number(found["duration"]) / 1e9
    return Latencies(
        "vegeta", count, failed, number(found["rate"]), times["min"], times["mean"], times["max"], percentiles, seconds
    )


def _vegeta_requests(found: Sequence[Mapping[str, Any]]) -> tuple[list[float], int, float | None]:
    latencies = [number(each["latency"]) / 1e9 for each in found]
    return latencies, sum(not 200 <= each["code"] < 400 for each in found), None


def is_vegeta_csv(first: str) -> bool:
    """Return whether a first line is one of `vegeta encode -to csv`."""
    fields = first.split(",")
    return len(fields) >= 12 and all(re.fullmatch(r"\d{1,20}", each) for each in fields[:5])


def vegeta_csv(text: str, where: str = "vegeta") -> Latencies:
    """Read the table of `vegeta encode -to csv`: time in ns, status, latency in ns, ... Raises TraceError."""
    try:
        rows = [(int(row[1]), int(row[2]) / 1e9) for row in csv.reader(text.splitlines()) if row]
    except (ValueError, IndexError, csv.Error) as error:
        raise TraceError(f"a row is not as vegeta's are ({str(error)[:80]})", where, HOW) from error
    return of_requests("vegeta", [each for _, each in rows], sum(not 200 <= code < 400 for code, _ in rows), None, where)


GOB_TYPE, GOB_FIELD = b"Result", b"Attack"


def is_gob(head: bytes) -> bool:
    """Return whether a file begins like vegeta's own, in Go's encoding/gob."""
    return GOB_TYPE in head[:16] and GOB_FIELD in head[:40]


def refused(file: BinaryIO, path: Path) -> Load:
    """Raise TraceError: only programs in Go read encoding/gob."""
    raise TraceError("it is in vegeta's own format", str(path), "turn it into JSON with vegeta encode, and name that")


FORMATS = (
    BinaryFormat(is_gob, refused),
    json_format(lambda first: {"latencies", "requests", "status_codes"} <= first.keys(), of_report),
    json_format(lambda first: {"latency", "timestamp", "code"} <= first.keys(), of_lines),
    TextFormat(lambda text: is_vegeta_csv(text.first), of_table(vegeta_csv)),
)
