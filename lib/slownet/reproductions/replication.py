"""MariaDB replication: a primary, its replicas, and which of them must acknowledge a commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slownet.model.errors import ServiceError
from slownet.net.process import Hosts, wait_until
from slownet.reproductions.commit_delay import Commits, commits
from slownet.reproductions.programs.commit_writer import TABLE
from slownet.services.composite import Together
from slownet.services.mariadb import LOOK_S, MariaDB, Replication

ACCOUNT, PASSWORD = "replica", "replica"
CAUGHT_UP_S = 20.0
CREATE = f"CREATE OR REPLACE TABLE wordpress.{TABLE} (id INT AUTO_INCREMENT PRIMARY KEY, payload TEXT NOT NULL)"


class Replicated(Together):
    """A primary on ``net["primary"]`` and replicas on other hosts, which start with the same data.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    replicas : sequence of str
        The names of the replicas' hosts.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path, replicas: Sequence[str] = ("replica1", "replica2")) -> None:
        self.client = net["client"]
        self.primary = MariaDB(net["primary"], directory, replication=Replication(server_id=1))
        hosts = enumerate(map(net.__getitem__, replicas), start=2)
        self.replicas = [MariaDB(host, directory, replication=Replication(server_id=number)) for number, host in hosts]
        super().__init__((self.primary, *self.replicas))

    def acknowledged_by(self, *names: str) -> None:
        """Make commits wait until one of the replicas acknowledges them (semi-synchronous replication).

        Parameters
        ----------
        *names : str
            The hosts of these replicas; without any, commits do not wait (asynchronous replication).

        Raises
        ------
        ServiceError
            A name is unknown, replication does not resume, or the primary counts another number of replicas.
        """
        known = [replica.host.name for replica in self.replicas]
        if unknown := set(names) - set(known):
            raise ServiceError(f"no replica '{min(unknown)}'", fix=f"there are {', '.join(known)}")
        self.primary.set_global("rpl_semi_sync_master_enabled", bool(names))
        for replica in self.replicas:
            # In one go: each query starts a program.
            enabled = f"SET GLOBAL rpl_semi_sync_slave_enabled = {int(replica.host.name in names)}"
            replica.query(f"STOP SLAVE IO_THREAD; {enabled}; START SLAVE IO_THREAD")
        for replica in self.replicas:
            replica.wait_for_replication(CAUGHT_UP_S)
        if not wait_until(lambda: self.primary.status("Rpl_semi_sync_master_clients") == str(len(names)), CAUGHT_UP_S, LOOK_S):
            counted = self.primary.status("Rpl_semi_sync_master_clients")
            raise self.primary.error(f"the primary counts {counted} semi-synchronous replicas instead of {len(names)}")

    def commits(self, *, watched: int = 0, **how: float) -> Commits:
        """Commit rows from the client, and wait for each one on a replica.

        Parameters
        ----------
        watched : int
            The replica, as an index.
        **how : float
            ``count``, ``size`` and ``every_ms`` of `tools.replication.commits`.

        Returns
        -------
        Commits
            Times in ms.

        Raises
        ------
        ServiceError
            Replication is semi-synchronous, and a commit did not wait for its acknowledgement.
        ToolError
            The writer or the watcher failed.
        """
        self.primary.query(CREATE)
        replica = self.replicas[watched]
        position = self.primary.position()
        for each in self.replicas:
            each.wait_for(position, CAUGHT_UP_S)
        alone = int(self.primary.status("Rpl_semi_sync_master_no_tx"))
        record = commits(self.client, self.primary.host.IP(), replica.host, replica.socket, position, **how)  # type: ignore[arg-type]
        alone = int(self.primary.status("Rpl_semi_sync_master_no_tx")) - alone
        if alone and self.primary.query("SELECT @@rpl_semi_sync_master_enabled") == [["1"]]:
            raise self.primary.error(f"{alone} commits were not acknowledged in time by a replica")
        return record

    def _ready(self) -> None:
        self.primary.query(f"CREATE USER {ACCOUNT}@'%' IDENTIFIED BY '{PASSWORD}'")
        self.primary.query(f"GRANT REPLICATION SLAVE ON *.* TO {ACCOUNT}@'%'")
        for replica in self.replicas:
            replica.follow(self.primary, ACCOUNT, PASSWORD)
        for replica in self.replicas:
            replica.wait_for_replication(CAUGHT_UP_S)
