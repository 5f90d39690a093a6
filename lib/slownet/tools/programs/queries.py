"""Databases and brokers asked in the ways that their clients offer, each way several times.

    python -m slownet.tools.programs.queries ask SYSTEM ADDRESS COUNT
    python -m slownet.tools.programs.queries serve

`ask` prints {"WAY": [nanoseconds, ...], ...}: the times of each way of asking SYSTEM. `serve` is the server of the system
``grpc``. They need python3-psycopg, python3-pymysql, python3-redis and python3-grpcio.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Ways = Mapping[str, Callable[[], object]]

PORT = 50_051
USER = "slownet"
TEN = range(10)
NEVER = 1_000_000
PATIENCE_S = 60
SELECT, UPDATE, INSERT = (
    "SELECT n FROM counted WHERE id = 1",
    "UPDATE counted SET n = n + 1 WHERE id = 1",
    "INSERT INTO listed VALUES (%s, %s)",
)
TABLES = (
    "DROP TABLE IF EXISTS counted, listed",
    "CREATE TABLE counted (id INT PRIMARY KEY, n INT)",
    "CREATE TABLE listed (id INT, n INT)",
    "INSERT INTO counted VALUES (1, 0)",
)


def postgresql(address: str) -> Ways:
    """Return the ways of psycopg 3."""
    import psycopg  # type: ignore[import-not-found]

    def connect() -> Any:
        made = psycopg.connect(host=address, user=USER, password=USER, dbname=USER, autocommit=True)
        made.prepare_threshold = NEVER  # a statement is not prepared by itself because it was executed five times
        return made

    kept = connect()
    for statement in TABLES:
        kept.execute(statement)
    numbers: Iterator[int] = iter(range(10_000))

    def transaction() -> None:
        with kept.transaction():
            kept.execute(SELECT)
            kept.execute(UPDATE)

    def block_in_a_pipeline() -> None:
        with kept.pipeline():
            transaction()

    def in_a_pipeline() -> None:
        with kept.pipeline():
            for statement in ("BEGIN", SELECT, UPDATE, "COMMIT"):
                kept.execute(statement)

    def ten_in_a_pipeline() -> None:
        with kept.pipeline():
            for _ in TEN:
                kept.execute(SELECT)

    def ten_rows() -> None:
        with kept.cursor() as cursor:
            cursor.executemany(INSERT, [(row, row) for row in TEN])

    kept.execute(SELECT, prepare=True)
    return {
        "connect": lambda: connect().close(),
        "query": lambda: kept.execute(SELECT).fetchall(),
        "new_prepared": lambda: kept.execute(f"{SELECT} AND n <> -{next(numbers) + 1}", prepare=True).fetchall(),
        "prepared": lambda: kept.execute(SELECT, prepare=True).fetchall(),
        "transaction": transaction,
        "transaction_in_a_pipeline": in_a_pipeline,
        "transaction_block_in_a_pipeline": block_in_a_pipeline,
        "ten_queries": lambda: [kept.execute(SELECT).fetchall() for _ in TEN],
        "ten_queries_in_a_pipeline": ten_in_a_pipeline,
        "ten_rows": ten_rows,
    }


def mariadb(address: str) -> Ways:
    """Return the ways of PyMySQL."""
    import pymysql  # type: ignore[import-untyped]

    def connect() -> Any:
        return pymysql.connect(host=address, user="wordpress", password="wordpress", database="wordpress", autocommit=True)

    kept = connect()
    cursor = kept.cursor()
    for statement in TABLES:
        cursor.execute(statement)

    def transaction() -> None:
        kept.begin()
        cursor.execute(SELECT)
        cursor.execute(UPDATE)
        kept.commit()

    return {
        "connect": lambda: connect().close(),
        "query": lambda: cursor.execute(SELECT),
        "transaction": transaction,
        "ten_queries": lambda: [cursor.execute(SELECT) for _ in TEN],
        "ten_rows": lambda: cursor.executemany(INSERT, [(row, row) for row in TEN]),
    }


def redis(address: str) -> Ways:
    """Return the ways of redis-py."""
    import redis as client  # type: ignore[import-not-found]

    kept = client.Redis(address)
    kept.set("n", 1)

    def connect() -> None:
        with client.Redis(address) as new:
            new.ping()

    def pipeline(transaction: bool) -> None:
        with kept.pipeline(transaction=transaction) as waiting:
            for _ in TEN:
                waiting.get("n")
            waiting.execute()

    def watched() -> None:
        with kept.pipeline() as waiting:
            waiting.watch("n")
            value = int(waiting.get("n"))
            waiting.multi()
            waiting.set("n", value + 1)
            waiting.execute()

    return {
        "connect": connect,
        "query": lambda: kept.get("n"),
        "transaction": lambda: pipeline(transaction=True),
        "watched_transaction": watched,
        "ten_queries": lambda: [kept.get("n") for _ in TEN],
        "ten_queries_in_a_pipeline": lambda: pipeline(transaction=False),
    }


def grpc(address: str) -> Ways:
    """Return the ways of gRPC's Python client."""
    import grpc as client  # type: ignore[import-untyped]

    def channel() -> Any:
        return client.insecure_channel(f"{address}:{PORT}", options=[("grpc.use_local_subchannel_pool", 1)])

    def connect() -> None:  # its "ready" is looked for five times a second, so a first call tells more
        with channel() as new:
            new.unary_unary(METHOD)(b"x", timeout=PATIENCE_S)

    kept = channel()
    call = kept.unary_unary(METHOD)
    call(b"x", timeout=PATIENCE_S)

    def at_once() -> None:
        # Five, because each call is a segment of its own, and ten at once do not always fit into the initial window of ten
        # segments (RFC 6928) with HTTP/2's own frames: the eleventh waits for a round trip.
        for waiting in [call.future(b"x") for _ in range(5)]:
            waiting.result()

    return {
        "connect": connect,
        "query": lambda: call(b"x"),
        "ten_queries": lambda: [call(b"x") for _ in TEN],
        "five_queries_at_once": at_once,
    }


SYSTEMS: Mapping[str, Callable[[str], Ways]] = {"postgresql": postgresql, "mariadb": mariadb, "redis": redis, "grpc": grpc}
SERVICE, NAME = "slownet.Echo", "Say"
METHOD = f"/{SERVICE}/{NAME}"


def serve() -> None:
    """Answer gRPC calls with their own content, until the program is ended."""
    from concurrent.futures import ThreadPoolExecutor

    import grpc as server

    echo = server.unary_unary_rpc_method_handler(lambda request, context: request)
    made = server.server(ThreadPoolExecutor(len(TEN)))
    made.add_generic_rpc_handlers((server.method_handlers_generic_handler(SERVICE, {NAME: echo}),))
    if not made.add_insecure_port(f"0.0.0.0:{PORT}"):
        sys.exit(f"port {PORT} is taken")
    made.start()
    made.wait_for_termination()


def ask(system: str, address: str, count: str) -> None:
    """Ask in each way, and print the times."""
    times: dict[str, list[int]] = {}
    try:
        for way, does in SYSTEMS[system](address).items():
            times[way] = []
            for _ in range(int(count)):
                began = time.monotonic_ns()
                does()
                times[way].append(time.monotonic_ns() - began)
    except Exception as error:  # four clients have no common class of errors
        sys.exit(f"{system}: {type(error).__name__}: {' '.join(str(error).split())}")
    print(json.dumps(times))


if __name__ == "__main__":
    verbs: dict[str, Callable[..., None]] = {"ask": ask, "serve": serve}
    verbs[sys.argv[1]](*sys.argv[2:])
