"""The servers of entries: slownet's own services, and programs of a few lines of shell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slownet.net.process import Host
from slownet.net.tool import run
from slownet.services.mariadb import MariaDB
from slownet.services.memcached import Memcached
from slownet.services.postgresql import PostgreSQL
from slownet.services.readiness import Command
from slownet.services.redis import Redis
from slownet.services.service import Service
from slownet.services.sshd import Sshd


class Scripted(Command):
    """A server that is a shell command, prepared by another one. Both find ``$STATE``, ``$PACKAGES`` and ``$PROGRAM``."""

    def __init__(self, host: Host, server: Mapping[str, Any], directory: Path) -> None:
        super().__init__(host, ["sh", "-ec", server["run"]], directory, port=server["port"], name=server["name"])
        self.before, self.packages, self.program = server["prepare"], server["packages"], server["program"]

    def prepare(self) -> None:
        """Run the first command. Raises ToolError."""
        if self.program:
            (self.state / "program").write_text(f"#!/bin/sh\nexec {self.program}\n")
            (self.state / "program").chmod(0o755)
        if self.before:
            run(self.host, ["sh", "-ec", self.before], env=self.environment())

    def environment(self) -> Mapping[str, str]:
        """Return the variables of both."""
        return {"STATE": str(self.state), "SERVER": self.host.IP(), "PACKAGES": self.packages} | (
            {"PROGRAM": str(self.state / "program")} if self.program else {}
        )


def _of_ssh(host: Host, directory: Path, options: Sequence[str]) -> Service:
    return Sshd(host, directory)


SERVICES: Mapping[str, Callable[[Host, Path, Sequence[str]], Service]] = {
    "redis": lambda host, directory, options: Redis(host, directory, options=options),
    "mariadb": lambda host, directory, options: MariaDB(host, directory, options=options),
    "postgresql": lambda host, directory, options: PostgreSQL(host, directory, options=options),
    "postgresql-tls": lambda host, directory, options: PostgreSQL(host, directory, options=options, tls=True),
    "memcached": lambda host, directory, options: Memcached(host, directory),
    "sshd": _of_ssh,
}
"""slownet's own services that an entry's server may be."""


@contextmanager
def serving(host: Host, server: Mapping[str, Any], directory: Path) -> Iterator[tuple[dict[str, str], Service]]:
    """Start a server and yield the variables of its clients, and the server. Raises ServiceError, ToolError."""
    if server["service"]:
        service = SERVICES[server["service"]](host, directory, server["options"])
    else:
        service = Scripted(host, server, directory)
    with service:
        if server["service"] == "mariadb":
            _account(service)
        if isinstance(service, Sshd):
            server = {**server, "env": {**server["env"], "SSH": " ".join(service.options)}}
        time.sleep(server["settles"])
        yield {**server["env"], "SERVER": host.IP(), "STATE": str(service.state)}, service


def _account(service: Service) -> None:
    """Make the account and the database that clients use, as the PostgreSQL service does by itself."""
    assert isinstance(service, MariaDB)
    for statement in (
        "CREATE DATABASE IF NOT EXISTS slownet",
        "CREATE OR REPLACE USER slownet@'%' IDENTIFIED BY 'slownet'",
        "GRANT ALL ON slownet.* TO slownet@'%'",
    ):
        service.query(statement)
