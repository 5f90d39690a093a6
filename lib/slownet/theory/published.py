"""The numbers of the articles that this project reproduces, from ``data/published.toml``, and others.

Those on protocols are in ``protocols.toml``, those on databases that are far away in ``databases.toml``.

Times are in ms unless the name has another unit. The articles' delay was added once to each round trip: here it is ``rtt_ms``.
The functions named like experiments return what `slownet.hypotheses.experiment.experiment` takes as ``published``: ``{"metric",
"title", "rows": [...]}``, with one row per cell, by its ``rtt_ms`` or its ``cell``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from statistics import linear_regression

from slownet.model.errors import ExperimentError, nearest
from slownet.model.facts import Published
from slownet.model.shapes import Json

Entry = Mapping[str, Json]
"""A table of one of these files; each article has its own."""
METRIC = "time_per_request_ms"
SPDY_DIFFERS = "real pages of 2009 from many servers there, 44 equal objects of one server here, where the CPU is free"


@lru_cache(maxsize=1)
def articles() -> Mapping[str, Entry]:
    """Return all articles of ``published.toml`` by their id."""
    text = resources.files("slownet").joinpath("data").joinpath("published.toml").read_text("utf-8")
    return {each["id"]: each for each in tomllib.loads(text)["article"]}


def article(name: str) -> Entry:
    """Return one article.

    Parameters
    ----------
    name : str
        Its id in ``published.toml``.

    Returns
    -------
    mapping
        Its fields.

    Raises
    ------
    ExperimentError
        No such article; the message suggests the nearest id.
    """
    known = articles()
    if name not in known:
        raise ExperimentError(f"no article '{name}'", "in published.toml", nearest(name, known))
    return known[name]


@dataclass(frozen=True)
class Title:
    """The title of an article.

    Parameters
    ----------
    english : str
        In English.
    original : str
        In the article's own language, if that is another one.
    language : str
        The BCP 47 tag of that language.
    """

    english: str
    original: str = ""
    language: str = ""


def title(name: str) -> Title:
    """Return the title of an article by its id. Raises ExperimentError."""
    source = article(name)
    if "english" not in source:
        return Title(source["title"])
    return Title(source["english"], source["title"], source["language"])


def client_delay() -> Published:
    """Return the times of a WordPress page against the delay between client and web server.

    Returns
    -------
    dict
        ``{"metric", "title", "rows": [{"rtt_ms", "time_per_request_ms", "requests_per_second"}]}``.
    """
    return _series("client_web")


def database_delay() -> Published:
    """Return the times of the same page against the delay between web server and database.

    The article measured the page without delay once for both series, so that row is in both.
    """
    return _series("web_db", baseline="client_web")


def nagle_patterns() -> Published:
    """Return the stall of the one write pattern with a published time; the article calls the others "fine"."""
    source = article("nagle-delayed-ack")
    rows = [{"cell": {"pattern": "write-write-read"}, "exchange_ms": 1000 * source["stall_s"]}]
    return {"metric": "exchange_ms", "title": source["title"], "rows": rows}


def nagle_proxy() -> Published:
    """Return the times in s of a page of 1200 queries, without and with the proxy."""
    source = article("nagle-delayed-ack")
    seconds = source["page_seconds"]
    rows = [{"cell": {"way": way}, "page_s": seconds[name]} for way, name in (("direct", "direct"), ("proxy", "through_proxy"))]
    differs = "PHP and MariaDB took 3 s of CPU for a page there, and the CPU is free here"
    return {"metric": "page_s", "title": source["title"], "rows": rows, "differs": differs}


def crafted_segments() -> Published:
    """Return the same stall as the delay of the ACK that causes it."""
    source = article("nagle-delayed-ack")
    rows = [{"cell": {"listener": "answered"}, "delayed_ack_ms": 1000 * source["stall_s"]}]
    return {"metric": "delayed_ack_ms", "title": source["title"], "rows": rows}


def sync_pipeline() -> Published:
    """Return the title only: the copy of the article has no times per row.

    4 h in two rooms against 15 min in one is a ratio of 16, but the article does not give the round trips.
    """
    source = article("oltp-latency")
    return {"metric": "steady_row_ms", "title": source["title"], "rows": []}


def download() -> Published:
    """Return the rates of a download of 250 MiB in five conditions, in MiB/s (``wget``'s "MB/s"), each with its cell.

    The author used tc on one side only, with its default queue. Two rows are what ``wget`` showed when it was stopped.
    """
    source = article("tc-download")
    rows = [dict(row) | {"mib_per_s": row.get("mbytes_per_s") or row["kbytes_per_s"] / 1024} for row in source["rows"]]
    cells = [_download_cell(row) for row in rows]
    cells[0], cells[-1] = ({"step": step, "rate_up": "1Gbit"} for step in ("before", "removed again"))
    converted = [{"cell": cell, "mib_per_s": row["mib_per_s"]} for cell, row in zip(cells, rows, strict=True)]
    differs = "the CPU of two hosts carried 89 and 171 MiB/s there, for which a link of 1 Gbit/s stands here; the CPU is free"
    return {"metric": "mib_per_s", "title": source["title"], "rows": converted, "differs": differs}


def _download_cell(row: Entry) -> dict[str, str]:
    cell = {"delay_up": f"{row['delay']:g}ms"}
    if row["loss"]:
        return cell | {"loss_up": f"{100 * row['loss']:g}%", "seed": "1"}
    return cell | ({"rate_up": row["rate"]} if row["rate"] else {"queue": "1000 packets"})


def oltp() -> Published:
    """Return sysbench's results without and with delay, each with its cell: the article's threads and base RTT."""
    source = article("oltp-latency")
    rows = [
        {"cell": {"threads": "10", "rtt": f"{source['base_rtt'] + row['delay']:g}ms"}, "delay": float(row["delay"])}
        | {f"{name}_ms": row[name] for name in ("latency_min", "latency_avg", "latency_p95", "latency_max")}
        | {"transactions_per_s": row["tps"], "queries_per_s": row["qps"], "prepare_ms": row["prepare_s"] * 1000}
        for row in source["rows"]
    ]
    return {"metric": "latency_min_ms", "title": source["title"], "rows": rows}


def oltp_round_trips(series: Published) -> float:
    """Compute the round trips per transaction that the article's minimum latencies imply, 19.95, from what `oltp` returned."""
    near, far = series["rows"]
    return float((far["latency_min_ms"] - near["latency_min_ms"]) / (far["delay"] - near["delay"]))


def thought_experiment() -> Entry:
    """Return Gil Tene's stalling server: ``rate``, ``good_seconds``, ``stall_seconds``, ``mean_s``, ``p50_s``..."""
    return dict(article("coordinated-omission")["thought_experiment"])


def stall(cell: Mapping[str, str]) -> Published:
    """Return the thought experiment's mean in s as the published number of the given cell."""
    row = {"cell": dict(cell), "corrected_mean_s": thought_experiment()["mean_s"]}
    return {"metric": "corrected_mean_s", "title": "Gil Tene's thought experiment", "rows": [row]}


def overload() -> Published:
    """Return the latencies in s of an overloaded nginx, and its target over its achieved rate as ``factor``: 2.32."""
    source = article("coordinated-omission")
    named = {
        f"{kind}_{name.replace('.', '_')}_s": seconds
        for kind in ("corrected", "uncorrected")
        for name, seconds in source[f"{kind}_s"].items()
    }
    row = {"cell": {"load": "2.32 times"}, "answered_per_s": source["requests_per_s"], **named}
    factor = source["target_per_s"] / source["requests_per_s"]
    differs = "the load lasted a minute there and half a second here, and the backlog grows with time"
    return {"metric": "corrected_mean_s", "title": source["title"], "rows": [row], "factor": factor, "differs": differs}


def page_of_objects() -> Published:
    """Return the SPDY white paper's times of a page by round trip, each with the cell that is like it."""
    source, page = spdy(), {"page": "44 x 7 kB"}
    http = zip(source["rtt_ms"], source["http_ms"], strict=True)
    ends = zip((source["rtt_ms"][0], source["rtt_ms"][-1]), source["spdy_ms"], strict=True)
    rows = [("HTTP/1.1 on 6 connections", *each) for each in http] + [("HTTP/2", *each) for each in ends]
    cells = [{"cell": {**page, "protocol": name, "rtt": f"{rtt}ms"}, "page_ms": float(time)} for name, rtt, time in rows]
    return {"metric": "page_ms", "title": source["title"], "rows": cells, "differs": SPDY_DIFFERS}


def page_under_loss() -> Published:
    """Return the SPDY white paper's times of a page by loss, each with the cell that is like it."""
    source, rows = spdy(), []
    for name, times in (("HTTP/1.1 on 6 connections", source["http_by_loss_ms"]), ("HTTP/2", source["spdy_by_loss_ms"])):
        for loss, time in zip(source["loss_percent"], times, strict=True):
            lossy = {"loss_up": f"{loss}%", "seed": "1"} if loss else {}
            rows.append({"cell": {"protocol": name, "rtt": "40ms", **lossy}, "page_ms": float(time)})
    return {"metric": "page_ms", "title": source["title"], "rows": rows, "differs": SPDY_DIFFERS}


def loss_tolerance() -> Published:
    """Return the rates by loss of ReBBR, a reproduction of BBR's figure 8, each with the cell that is like it."""
    source, rows = bbr_paper()["reproduction"], []
    for congestion in ("cubic", "bbr"):
        for loss, rate in zip(source["loss_percent"], source[f"{congestion}_mbit_per_s"], strict=True):
            cell = {"congestion": congestion, "send_buffer": "4 MiB", "loss_up": f"{loss:g}%", "seed": "1"}
            rows.append({"cell": cell, "mbit_per_s": float(rate)})
    return {"metric": "mbit_per_s", "title": source["title"], "rows": rows}


def initial_window() -> Published:
    """Return the title only: the paper's tenth is a mean of all of Google's responses, and no cell's."""
    return {"metric": "time_ms", "title": protocols()["initial_window"]["title"], "rows": []}


def initial_window_saves() -> float:
    """Return by which fraction a larger initial window shortened the mean response: 0.1."""
    return float(protocols()["initial_window"]["saved_percent"]) / 100


def http2_window() -> Published:
    """Return the title only: the published comment names the window that was needed, and no rate."""
    return {"metric": "time_ms", "title": protocols()["http2_window"]["title"], "rows": []}


def grpc_unary() -> Published:
    """Return the published times of a call by the size of its message and by how often calls are made."""
    source = protocols()["grpc_unary"]
    found = [
        ("10kB", "10s", source["below_16_kb_ms"]), ("30kB", "10s", source["of_30_kb_ms"]),
        ("100kB", "10s", source["above_100_kb_ms"]), ("30kB", "0.5s", source["twice_a_second_ms"]),
    ]  # fmt: skip
    rows = [
        {"cell": {"message": size, "every": every, "window": "restarted"}, "call_ms": float(time)}
        for size, every, time in found
    ]
    differs = "one call a second there, and what its machines took; here one in 10 s, and the CPU is free"
    return {"metric": "call_ms", "title": source["title"], "rows": rows, "differs": differs}


def file_copy() -> Published:
    """Return the title only: HPN-SSH's README names the path over which a larger window doubles the rate, and no rate."""
    return {"metric": "time_ms", "title": protocols()["file_copy"]["title"], "rows": []}


def satellite_link() -> Published:
    """Return the published rates over Starlink; CUBIC's up is the middle of a range, BBR's are lower limits."""
    source = protocols()["satellite_link"]
    least, most = source["up_cubic_mbit_per_s"]
    found = [
        ("down", "cubic", "0.02%", source["down_cubic_mbit_per_s"]), ("down", "bbr", "0.02%", source["down_bbr_mbit_per_s"]),
        ("up", "cubic", "0.3%", (least + most) / 2), ("up", "bbr", "0.3%", source["up_bbr_mbit_per_s"]),
    ]  # fmt: skip
    rows = [
        {"cell": {"way": way, "congestion": name, "loss": loss}, "mbit_per_s": float(rate)} for way, name, loss, rate in found
    ]
    differs = "other satellites, other rates; the losses between two changes are not known there"
    return {"metric": "mbit_per_s", "title": source["title"], "rows": rows, "differs": differs}


def git_pull() -> Published:
    """Return the least time of a pull over SSH that finds nothing new."""
    source = protocols()["git_pull"]
    cell = {"way": "ssh", "protocol": "0", "rtt": f"{source['rtt_ms']}ms"}
    differs = "an SSH of 2011, a name that was looked up, and a server that did more"
    rows = [{"cell": cell, "time_ms": 1000.0 * source["at_least_s"]}]
    return {"metric": "time_ms", "title": source["title"], "rows": rows, "differs": differs}


def spdy() -> Entry:
    """Return the SPDY white paper's times of a page, from ``protocols.toml``: ``rtt_ms``, ``http_ms``, ``spdy_ms``..."""
    return protocols()["spdy"]


def bbr_paper() -> Entry:
    """Return the limits of loss in BBR's paper, and its reproduction's rates, from ``protocols.toml``: ``reproduction``..."""
    return protocols()["loss_tolerance"]


def database(name: str) -> Published:
    """Return what was published of the question of an experiment on a far database, by the experiment's name.

    Raises ExperimentError if there is nothing of that name.
    """
    known = databases()
    if name not in known:
        raise ExperimentError(f"nothing of '{name}'", "in databases.toml", nearest(name, known))
    source = known[name]
    found: Published = {"metric": source["metric"], "title": source["title"], "rows": source["rows"]}
    return {**found, "differs": source["differs"]} if "differs" in source else found


@lru_cache(maxsize=1)
def protocols() -> Mapping[str, Entry]:
    """Return all entries of ``protocols.toml`` by their names."""
    return _data("protocols.toml")


@lru_cache(maxsize=1)
def databases() -> Mapping[str, Entry]:
    """Return all of ``databases.toml``: by experiment, what was published of its question, with title, author and URL."""
    return _data("databases.toml")


def _data(file: str) -> Mapping[str, Entry]:
    return tomllib.loads(resources.files("slownet").joinpath("data").joinpath(file).read_text("utf-8"))


def spdy_slopes() -> tuple[float, float]:
    """Compute the round trips per page that the white paper's times imply, over HTTP and over SPDY.

    Returns
    -------
    (float, float)
        The slope of the straight line through the times over HTTP (least squares), 17.9, and that between the two known times
        over SPDY, 12.3.
    """
    source = spdy()
    own = linear_regression(source["rtt_ms"], source["http_ms"]).slope
    near, far = source["spdy_ms"]
    return own, (far - near) / (source["rtt_ms"][-1] - source["rtt_ms"][0])


def times(series: Published) -> dict[str, float]:
    """Select an article's times at delays above 0.

    Parameters
    ----------
    series : mapping
        What `client_delay` or `database_delay` returned.

    Returns
    -------
    dict
        Times in ms by delay: ``{"10ms": 51.825, ...}``.
    """
    return {f"{row['rtt_ms']:g}ms": row[METRIC] for row in series["rows"] if row["rtt_ms"]}


def _series(table: str, baseline: str | None = None) -> Published:
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
