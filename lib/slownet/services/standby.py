"""PostgreSQL with a synchronous standby on another host."""

from __future__ import annotations

import os
import pwd
from contextlib import ExitStack
from pathlib import Path

from slownet.net.process import Host, Hosts, wait_until
from slownet.net.tool import run
from slownet.services.composite import InOrder
from slownet.services.postgresql import ACCOUNT, PostgreSQL
from slownet.tools.programs.queries import USER
from slownet.tools.statements import statements
from slownet.tools.user_metrics import Numbers

LOOK_S, STREAMS_S = 0.05, 20.0
CREATE = "CREATE TABLE IF NOT EXISTS written (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload TEXT NOT NULL)"
INSERT = "INSERT INTO written (payload) VALUES ('a row')"


class Standby(PostgreSQL):
    """A server that begins with a copy of a running one, and follows it.

    host: the host that it runs on.
    directory: the run directory, for the log.
    of: the primary.
    """

    def __init__(self, host: Host, directory: str | Path, *, of: PostgreSQL) -> None:
        super().__init__(host, directory)
        self.primary = of

    def prepare(self) -> None:
        """Copy the primary over the network, unless a snapshot has the copy. Raises ToolError."""
        account = pwd.getpwnam(ACCOUNT)
        os.chown(self.state, account.pw_uid, account.pw_gid)
        if self.restored:
            return
        source = f"host={self.primary.host.IP()} user={USER} password={USER}"
        copied = ["--pgdata", f"{self.state}/data", "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        run(self.host, [*self._program("pg_basebackup"), "--dbname", source, *copied])


class SynchronousPair(InOrder):
    """A primary on ``net["primary"]``, its standby on ``net["replica1"]``, and a client on ``net["client"]``.

    net: the network.
    directory: the run directory, for logs.
    """

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.client = net["client"]
        self.primary = PostgreSQL(net["primary"], directory)
        self.standby = Standby(net["replica1"], directory, of=self.primary)

    def _begin(self, stack: ExitStack) -> None:
        stack.enter_context(self.primary)
        self.primary.query(CREATE)
        stack.enter_context(self.standby)
        self._wait_for_each_commit()

    def _wait_for_each_commit(self) -> None:
        """Make the standby synchronous: from now on, commits wait for it. Raises ServiceError."""
        self.primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.query("SELECT pg_reload_conf()")
        state = "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"
        if not wait_until(lambda: self.primary.query(state) == ["sync"], STREAMS_S, LOOK_S):
            raise self.standby.error(f"the standby does not follow after {STREAMS_S:g} s")

    def insert(self, synchronous_commit: str) -> Numbers:
        """Insert ten rows from the client, one after the other, each in a transaction of its own.

        synchronous_commit: what each commit waits for: PostgreSQL's setting.
        returns: ``statement_ms``.
        Raises ToolError: the client is refused.
        """
        where = {**self.primary.login, "options": f"-c synchronous_commit={synchronous_commit}"}
        return statements(self.client, "postgresql", INSERT, where)
