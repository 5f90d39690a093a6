"""A statement executed again and again, each time on a connection that is opened, kept, or kept and checked before.

    python -m slownet.tools.programs.statement_timer SYSTEM CONNECTION COUNT STATEMENT NAME=VALUE...

SYSTEM is ``postgresql`` (python3-psycopg, with libpq's parameters as NAME=VALUE) or ``mariadb`` (python3-pymysql, likewise).
Prints {"statement_ns": [...]}, without a first execution, which is not recorded.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

NEW, KEPT, CHECKED = "new", "kept", "checked"
CHECK = "SELECT 1"
"""Statements that pools send before they lend a connection: SQLAlchemy's pool_pre_ping, HikariCP's connectionTestQuery."""


def postgresql(where: Mapping[str, str]) -> Any:
    """Connect to PostgreSQL."""
    import psycopg  # type: ignore[import-not-found]

    made = psycopg.connect(**where, autocommit=True)
    made.prepare_threshold = None  # a statement is not prepared by itself because it was executed five times
    return made


def mariadb(where: Mapping[str, str]) -> Any:
    """Connect to MariaDB."""
    import pymysql  # type: ignore[import-untyped]

    return pymysql.connect(**where, autocommit=True)


SYSTEMS: Mapping[str, Callable[[Mapping[str, str]], Any]] = {"postgresql": postgresql, "mariadb": mariadb}


def execute(connection: Any, statement: str) -> None:
    """Execute a statement, and fetch what it returns."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        if cursor.description:
            cursor.fetchall()


def main(system: str, connection: str, count: str, statement: str, *where: str) -> None:
    """Execute a statement, and print the times."""
    options = dict(word.split("=", 1) for word in where)
    times = []
    try:
        kept = None if connection == NEW else SYSTEMS[system](options)
        for _ in range(int(count) + 1):
            began = time.monotonic_ns()
            used = kept or SYSTEMS[system](options)
            if connection == CHECKED:
                execute(used, CHECK)
            execute(used, statement)
            if not kept:
                used.close()
            times.append(time.monotonic_ns() - began)
    except Exception as error:  # two clients have no common class of errors
        sys.exit(f"{system}: {type(error).__name__}: {' '.join(str(error).split())}")
    print(json.dumps({"statement_ns": times[1:]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
