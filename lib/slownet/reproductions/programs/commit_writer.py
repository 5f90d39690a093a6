"""A writer of commits and a watcher of a replica on the same clock: all hosts of a lab share one kernel.

    python -m slownet.reproductions.programs.commit_writer write PRIMARY COMMITS BYTES EVERY_MS
    python -m slownet.reproductions.programs.commit_writer watch SOCKET READY GTID COMMITS

`write` prints {"began_ns": [...], "answered_ns": [...]} of single-row commits, EVERY_MS or more apart. `watch` waits on the
replica for each of the transactions after GTID and prints {"applied_ns": [...]}. Both need python3-pymysql.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TABLE = "replicated"
PATIENCE_S = 600


def connect(**where: Any) -> Any:
    """Connect to MariaDB."""
    import pymysql  # type: ignore[import-untyped]

    return pymysql.connect(database="wordpress", autocommit=True, read_timeout=PATIENCE_S, **where)


def write(address: str, commits: str, size: str, every_ms: str) -> None:
    """Commit rows of `size` bytes at a steady pace; a slow commit delays those after it."""
    cursor = connect(host=address, user="wordpress", password="wordpress").cursor()
    began, answered = [], []
    start = time.monotonic_ns()
    for number in range(int(commits)):
        planned = start + round(number * float(every_ms) * 1e6)
        time.sleep(max(0, planned - time.monotonic_ns()) / 1e9)
        began.append(time.monotonic_ns())
        cursor.execute(f"INSERT INTO {TABLE} (payload) VALUES (%s)", ("x" * int(size),))
        answered.append(time.monotonic_ns())
    print(json.dumps({"began_ns": began, "answered_ns": answered}))


def watch(socket: str, ready: str, gtid: str, commits: str) -> None:
    """Print when each transaction after a position (domain-server-number) was applied here."""
    cursor = connect(unix_socket=socket, user="root").cursor()
    domain, server, number = gtid.split("-")
    Path(ready).touch()
    applied = []
    for following in range(int(number) + 1, int(number) + int(commits) + 1):
        cursor.execute("SELECT MASTER_GTID_WAIT(%s, %s)", (f"{domain}-{server}-{following}", PATIENCE_S))
        if cursor.fetchone() != (0,):
            sys.exit(f"replication: transaction {domain}-{server}-{following} did not come within {PATIENCE_S} s")
        applied.append(time.monotonic_ns())
    print(json.dumps({"applied_ns": applied}))


def main(verb: str, *words: str) -> None:
    """Run `write` or `watch`."""
    import pymysql

    verbs: dict[str, Callable[..., None]] = {"write": write, "watch": watch}
    try:
        verbs[verb](*words)
    except (pymysql.MySQLError, OSError) as error:
        sys.exit(f"replication: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
