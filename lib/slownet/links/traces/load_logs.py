"""What load tools wrote of latencies: vegeta, k6, oha, wrk, and HdrHistogram's logs of Java programs.

vegeta 12 (`report -type=json`, `encode` as JSON or CSV; ns), k6 (`--summary-export`, `--out json=FILE` or `csv=FILE`; ms), oha
(`--output-format json` or `csv`, `--db-url FILE`; seconds), wrk and wrk2 (text), HdrHistogram's log format 1.3 (compressed
histograms V2, tags; a tag's intervals are merged). Percentiles of requests are nearest ranks; those of a summary are the tool's
own.

A latency is not a round trip of the network: it states no condition.
"""

from __future__ import annotations

import base64
import csv
import math
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from slownet.model.errors import TraceError

PERCENTS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
HOW = "give the tool's whole output"


@dataclass(frozen=True)
class Latencies:
    """Latencies as a tool wrote them, in seconds; None is what it does not state. ``rate``: requests per second."""

    tool: str
    count: int | None
    failed: int | None
    rate: float | None
    least: float | None
    mean: float | None
    most: float | None
    percentiles: Mapping[float, float]
    seconds: float | None = None
    tag: str = ""


def of_requests(tool: str, latencies: Sequence[float], failed: int, seconds: float | None, where: str) -> Latencies:
    """Summarize the latencies of single requests, in seconds. Raises TraceError if none is given."""
    if not latencies:
        raise TraceError("it has no request", where, HOW)
    ordered = sorted(latencies)
    ranks = {each: ordered[max(0, math.ceil(each / 100 * len(ordered)) - 1)] for each in PERCENTS}
    mean = math.fsum(ordered) / len(ordered)
    rate = len(ordered) / seconds if seconds else None
    return Latencies(tool, len(ordered), failed, rate, ordered[0], mean, ordered[-1], ranks, seconds)


def of_json(found: Sequence[Any], where: str) -> Latencies | None:
    """Return the latencies of a tool's JSON: one object or many; None if it is of none of these tools. Raises TraceError."""
    first = found[0] if isinstance(found[0], dict) else {}
    try:
        if {"latencies", "requests", "status_codes"} <= first.keys():
            return _vegeta_report(first)
        if {"latency", "timestamp", "code"} <= first.keys():
            return of_requests("vegeta", *_vegeta_requests(found), where)
        if "summary" in first and "latencyPercentiles" in first:
            return _oha(first)
        if isinstance(first.get("metrics"), dict) and "http_req_duration" in first["metrics"]:
            return _k6_summary(first["metrics"])
        if {"type", "metric"} <= first.keys():
            points = [each["data"]["value"] for each in found if each.get("type") == "Point" and each["metric"] == K6_TIME]
            failed = sum(each["data"]["value"] for each in found if each.get("type") == "Point" and each["metric"] == K6_FAILED)
            return of_requests("k6", [_number(each) / 1e3 for each in points], int(failed), None, where)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise TraceError(f"a field is missing or of another kind ({str(error)[:80]})", where, HOW) from error
    return None


K6_TIME, K6_FAILED = "http_req_duration", "http_req_failed"


def _vegeta_report(found: Mapping[str, Any]) -> Latencies:
    times = {name: _number(value) / 1e9 for name, value in found["latencies"].items()}
    percentiles = {float(name.removesuffix("th")): value for name, value in times.items() if name.endswith("th")}
    count = int(_number(found["requests"]))
    failed = round(count * (1 - _number(found["success"])))
    seconds = _number(found["duration"]) / 1e9
    return Latencies(
        "vegeta", count, failed, _number(found["rate"]), times["min"], times["mean"], times["max"], percentiles, seconds
    )


def _vegeta_requests(found: Sequence[Mapping[str, Any]]) -> tuple[list[float], int, float | None]:
    latencies = [_number(each["latency"]) / 1e9 for each in found]
    return latencies, sum(not 200 <= each["code"] < 400 for each in found), None


def _oha(found: Mapping[str, Any]) -> Latencies:
    summary = found["summary"]
    named = ((name, value) for name, value in found["latencyPercentiles"].items() if value is not None)
    percentiles = {float(name.removeprefix("p")): _number(value) for name, value in named}
    count = sum(found["statusCodeDistribution"].values())
    failed = sum(found["errorDistribution"].values())
    least, mean, most = (_number(summary[name]) for name in ("fastest", "average", "slowest"))
    return Latencies(
        "oha", count, failed, _number(summary["requestsPerSec"]), least, mean, most, percentiles, _number(summary["total"])
    )


