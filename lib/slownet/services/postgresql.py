"""The database server PostgreSQL, with a cluster of its own."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from pathlib import Path

from slownet.model.errors import ServiceError, ToolError
from slownet.net.output import last_line
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.services import arguments
from slownet.services.https import certificate
from slownet.services.service import Service
from slownet.tools.programs.queries import USER

VERSIONS = Path("/usr/lib/postgresql")
ACCOUNT = "postgres"

HOLES = "wal_init_zero=off"
"""New segments of the log are holes: in a file system in memory, 16 MB of zeros would be 16 MB. initdb notes it for
the server, too."""


class PostgreSQL(Service):
    """A PostgreSQL server, on port 5432 of all addresses of a host.

    It has a user and a database ``slownet``, with the password ``slownet``, which clients prove by SCRAM-SHA-256.

    host: the host that it runs on.
    directory: where its log is written: the run directory.
    options: more settings, such as ``["max_connections=50"]``.
    tls: whether it offers TLS, with a certificate of its own.
    """

    name = "postgresql"
    durable = ("data",)

    def __init__(
        self, host: Host, directory: str | Path | None = None, *, options: Sequence[str] = (), tls: bool = False
    ) -> None:
        super().__init__(host, directory)
        self.options = arguments.words(options, "PostgreSQL", "options", 'options=["max_connections=50"]')
        self.tls = tls

    def _program(self, name: str) -> list[str]:
        """Return the command of a program of the newest version, as its own user: it refuses to run as root."""
        found = sorted(VERSIONS.glob("*/bin"), key=lambda path: float(path.parent.name))
        if not found:
            raise ServiceError("PostgreSQL is not installed", f"host '{self.host.name}'", "apt-get install postgresql")
        account = pwd.getpwnam(ACCOUNT)
        return [
            "setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups", "--", str(found[-1] / name)
        ]  # fmt: skip

    def prepare(self) -> None:
        """Make the cluster, the user and the database, unless a snapshot has them."""
        account = pwd.getpwnam(ACCOUNT)
        os.chown(self.state, account.pw_uid, account.pw_gid)
        if not self.restored:
            self._make(account)
        if self.tls:
            for path in certificate(self.state):
                os.chown(path, account.pw_uid, account.pw_gid)

    def _make(self, account: pwd.struct_passwd) -> None:
        secret = self.state / "password"
        secret.write_text(f"{USER}\n")
        os.chown(secret, account.pw_uid, account.pw_gid)
        run(self.host, [
            *self._program("initdb"), f"--pgdata={self.state}/data", f"--username={USER}", f"--pwfile={secret}",
            "--auth-host=scram-sha-256", "--auth-local=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
            "--no-instructions", *(() if self.disk else ("--set", HOLES)),
        ])  # fmt: skip
        with (self.state / "data" / "pg_hba.conf").open("a") as access:
            access.write("host all,replication all all scram-sha-256\n")

    def command(self) -> Sequence[str]:
        """Return the command line."""
        offered = (f"ssl_cert_file={self.state}/certificate.pem", f"ssl_key_file={self.state}/key.pem", "ssl=on")
        settings = (
            *(offered if self.tls else ()),
            "listen_addresses=*", f"unix_socket_directories={self.state}", f"fsync={'on' if self.disk else 'off'}", "jit=off",
            "shared_buffers=32MB", "max_wal_size=128MB", *self.options,
        )  # fmt: skip
        return [*self._program("postgres"), "-D", f"{self.state}/data", *(word for each in settings for word in ("-c", each))]

    def answers(self) -> bool:
        """Return whether it answers queries; makes the database when it does."""
        asked = self._psql("template1", f"SELECT count(*) FROM pg_database WHERE datname = '{USER}'")
        done = run(self.host, asked, check=False)
        if done.status == 0 and done.stdout.strip() == "0":
            run(self.host, self._psql("template1", f"CREATE DATABASE {USER}"))
        return done.status == 0

    @property
    def login(self) -> dict[str, str]:
        """Libpq's parameters for its database, by its address."""
        return {"host": self.host.IP(), "user": USER, "password": USER, "dbname": USER}

    def query(self, sql: str) -> list[str]:
        """Run a statement through the Unix socket, which uses no link, and return the lines of its rows.

        Raises ToolError if the statement fails.
        """
        done = run(self.host, self._psql(USER, sql), timeout=self.deadline_s, check=False)
        if done.status:  # psql's last line is the marker below the place in the statement
            errors = [line for line in done.raw.splitlines() if "ERROR:" in line or "FATAL:" in line]
            why = errors[0] if errors else last_line(done.raw, f"psql ended with status {done.status}")
            what, fix = f"{self.name} did not do the statement: {why}", f"correct it; the log is {self.log}"
            raise ToolError(what, f"host '{self.host.name}'", fix, raw=done.raw)
        return done.stdout.splitlines()

    def _psql(self, database: str, sql: str) -> list[str]:
        return [*self._program("psql"), "-h", str(self.state), "-U", USER, "-d", database, "-Atqc", sql]
