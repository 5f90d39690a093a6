"""Keeps what a delay costs, by program and operation: `make delays`. The documentation's page of that name shows it.

    python docs/delays.py RUNS

Writes docs/delays.json from the newest run in RUNS of each experiment that is named below; those without a run are measured
first.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.judge.records.result import RunData, load
from slownet.theory.handshakes import NGINX_QUIC_WINDOW
from slownet.theory.slow_start import INITIAL_WINDOW, MSS

KEPT = Path(__file__).with_name("delays.json")
SLOWNET = (sys.executable, "-m", "slownet.cli")
FIRST = INITIAL_WINDOW * MSS / 1000
"""kB that a new TCP connection, or one that was idle, sends before it has to wait."""
QUIC = NGINX_QUIC_WINDOW / 1000
HTTP2, SSH = 65.536, 2 * 2**20 / 1000
Cell = Mapping[str, str]
Trips = Callable[[RunData], float]


@dataclass(frozen=True)
class Row:
    """One operation: `experiment` measures it, `trips` reads its round trips from a run; `next_kb` is what one more takes."""

    program: str
    operation: str
    experiment: str
    trips: Trips
    cure: str
    next_kb: float | None = None


def metric(name: str, at: Cell) -> Trips:
    """Round trips that the experiment itself gives."""
    return lambda run: run.at(dict(at)).summary(name).mean


def over(name: str, at: Cell, rtt_ms: float) -> Trips:
    """A time in ms, over a round trip so long that all else is nothing beside it."""
    return lambda run: run.at(dict(at)).summary(name).mean / rtt_ms


def slope(name: str, at: Cell) -> Trips:
    """What a time gains with the delay."""
    return lambda run: run.round_trips(name, at)


def more(name: str, larger: Cell, smaller: Cell, rtt_ms: float) -> Trips:
    """What a time in ms gains from one size to another."""
    return lambda run: (run.at(dict(larger)).summary(name).mean - run.at(dict(smaller)).summary(name).mean) / rtt_ms


def opened(stack: str, next_kb: float, cure: str) -> Row:
    """Return the row of a small page on a new connection."""
    return Row(
        "curl, nginx",
        f"small page, new connection, {stack}",
        "handshakes",
        metric("round_trips", {"stack": stack}),
        cure,
        next_kb,
    )


def asked(program: str, system: str, way: str, operation: str, cure: str) -> Row:
    """Return the row of a way to ask a database."""
    return Row(program, operation, "query_cost", slope(f"{way}_ms", {"system": system}), cure, FIRST)


def paged(protocol: str, cure: str) -> Row:
    """Return the row of a page of many objects."""
    trips = slope("page_ms", {"page": "44 x 7 kB", "protocol": protocol})
    return Row("libcurl, nginx", f"page of 44 objects of 7 kB, {protocol}", "page_of_objects", trips, cure)


def looked_up(client: str, transport: str, operation: str, cure: str, **how: str) -> Row:
    """Return the row of a name's lookup."""
    trips = metric("lookup_round_trips", {"client": client, "transport": transport, **how})
    return Row("unbound", operation, "name_lookup", trips, cure)


def called(size: str, flights: int, cure: str) -> Row:
    """Return the row of a call of gRPC after an idle time; each flight is twice as large as the one before."""
    trips = over("call_ms", {"message": size, "every": "10s", "window": "restarted"}, 220)
    return Row("gRPC", f"call of {size}, after an idle time", "grpc_unary", trips, cure, FIRST * (2**flights - 1))


def pulled(way: str, protocol: str, cure: str) -> Row:
    """Return the row of a pull that finds nothing new."""
    trips = slope("time_ms", {"way": way, "protocol": protocol})
    return Row("git", f"pull of nothing over {way}, protocol {protocol}", "examples/ssh/git_pull.py", trips, cure)


def installed(command: str, way: str, cure: str) -> Row:
    """Return the row of 20 packages of npm."""
    trips = slope("time_ms", {"way": way, "packages": "20"})
    return Row(command, "install 20 small packages", "examples/npm/npm_install.py", trips, cure)


def copied(program: str, name: str, cure: str) -> Row:
    """Return the row of a folder of 50 small files."""
    trips = slope("time_ms", {"program": name, "files": "50", "copy": "first"})
    return Row(program, "copy a folder of 50 small files", "examples/ssh/folder_copy.py", trips, cure)


def fetched(program: str, count: str, cure: str) -> Row:
    """Return the row of a number of packages."""
    trips = slope("time_ms", {"program": program, "packages": count})
    return Row(program, f"fetch {count} small packages", "package_mirror", trips, cure)