def _k6_summary(metrics: Mapping[str, Any]) -> Latencies:
    """Read `--summary-export` (values beside each other) and `handleSummary`'s data (values in a table of their own)."""
    times, requests = ({**each, **each.get("values", {})} for each in (metrics[K6_TIME], metrics.get("http_reqs", {})))
    percentiles = {float(name[2:-1]): _number(value) / 1e3 for name, value in times.items() if name.startswith("p(")}
    percentiles |= {50.0: _number(times["med"]) / 1e3} if "med" in times else {}
    count = int(requests["count"]) if "count" in requests else None
    failed = metrics.get(K6_FAILED, {})
    share = failed.get("values", {}).get("rate", failed.get("value"))
    lost = None if share is None or count is None else round(share * count)
    least, mean, most = (_number(times[name]) / 1e3 for name in ("min", "avg", "max"))
    return Latencies("k6", count, lost, requests.get("rate"), least, mean, most, dict(sorted(percentiles.items())))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{value!r:.40} is not a number")
    return float(value)


_WRK = re.compile(r"\s*(?P<percent>\d{1,3}(?:\.\d+)?)%\s+(?P<time>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m)\s*")
_WRK_COUNT = re.compile(r"\s*(?P<count>\d+) requests in (?P<time>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m|h), .*")
_WRK_RATE = re.compile(r"Requests/sec:\s+(?P<rate>\d+(?:\.\d+)?)")
_WRK_MEAN = re.compile(r"\s*Latency\s+(?P<time>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m)\s.*")
_WRK_ERRORS = re.compile(r"\s*(?:Socket errors: (?P<socket>.*)|Non-2xx or 3xx responses: (?P<status>\d+))")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def is_wrk(first: str) -> bool:
    """Return whether a first line is wrk's."""
    return re.fullmatch(r"Running \d+\S* test @ \S+", first) is not None


def wrk(text: str, where: str = "wrk") -> Latencies:
    """Read the text of wrk or wrk2; the first table of percentiles is taken. Raises TraceError."""
    percentiles: dict[float, float] = {}
    failed = 0
    found: dict[str, re.Match[str]] = {}
    for line in text.splitlines():
        for name, pattern in (("count", _WRK_COUNT), ("rate", _WRK_RATE), ("mean", _WRK_MEAN)):
            if match := pattern.fullmatch(line):
                found.setdefault(name, match)
        if match := _WRK.fullmatch(line):
            percentiles.setdefault(float(match["percent"]), float(match["time"]) * _UNITS[match["unit"]])
        elif match := _WRK_ERRORS.fullmatch(line):
            failed += int(match["status"] or sum(map(int, re.findall(r"\d+", match["socket"] or ""))))
    if missing := [name for name in ("count", "rate", "mean") if name not in found]:
        raise TraceError(f"its {missing[0]} is missing", where, HOW)
    mean, seconds = (float(found[name]["time"]) * _UNITS[found[name]["unit"]] for name in ("mean", "count"))
    count, rate = int(found["count"]["count"]), float(found["rate"]["rate"])
    return Latencies("wrk", count, failed, rate, None, mean, percentiles.get(100.0), percentiles, seconds)


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


def check_no_gob(head: bytes, where: str) -> None:
    """Raise TraceError for what vegeta writes itself, in Go's encoding/gob, which only programs in Go read."""
    if GOB_TYPE in head[:16] and GOB_FIELD in head[:40]:
        raise TraceError("it is in vegeta's own format", where, "turn it into JSON with vegeta encode, and name that")


K6_CSV = ("metric_name", "timestamp", "metric_value")


def is_k6_csv(first: str) -> bool:
    """Return whether a first line has the names of the columns of `k6 run --out csv=FILE`."""
    return tuple(first.split(",")[:3]) == K6_CSV


def k6_csv(text: str, where: str = "k6") -> Latencies:
    """Read the table of `k6 run --out csv=FILE`, a row for each value of a metric. Raises TraceError."""
    values: dict[str, list[float]] = {K6_TIME: [], K6_FAILED: []}
    for row in _rows(text, where):
        if row["metric_name"] in values:
            values[row["metric_name"]].append(_stated(row, "metric_value", where))
    return of_requests("k6", [each / 1e3 for each in values[K6_TIME]], int(sum(values[K6_FAILED])), None, where)


OHA_START, OHA_TOOK = "request-start", "request-duration"


def is_oha_csv(first: str) -> bool:
    """Return whether a first line has the names of the columns of `oha --output-format csv`."""
    return {OHA_START, OHA_TOOK, "status"} <= set(first.split(","))


def oha_csv(text: str, where: str = "oha") -> Latencies:
    """Read the table of `oha --output-format csv`, in seconds; it lacks requests without an answer. Raises TraceError."""
    rows = list(_rows(text, where))
    starts, took = ([_stated(row, name, where) for row in rows] for name in (OHA_START, OHA_TOOK))
    failed = sum(not 200 <= _stated(row, "status", where) < 400 for row in rows)
    return of_requests("oha", took, failed, _span(starts, took), where)


SQLITE = b"SQLite format 3\0"
OHA_TABLE = "SELECT coalesce(start_latency_correction, start), end, status FROM oha"


