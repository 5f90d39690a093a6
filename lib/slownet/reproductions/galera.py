"""MariaDB with Galera: a cluster whose members all have a row before its writer has the answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slownet.net.process import Host, Hosts, wait_until
from slownet.services.composite import Together
from slownet.services.mariadb import LOOK_S, MariaDB
from slownet.services.service import Service

PROVIDER = "/usr/lib/galera/libgalera_smm.so"
JOINS_S = 60.0


class Member(MariaDB):
    """A member of a cluster.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path
        The run directory, for the log.
    joins : sequence of str
        The addresses of members that run already; none for the first one.
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
            raise self.error(f"the cluster has no {count} members after {JOINS_S:g} s: {found}")


class Galera(Together):
    """A cluster.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    members : sequence of str
        The names of the members' hosts.
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
