"""Rows that MariaDB keeps on several hosts: by replication, or in a cluster of Galera."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from slownet.net.process import Hosts
from slownet.reproductions.galera import Galera
from slownet.reproductions.replication import Replicated
from slownet.services.mariadb import MariaDB
from slownet.services.on_demand import OnDemand
from slownet.tools.statements import statements
from slownet.tools.user_metrics import Numbers

CREATE = "CREATE TABLE wordpress.kept (id INT AUTO_INCREMENT PRIMARY KEY, payload VARCHAR(255) NOT NULL)"
INSERT = "INSERT INTO kept (payload) VALUES ('a row')"
LOGIN = {"user": "wordpress", "password": "wordpress", "database": "wordpress"}
GALERA, SEMI, NONE = "Galera", "semi-synchronous", "asynchronous"


class KeptRows(OnDemand):
    """For each cell, servers on ``net["primary"]``, ``net["replica1"]`` and ``net["replica2"]``.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        super().__init__(net, directory, server="primary")
        self.net = net

    @contextmanager
    def kept(self, by: str) -> Iterator[None]:
        """Run the servers, with an empty table, for a ``with`` block.

        Parameters
        ----------
        by : str
            `NONE` or `SEMI`, replication to replica1 and replica2 of which none or either acknowledges a commit, or `GALERA`.

        Raises
        ------
        ServiceError
            A server does not start, or does not join the others.
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