def oha_database(content: bytes, where: str = "oha") -> Latencies:
    """Read the database of `oha --db-url FILE`: a request begins when it was due, as oha counts it. Raises TraceError."""
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(content)
            rows = connection.execute(OHA_TABLE).fetchall()
        values = [tuple(map(_number, row)) for row in rows]
        starts = [start for start, _, _ in values]
        took = [_number(end - start) for start, end, _ in values]
    except (sqlite3.Error, ValueError, UnicodeDecodeError, OverflowError) as error:
        raise TraceError(f"its database is not oha's ({str(error)[:80]})", where, HOW) from error
    failed = sum(not 200 <= status < 400 for _, _, status in values)
    return of_requests("oha", took, failed, _span(starts, took), where)


def _span(starts: Sequence[float], took: Sequence[float]) -> float | None:
    """Return the seconds from the first request's begin to the last one's end."""
    ends = [start + each for start, each in zip(starts, took, strict=True)]
    return max(ends) - min(starts) if ends else None


def _rows(text: str, where: str) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a table by the names of its columns. Raises TraceError."""
    try:
        yield from csv.DictReader(text.splitlines())
    except csv.Error as error:
        raise TraceError(f"it is not a table ({str(error)[:80]})", where, HOW) from error


def _stated(row: Mapping[str, str], name: str, where: str) -> float:
    """Return a number of a row. Raises TraceError."""
    try:
        return _number(float(row[name]))
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(f"a row has '{str(row.get(name))[:40]}' as its {name}", where, HOW) from error


def is_histogram_log(text: str) -> bool:
    """Return whether a text has the lines of an HdrHistogram log."""
    lines: Iterable[str] = text.splitlines()[:20]
    return any("StartTimestamp" in line and "Interval_Compressed_Histogram" in line for line in lines) or any(
        line.startswith(("#[Histogram log format version", "#[StartTime:", "#[BaseTime:")) for line in lines
    )


_HISTOGRAM_LINE = re.compile(
    r"(?:Tag=(?P<tag>[^,\s]+),)?(?P<start>\d+(?:\.\d+)?),(?P<length>\d+(?:\.\d+)?),(?P<most>\d+(?:\.\d+)?),(?P<packed>[A-Za-z0-9+/=]+)"
)
_NS = 1e9
MOST_OF_A_HISTOGRAM = 16 << 20
"""Bytes of one histogram of a log, unpacked. An hour in ns with five digits has 3 million counts, of a byte or a few each."""
MOST_COUNTS = 1 << 24
"""Counts of all of a log's tags together, of 8 bytes each in memory."""


def histogram_log(text: str, where: str = "log") -> list[Latencies]:
    """Read an HdrHistogram log, whose values are ns: one result for each tag, of all of its intervals. Raises TraceError."""
    from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

    merged: dict[str, Any] = {}
    spans: dict[str, tuple[float, float]] = {}
    counts = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith(("#", '"')):
            continue
        place = f"{where} line {number}"
        found = _HISTOGRAM_LINE.fullmatch(line.strip())
        if not found:
            raise TraceError(f"'{line[:40]}' is not a line of a histogram log", place, HOW)
        _need_small(found["packed"], place)
        try:
            histogram = HdrHistogram.decode(found["packed"])
        except Exception as error:  # hdrh raises several kinds of its own, of base64, zlib and ctypes
            raise TraceError(f"its histogram cannot be read ({type(error).__name__})", place, HOW) from error
        tag, start = found["tag"] or "", float(found["start"])
        span = spans.get(tag, (start, start))
        spans[tag] = min(span[0], start), max(span[1], start + float(found["length"]))
        if tag in merged:
            merged[tag].add(histogram)
        else:
            merged[tag], counts = histogram, counts + histogram.counts_len
            if counts > MOST_COUNTS:
                raise TraceError(
                    f"its histograms have more than {MOST_COUNTS:,} counts", place, "keep fewer tags, or fewer digits"
                )
    if not merged or not all(each.get_total_count() for each in merged.values()):
        raise TraceError("it has no histogram with a value", where, HOW)
    return [_of_histogram(tag, each, spans[tag]) for tag, each in merged.items()]


def _need_small(packed: str, place: str) -> None:
    """Raise TraceError if what a line holds would be unpacked to more than MOST_OF_A_HISTOGRAM."""
    unpacking = zlib.decompressobj()
    with suppress(ValueError, zlib.error):  # its reader says what is wrong with it
        unpacking.decompress(base64.b64decode(packed)[8:], MOST_OF_A_HISTOGRAM)
        if unpacking.unconsumed_tail:
            raise TraceError(f"its histogram has more than {MOST_OF_A_HISTOGRAM >> 20} MiB, unpacked", place, HOW)


def _of_histogram(tag: str, histogram: Any, span: tuple[float, float]) -> Latencies:
    count, seconds = histogram.get_total_count(), span[1] - span[0]
    percentiles = {each: histogram.get_value_at_percentile(each) / _NS for each in PERCENTS}
    least, mean, most = (
        value / _NS for value in (histogram.get_min_value(), histogram.get_mean_value(), histogram.get_max_value())
    )
    return Latencies(
        "HdrHistogram", count, None, count / seconds if seconds else None, least, mean, most, percentiles, seconds, tag
    )
