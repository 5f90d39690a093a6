"""Output of k6: `--summary-export`, `--out json=FILE` and `csv=FILE`; times in ms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slownet.links.traces.latencies import Latencies, Load, number, of_requests, of_table, rows, stated
from slownet.links.traces.trace_format import TextFormat, json_format

K6_TIME, K6_FAILED = "http_req_duration", "http_req_failed"


def of_summary(found: Sequence[Any], where: str = "k6") -> Load:
    """Read the JSON of `k6 run --summary-export FILE`."""
    return Load((_k6_summary(found[0]["metrics"]),))


def of_points(found: Sequence[Any], where: str = "k6") -> Load:
    """Read the lines of `k6 run --out json=FILE`, one for each value of a metric. Raises TraceError."""
    points = [each["data"]["value"] for each in found if each.get("type") == "Point" and each["metric"] == K6_TIME]
    failed = sum(each["data"]["value"] for each in found if each.get("type") == "Point" and each["metric"] == K6_FAILED)
    return Load((of_requests("k6", [number(each) / 1e3 for each in points], int(failed), None, where),))


def _k6_summary(metrics: Mapping[str, Any]) -> Latencies:
    """Read `--summary-export` (values beside each other) and `handleSummary`'s data (values in a table of their own)."""
    times, requests = ({**each, **each.get("values", {})} for each in (metrics[K6_TIME], metrics.get("http_reqs", {})))
    percentiles = {float(name[2:-1]): number(value) / 1e3 for name, value in times.items() if name.startswith("p(")}
    percentiles |= {50.0: number(times["med"]) / 1e3} if "med" in times else {}
    count = int(requests["count"]) if "count" in requests else None
    failed = metrics.get(K6_FAILED, {})
    share = failed.get("values", {}).get("rate", failed.get("value"))
    lost = None if share is None or count is None else round(share * count)
    least, mean, most = (number(times[name]) / 1e3 for name in ("min", "avg", "max"))
    return Latencies("k6", count, lost, requests.get("rate"), least, mean, most, dict(sorted(percentiles.items())))


K6_CSV = ("metric_name", "timestamp", "metric_value")


def is_k6_csv(first: str) -> bool:
    """Return whether a first line has the names of the columns of `k6 run --out csv=FILE`."""
    return tuple(first.split(",")[:3]) == K6_CSV


def k6_csv(text: str, where: str = "k6") -> Latencies:
    """Read the table of `k6 run --out csv=FILE`, a row for each value of a metric. Raises TraceError."""
    values: dict[str, list[float]] = {K6_TIME: [], K6_FAILED: []}
    for row in rows(text, where):
        if row["metric_name"] in values:
            values[row["metric_name"]].append(stated(row, "metric_value", where))
    return of_requests("k6", [each / 1e3 for each in values[K6_TIME]], int(sum(values[K6_FAILED])), None, where)


def _has_summary(first: Mapping[str, Any]) -> bool:
    return isinstance(first.get("metrics"), dict) and K6_TIME in first["metrics"]


FORMATS = (
    json_format(_has_summary, of_summary),
    json_format(lambda first: {"type", "metric"} <= first.keys(), of_points),
    TextFormat(lambda text: is_k6_csv(text.first), of_table(k6_csv)),
)
