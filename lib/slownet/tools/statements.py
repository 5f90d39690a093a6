"""A statement that a client executes again and again (`slownet.tools.programs.statement_timer`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slownet.model.errors import ToolError, nearest
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.program import nanoseconds, python, read_json
from slownet.tools.programs.statement_timer import CHECKED, KEPT, NEW, SYSTEMS
from slownet.tools.user_metrics import Numbers

CONNECTIONS = (NEW, KEPT, CHECKED)


def statements(
    host: Host,
    system: str,
    statement: str,
    where: Mapping[str, object],
    *,
    connection: str = KEPT,
    count: int = 10,
    env: Mapping[str, str] | None = None,
) -> Numbers:
    """Execute a statement in a database, each one committed by itself.

    host: the client's host.
    system: ``postgresql`` (psycopg 3) or ``mariadb`` (PyMySQL).
    statement: in SQL.
    where: the client's parameters: ``{"host": "10.0.0.2", "user": "slownet"}``.
    connection: ``kept``: all on one connection; ``new``: each on one of its own, which is then closed; ``checked``: all on one,
        with a ``SELECT 1`` before each.
    count: how often, after a first time that is not recorded.
    env: more environment variables of the client.
    returns: ``statement_ms``, with the connection if that is new.
    Raises ToolError: system or connection are unknown, the client is not installed or is refused, or the output is not
    understood.
    """
    for name, known in ((system, SYSTEMS), (connection, CONNECTIONS)):
        if name not in known:
            raise ToolError(f"unknown '{name}'", "in statements", nearest(name, known))
    command = python(
        "statement_timer", system, connection, count, statement, *(f"{name}={value}" for name, value in where.items())
    )
    return parse(run(host, command, timeout=3600, env=env).stdout, command)


def parse(text: str, command: Sequence[str] = ("statements",)) -> Numbers:
    """Parse the program's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "statement_ns")
    return Numbers({"statement_ms": nanoseconds(record, "statement_ns", text, least=1)}, tuple(command))
