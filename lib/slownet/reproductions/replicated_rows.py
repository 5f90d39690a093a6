"""Rows that MariaDB keeps on several hosts: by replication, or in a cluster of Galera."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from slownet.net.process import Host, Hosts, wait_until
from slownet.reproductions.replication import Replicated
from slownet.services.composite import OnDemand, Together
from slownet.services.mariadb import LOOK_S, MariaDB
from slownet.services.service import Service
from slownet.tools.statements import statements
from slownet.tools.user_metrics import Numbers

CREATE = "CREATE TABLE wordpress.kept (id INT AUTO_INCREMENT PRIMARY KEY, payload VARCHAR(255) NOT NULL)"
INSERT = "INSERT INTO kept (payload) VALUES ('a row')"
LOGIN = {"user": "wordpress", "password": "wordpress", "database": "wordpress"}
GALERA, SEMI, NONE = "Galera", "semi-synchronous", "asynchronous"


class ReplicatedRows(OnDemand):
    """For each cell, servers on ``net["primary"]``, ``net["replica1"]`` and ``net["replica2"]``.

    net: the network.
    directory: the run directory, for logs.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        super().__init__(net, directory, server="primary")
        self.net = net

    @contextmanager
    def kept(self, by: str) -> Iterator[None]:
        """Run the servers, with an empty table, for a ``with`` block.

        by: `NONE` or `SEMI`, replication to replica1 and replica2 of which none or either acknowledges a commit, or `GALERA`.
        Raises ServiceError: a server does not start, or does not join the others.
        """
        with ExitStack() as stack:
            if by == GALERA:
                first: MariaDB = stack.enter_context(Galera(self.net, self.directory)).members[0]
            else:
                pair = stack.enter_context(Replicated(self.net, self.directory))
                pair.acknowledged_by(*(("replica1", "replica2") if by == SEMI else ()))
                first = pair.primary
            first.query(CREATE)
            yield

    def insert(self) -> Numbers:
        """Insert ten rows from the first server's own host, one by one, and return ``statement_ms``. Raises ToolError."""
        return statements(self.host, "mariadb", INSERT, {"host": self.host.IP(), **LOGIN})


# MariaDB with Galera: a cluster whose members all have a row before its writer has the answer.

PROVIDER = "/usr/lib/galera/libgalera_smm.so"
JOINS_S = 60.0


class Member(MariaDB):
    """A member of a cluster.

    host: the host that it runs on.
    directory: the run directory, for the log.
    joins: the addresses of members that run already; none for the first one.
    """

    def __init__(self, host: Host, directory: str | Path, *, joins: Sequence[str] = ()) -> None:
        cluster = (
            "--wsrep-on=1", f"--wsrep-provider={PROVIDER}", f"--wsrep-cluster-address=gcomm://{','.join(joins)}",
            f"--wsrep-node-address={host.IP()}", f"--wsrep-node-name={host.name}",
            "--wsrep-provider-options=gcache.size=8M", "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
        )  # fmt: skip
        super().__init__(host, directory, options=cluster)

    def wait_for_members(self, count: int) -> None:
        """Wait until it has so many members, and takes statements. Raises ServiceError."""
        wanted = {"wsrep_cluster_size": str(count), "wsrep_local_state_comment": "Synced", "wsrep_ready": "ON"}

        def joined() -> bool:
            return all(self.status(name) == value for name, value in wanted.items())

        if not wait_until(joined, JOINS_S, LOOK_S):
            found = ", ".join(f"{name} {self.status(name)}" for name in wanted)
            raise self.error(f"the cluster does not have {count} members after {JOINS_S:g} s: {found}")


class Galera(Together):
    """A cluster.

    net: the network.
    directory: the run directory, for logs.
    members: the names of the members' hosts.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path, members: Sequence[str] = ("primary", "replica1", "replica2")) -> None:
        hosts = [net[name] for name in members]
        self.members = [Member(host, directory, joins=[each.IP() for each in hosts[:at]]) for at, host in enumerate(hosts)]
        super().__init__(self.members)

    def _launch(self, server: Service) -> None:
        """Start a member, and wait until it has joined those before it."""
        super()._launch(server)
        server.wait()
        number = list(self.servers).index(server)
        self.members[number].wait_for_members(number + 1)

    def _ready(self) -> None:
        for each in self.members:
            each.wait_for_members(len(self.members))
