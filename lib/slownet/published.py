"""The numbers of the articles that this project reproduces, from ``data/published.toml``.

Times are in ms; a delay was added once to every round trip, so it is ``rtt_ms`` here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from slownet.errors import ExperimentError, nearest

METRIC = "time_per_request_ms"


@lru_cache(maxsize=1)
def articles() -> Mapping[str, Mapping[str, Any]]:
    """All articles by their id."""
    text = resources.files("slownet").joinpath("data").joinpath("published.toml").read_text("utf-8")
    return {each["id"]: each for each in tomllib.loads(text)["article"]}


def article(name: str) -> Mapping[str, Any]:
    """One article by its id. Raises ExperimentError with the nearest name."""
    known = articles()
    if name not in known:
        raise ExperimentError(f"no article '{name}'", "in published.toml", nearest(name, known))
    return known[name]


@dataclass(frozen=True)
class Title:
    """An article's title in English; and as it was written, where that was in another ``language`` (of BCP 47)."""

    english: str
    original: str = ""
    language: str = ""


def title(name: str) -> Title:
    """The title of an article by its id. Raises ExperimentError."""
    source = article(name)
    if "english" not in source:
        return Title(source["title"])
    return Title(source["english"], source["title"], source["language"])


def client_delay() -> dict[str, Any]:
    """A WordPress page against delay between client and web, as a report takes it:
    ``{"metric", "title", "rows": [{"rtt_ms", "time_per_request_ms", "requests_per_second"}]}``."""
    return _series("client_web")


def database_delay() -> dict[str, Any]:
    """The same page against delay between web and database.

    The article measured the page without delay once, for both, so that row is here too.
    """
    return _series("web_db", baseline="client_web")


def nagle_patterns() -> dict[str, Any]:
    """The stall of the pattern that the article timed; of the others it says "fine" without a number."""
    source = article("nagle-delayed-ack")
    rows = [{"cell": {"pattern": "write-write-read"}, "exchange_ms": 1000 * source["stall_s"]}]
    return {"metric": "exchange_ms", "title": source["title"], "rows": rows}


def nagle_proxy() -> dict[str, Any]:
    """A page of 1200 queries, past the proxy and through it, in s."""
    source = article("nagle-delayed-ack")
    seconds = source["page_seconds"]
    rows = [{"cell": {"way": way}, "page_s": seconds[name]} for way, name in (("direct", "direct"), ("proxy", "through_proxy"))]
    return {"metric": "page_s", "title": source["title"], "rows": rows}


def crafted_segments() -> dict[str, Any]:
    """The same stall, beside the ACK that causes it."""
    source = article("nagle-delayed-ack")
    rows = [{"cell": {"listener": "answered"}, "delayed_ack_ms": 1000 * source["stall_s"]}]
    return {"metric": "delayed_ack_ms", "title": source["title"], "rows": rows}


def sync_pipeline() -> dict[str, Any]:
    """The copy of the article has no times of a row: 4 h in two rooms and 15 min in one are a ratio, 16, of round trips that
    it does not say."""
    source = article("oltp-latency")
    return {"metric": "steady_row_ms", "title": source["title"], "rows": []}


def download() -> dict[str, Any]:
    """A file of 250 MiB over links in five conditions, in MiB/s (``wget``'s "MB/s"), each with the cell that it speaks of.

    The author's tc stood on one side, with its default queue. Two rows are what ``wget`` showed when it was stopped.
    """
    source = article("tc-download")
    rows = [dict(row) | {"mib_per_s": row.get("mbytes_per_s") or row["kbytes_per_s"] / 1024} for row in source["rows"]]
    cells = [_download_cell(row) for row in rows]
    cells[0], cells[-1] = ({"step": step, "rate_up": "1Gbit"} for step in ("before", "removed again"))
    converted = [{"cell": cell, "mib_per_s": row["mib_per_s"]} for cell, row in zip(cells, rows, strict=True)]
    return {"metric": "mib_per_s", "title": source["title"], "rows": converted}


def _download_cell(row: Mapping[str, Any]) -> dict[str, str]:
    cell = {"delay_up": f"{row['delay']:g}ms"}
    if row["loss"]:
        return cell | {"loss_up": f"{100 * row['loss']:g}%", "seed": "1"}
    return cell | ({"rate_up": row["rate"]} if row["rate"] else {"queue": "1000 packets"})


def oltp() -> dict[str, Any]:
    """sysbench's transactions near and far, each with the cell that it speaks of: the article's threads and base RTT."""
    source = article("oltp-latency")
    rows = [
        {"cell": {"threads": "10", "rtt": f"{source['base_rtt'] + row['delay']:g}ms"}, "delay": float(row["delay"])}
        | {f"{name}_ms": row[name] for name in ("latency_min", "latency_avg", "latency_p95", "latency_max")}
        | {"transactions_per_s": row["tps"], "queries_per_s": row["qps"], "prepare_ms": row["prepare_s"] * 1000}
        for row in source["rows"]
    ]
    return {"metric": "latency_min_ms", "title": source["title"], "rows": rows}


def oltp_round_trips(series: Mapping[str, Any]) -> float:
    """The round trips that the article's least times imply: 19.95 a transaction."""
    near, far = series["rows"]
    return float((far["latency_min_ms"] - near["latency_min_ms"]) / (far["delay"] - near["delay"]))


def thought_experiment() -> Mapping[str, Any]:
    """Gil Tene's server that stalls: ``rate``, ``good_seconds``, ``stall_seconds``, ``mean_s``, ``p50_s``..."""
    return dict(article("coordinated-omission")["thought_experiment"])


def stall(cell: Mapping[str, str]) -> dict[str, Any]:
    """The thought experiment as a report takes it, for the cell that does it."""
    row = {"cell": dict(cell), "corrected_mean_s": thought_experiment()["mean_s"]}
    return {"metric": "corrected_mean_s", "title": "Gil Tene's thought experiment", "rows": [row]}


def overload() -> dict[str, Any]:
    """nginx under more load than it manages: ``factor`` is the article's target over what was managed, 2.32."""
    source = article("coordinated-omission")
    named = {
        f"{kind}_{name.replace('.', '_')}_s": seconds
        for kind in ("corrected", "uncorrected")
        for name, seconds in source[f"{kind}_s"].items()
    }
    row = {"cell": {"load": "2.32 times"}, "answered_per_s": source["requests_per_s"], **named}
    factor = source["target_per_s"] / source["requests_per_s"]
    return {"metric": "corrected_mean_s", "title": source["title"], "rows": [row], "factor": factor}


def times(series: Mapping[str, Any]) -> dict[str, float]:
    """``{"10ms": 51.825, ...}``: the article's times in ms at its delays, without the undelayed one."""
    return {f"{row['rtt_ms']:g}ms": row[METRIC] for row in series["rows"] if row["rtt_ms"]}


def _series(table: str, baseline: str | None = None) -> dict[str, Any]:
    source = article("wordpress-latency")
    rows = list(source[table])
    if baseline is not None:
        rows = [row for row in source[baseline] if row["delay"] == 0] + rows
    converted = [
        {
            "rtt_ms": float(row["delay"]),
            METRIC: row["time_per_request"],
            "requests_per_second": row["requests_per_s"],
        }
        for row in rows
    ]
    return {"metric": METRIC, "title": source["title"], "rows": converted}