KEEP = "keep connections open"
UPLOAD = {"http": "2", "body": "unbuffered", "window": "64k"}
ROWS: Sequence[Row] = (
    opened("TCP", FIRST, KEEP),
    opened("TLS 1.2", FIRST, "TLS 1.3"),
    opened("TLS 1.3", FIRST, "0-RTT, or HTTP/3"),
    opened("TLS 1.3 0-RTT", FIRST, KEEP),
    opened("QUIC", QUIC, "0-RTT"),
    paged("HTTP/1.1 on 6 connections", "HTTP/2"),
    paged("HTTP/2", "fewer and smaller objects"),
    looked_up("program", "UDP", "lookup of a name over UDP", "a cache near by"),
    looked_up("resolver", "TLS", "lookup of a name over TLS, new connection", KEEP),
    looked_up("resolver", "TLS", "lookup of a name over TLS, connection kept", "a cache near by", connection="kept"),
    asked("PostgreSQL, psycopg", "postgresql", "connect", "new connection", "a pool"),
    asked("PostgreSQL, psycopg", "postgresql", "query", "query", "a cache near by"),
    asked("PostgreSQL, psycopg", "postgresql", "transaction", "transaction of two statements", "a pipeline"),
    asked("PostgreSQL, psycopg", "postgresql", "ten_queries", "ten queries in a loop", "a pipeline, or one query"),
    asked("PostgreSQL, psycopg", "postgresql", "ten_queries_in_a_pipeline", "ten queries in a pipeline", "-"),
    asked("MariaDB, PyMySQL", "mariadb", "connect", "new connection", "a pool"),
    asked("MariaDB, PyMySQL", "mariadb", "transaction", "transaction of two statements", "a procedure in the database"),
    asked("Redis, redis-py", "redis", "connect", "new connection", "a pool"),
    asked("Redis, redis-py", "redis", "ten_queries", "ten GETs in a loop", "a pipeline, or MGET"),
    asked("Redis, redis-py", "redis", "ten_queries_in_a_pipeline", "ten GETs in a pipeline", "-"),
    asked("gRPC", "grpc", "connect", "first call on a new channel", "keep the channel"),
    called("10kB", 1, "-"),
    called("30kB", 2, "tcp_slow_start_after_idle=0"),
    called("100kB", 3, "tcp_slow_start_after_idle=0"),
    Row(
        "curl, nginx", "2 MiB more of an upload that nginx passes on, HTTP/2", "http2_window",
        more("time_ms", {"upload": "4MiB", **UPLOAD}, {"upload": "2MiB", **UPLOAD}, 60), "http2_body_preread_size", HTTP2,
    ),
    Row(
        "ssh", "32 MiB more of a copy", "file_copy",
        more("time_ms", {"program": "ssh", "file": "64MiB"}, {"program": "ssh", "file": "32MiB"}, 100),
        "several copies at once", SSH,
    ),
    fetched("apt", "20", "a mirror or a cache near by"),
    fetched("pip", "20", "an index near by, or wheels in a folder"),
    pulled("ssh", "0", "ControlMaster and ControlPersist"),
    pulled("ssh, shared", "0", "-"),
    pulled("https", "2", "-"),
    pulled("git", "2", "SSH with a shared connection"),
    installed("npm install", "flat", "a lock file and npm ci"),
    installed("npm ci", "ci", "a cache near by"),
    copied("rsync over SSH", "rsync, ssh", "ControlMaster and ControlPersist"),
    copied("scp", "scp", "rsync, or tar over ssh"),
)  # fmt: skip


def newest(runs: Path, name: str) -> Path | None:
    """Return the newest complete run of an experiment, if there is one."""
    found = sorted(runs.glob(f"*-{name}"), key=lambda path: path.name)
    return next((path for path in reversed(found) if (path / "report.html").exists()), None)


def measured(runs: Path, name: str) -> Path:
    """Return the newest run of an experiment, which is made if none exists; an example needs its layer."""
    path = Path(name)
    if (found := newest(runs, path.stem)) is None:
        folder = KEPT.parents[1] / path.parent
        if path.suffix:
            subprocess.run([*SLOWNET, "lab", "build"], cwd=folder, check=True)
        command = [*SLOWNET, "run", path.name, "--runs", runs.resolve(), "--labs", "1", "--tdf", "inf"]
        done = subprocess.run(command, cwd=folder, check=False)
        found = newest(runs, path.stem)
        if done.returncode or found is None:
            sys.exit(f"delays: {name} was not measured, or not all of its claims are supported: see above")
    return found


def rows(found: Mapping[str, RunData]) -> list[dict[str, Any]]:
    """Return what is kept of each row."""
    return [
        {
            "program": row.program, "operation": row.operation, "round_trips": round(row.trips(found[row.experiment]), 2),
            "next_kb": row.next_kb and round(row.next_kb, 1), "cure": row.cure, "experiment": row.experiment,
        }
        for row in ROWS
    ]  # fmt: skip


def main(runs: Path) -> None:
    """Write the record."""
    found = {name: load(measured(runs, name)) for name in dict.fromkeys(row.experiment for row in ROWS)}
    record = {"runs": {name: run.directory.name for name, run in found.items()}, "rows": rows(found)}
    KEPT.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
