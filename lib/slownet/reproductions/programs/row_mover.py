"""A producer and a consumer of a broker: rows go through a Redis stream into a MariaDB table.

    python -m slownet.reproductions.programs.row_mover produce BROKER ROWS
    python -m slownet.reproductions.programs.row_mover consume BROKER DATABASE WAY ROWS

`consume` prints {"way", "each", "times_ns": [...]}: every time is for `each` rows, read from the broker, written to the
database and acknowledged. It needs python3-redis and python3-pymysql.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

STREAM, GROUP, CONSUMER = "rows", "writers", "worker"
TABLE = "copied"
BATCH = 100
PAYLOAD = "x" * 80
INSERT = f"INSERT INTO {TABLE} (id, payload) VALUES (%s, %s)"
PATIENCE_S = 60


def broker(address: str) -> Any:
    """Connect to Redis."""
    import redis  # type: ignore[import-not-found]

    return redis.Redis(address, socket_timeout=PATIENCE_S, decode_responses=True)


def database(address: str) -> Any:
    """Connect to MariaDB."""
    import pymysql  # type: ignore[import-untyped]

    login = {"user": "wordpress", "password": "wordpress", "database": "wordpress"}
    return pymysql.connect(host=address, **login, autocommit=True, read_timeout=PATIENCE_S, write_timeout=PATIENCE_S)


def produce(address: str, rows: str) -> None:
    """Replace the stream's content, and make the consumers' group."""
    stream = broker(address)
    stream.delete(STREAM)
    stream.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    with stream.pipeline(transaction=False) as sending:
        for number in range(int(rows)):
            sending.xadd(STREAM, {"id": number, "payload": PAYLOAD})
        sending.execute()
    print(json.dumps({"rows": stream.xlen(STREAM)}))


class Consumer:
    """Reads, writes and acknowledges in one of three ways; each method moves one lot and returns its number of rows."""

    def __init__(self, broker_address: str, database_address: str) -> None:
        self.stream, self.database = broker(broker_address), database(database_address)
        self.cursor = self.database.cursor()
        self.read_ahead: list[Any] | None = None
        self.ways: dict[str, tuple[int, Callable[[], int]]] = {
            "row-by-row": (1, self.row),
            "batches": (BATCH, self.batch),
            "pipelined": (BATCH, self.pipelined),
        }

    def read(self, count: int) -> list[Any]:
        """Return the next entries, (id, fields), at most `count`."""
        found = self.stream.xreadgroup(GROUP, CONSUMER, {STREAM: ">"}, count=count)
        return list(found[0][1]) if found else []

    def row(self) -> int:
        """Move a row in three round trips: read, INSERT (committed by itself), acknowledge."""
        entries = self.read(1)
        for entry, fields in entries:
            self.cursor.execute(INSERT, (fields["id"], fields["payload"]))
            self.stream.xack(STREAM, GROUP, entry)
        return len(entries)

    def batch(self) -> int:
        """Move a hundred rows in three round trips, with one INSERT."""
        entries = self.read(BATCH)
        if entries:
            self.cursor.executemany(INSERT, [(fields["id"], fields["payload"]) for _, fields in entries])
            self.stream.xack(STREAM, GROUP, *(entry for entry, _ in entries))
        return len(entries)

    def pipelined(self) -> int:
        """Move a hundred rows in two round trips, each row with its own INSERT, without waiting for single answers.

        The acknowledgement of one lot is sent together with the request for the next.
        """
        entries = self.read(BATCH) if self.read_ahead is None else self.read_ahead
        if entries:
            _send_all(self.database, [self.cursor.mogrify(INSERT, (f["id"], f["payload"])) for _, f in entries])
            with self.stream.pipeline(transaction=False) as sending:
                sending.xack(STREAM, GROUP, *(entry for entry, _ in entries))
                sending.xreadgroup(GROUP, CONSUMER, {STREAM: ">"}, count=BATCH)
                _, found = sending.execute()
            self.read_ahead = list(found[0][1]) if found else []
        return len(entries)


def _send_all(connection: Any, statements: list[str]) -> None:
    """Send all statements, then read their answers. MariaDB allows it; PyMySQL has no public method for it."""
    from pymysql.constants import COMMAND  # type: ignore[import-untyped]

    for statement in statements:
        connection._execute_command(COMMAND.COM_QUERY, statement)
    for _ in statements:
        connection._next_seq_id = 1  # the packets of each answer are numbered from its own statement
        connection._read_query_result()


def consume(broker_address: str, database_address: str, way: str, rows: str) -> None:
    """Move `rows` rows and print how long each lot took."""
    consumer = Consumer(broker_address, database_address)
    each, move = consumer.ways[way]
    times: list[int] = []
    moved = 0
    while moved < int(rows):
        began = time.monotonic_ns()
        lot = move()
        times.append(time.monotonic_ns() - began)
        if lot != each:
            sys.exit(f"pipeline: the broker gave {lot} rows instead of {each} after {moved} of {rows}")
        moved += lot
    print(json.dumps({"way": way, "each": each, "times_ns": times}))


def main(verb: str, *words: str) -> None:
    """Run `produce` or `consume`."""
    import pymysql
    import redis

    verbs: dict[str, Callable[..., None]] = {"produce": produce, "consume": consume}
    try:
        verbs[verb](*words)
    except (redis.RedisError, pymysql.MySQLError, OSError) as error:
        sys.exit(f"pipeline: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
