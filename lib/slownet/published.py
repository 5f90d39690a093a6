"""The numbers of the articles that this project reproduces, from ``data/published.toml``.

Times are in ms; a delay was added once to every round trip, so it is ``rtt_ms`` here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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
    rows = [{"pattern": "write-write-read", "exchange_ms": 1000 * source["stall_s"]}]
    return {"metric": "exchange_ms", "title": source["title"], "rows": rows}


def nagle_proxy() -> dict[str, Any]:
    """A page of 1200 queries, past the proxy and through it, in s."""
    source = article("nagle-delayed-ack")
    seconds = source["page_seconds"]
    rows = [{"way": "direct", "page_s": seconds["direct"]}, {"way": "proxy", "page_s": seconds["through_proxy"]}]
    return {"metric": "page_s", "title": source["title"], "rows": rows}


def crafted_segments() -> dict[str, Any]:
    """The same stall, beside the ACK that causes it."""
    source = article("nagle-delayed-ack")
    rows = [{"listener": "answered", "delayed_ack_ms": 1000 * source["stall_s"]}]
    return {"metric": "delayed_ack_ms", "title": source["title"], "rows": rows}


def sync_pipeline() -> dict[str, Any]:
    """The copy of the article has no times of a row: 4 h in two rooms and 15 min in one are a ratio, 16."""
    source = article("oltp-latency")
    return {"metric": "steady_row_ms", "title": source["title"], "rows": []}


def pipeline_ratio() -> float:
    """How many times longer the article's copy took between two rooms."""
    pipeline = article("oltp-latency")["pipeline"]
    return float(pipeline["different_rooms_h"] * 60 / pipeline["same_room_min"])


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
