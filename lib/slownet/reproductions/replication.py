"""MariaDB replication: a primary, its replicas, which must acknowledge a commit, and when a replica has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.model.errors import ServiceError, ToolError
from slownet.net.process import Host, Hosts, wait_until
from slownet.net.tool import run, running
from slownet.reproductions.program import python
from slownet.reproductions.programs.commit_writer import TABLE
from slownet.services.composite import Together
from slownet.services.mariadb import LOOK_S, MariaDB, Replication
from slownet.tools.numbers import Metric, mean, metric, sample_sd, single
from slownet.tools.program import nanoseconds, read_json

READY_S = 5.0


@dataclass(frozen=True)
class Commits(Metrics):
    """The results of commits that were followed to a replica, in order; times in ms.

    command: the writer's command.
    raw: the output of writer and watcher.
    commit_ms: how long each commit took.
    lag_ms: from the commit's start until the row could be read on the replica.
    stale_ms: from the commit's end until then; 0 if the row could be read before the writer had its answer.
    """

    command: tuple[str, ...]
    raw: str
    commit_ms: tuple[float, ...]
    lag_ms: tuple[float, ...]
    stale_ms: tuple[float, ...]

    def metrics(self) -> dict[str, Metric]:
        """Return ``commit_ms``, ``lag_ms``, ``stale_ms``, ``commit_max_ms``, ``lag_max_ms`` and ``lag_last_ms``.

        The commits' times are kept in order. The maxima and the last lag are single observations without a deviation.
        """
        series = {"commit_ms": self.commit_ms, "lag_ms": self.lag_ms, "stale_ms": self.stale_ms}
        metrics = {name: metric(mean(values), sample_sd(values), len(values)) for name, values in series.items()}
        count = len(self.commit_ms)
        metrics["commit_ms"] |= {"values": list(self.commit_ms), "ordered": True}
        return metrics | {
            "commit_max_ms": single(max(self.commit_ms), count),
            "lag_max_ms": single(max(self.lag_ms), count),
            "lag_last_ms": single(self.lag_ms[-1], count),
        }

    def facts(self) -> dict[str, object]:
        """Return the number of commits."""
        return {"commits": len(self.commit_ms)}


def commits(
    client: Host,
    primary: str,
    replica: Host,
    socket: Path,
    position: str,
    *,
    count: int = 100,
    size: int = 1000,
    every_ms: float = 50,
) -> Commits:
    """Commit rows on a primary, and wait for each one on a replica.

    client: the host that writes.
    primary: the primary's IP address.
    replica: the replica's host.
    socket: the replica's Unix socket: the watcher runs on the same host, so it uses no link.
    position: the GTID of the last transaction so far, such as ``"0-1-7"``; nothing else may write.
    count: the number of commits.
    size: the length of a row in bytes.
    every_ms: milliseconds between the starts of two commits.
    returns: times in ms.
    Raises ToolError: the primary or the replica refuses or closes the connection, a transaction never arrives, or the output is
    not understood.
    """
    with owner.temporary("replication") as directory:
        ready = Path(directory, "ready")
        with running(replica, python("commit_writer", "watch", socket, ready, position, count)) as wait:
            if not wait_until(ready.exists, READY_S):
                wait(0.1, True)
            command = python("commit_writer", "write", primary, count, size, every_ms)
            written = run(client, command, timeout=3600.0)
            return parse(written.stdout + wait(3600.0, True).stdout, command)


def parse(text: str, command: Sequence[str] = ("replication",)) -> Commits:
    """Parse the output of the writer followed by the watcher's. Raises ToolError that quotes a line it does not understand."""
    writer, _, watcher = text.strip().partition("\n")
    record = read_json(writer, command, "began_ns", "answered_ns") | read_json(watcher, command, "applied_ns")
    began, answered, applied = (nanoseconds(record, f"{name}_ns", text, least=1) for name in ("began", "answered", "applied"))
    if not len(began) == len(answered) == len(applied):
        what = f"{len(began)} commits began, {len(answered)} were answered, {len(applied)} reached the replica"
        raise ToolError(what, raw=text)
    taken = tuple(end - start for start, end in zip(began, answered, strict=True))
    lags = tuple(end - start for start, end in zip(began, applied, strict=True))
    stale = tuple(max(0.0, lag - commit) for lag, commit in zip(lags, taken, strict=True))
    return Commits(tuple(command), text, taken, lags, stale)


ACCOUNT, PASSWORD = "replica", "replica"
CAUGHT_UP_S = 20.0
CREATE = f"CREATE OR REPLACE TABLE wordpress.{TABLE} (id INT AUTO_INCREMENT PRIMARY KEY, payload TEXT NOT NULL)"


class Replicated(Together):
    """A primary on ``net["primary"]`` and replicas on other hosts, which start with the same data.

    net: the network.
    directory: the run directory, for logs.
    replicas: the names of the replicas' hosts.
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

        *names: the hosts of these replicas; without any, commits do not wait (asynchronous replication).
        Raises ServiceError: a name is unknown, replication does not resume, or the primary counts another number of replicas.
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

        watched: the replica, as an index.
        **how: ``count``, ``size`` and ``every_ms`` of `tools.replication.commits`.
        returns: times in ms.
        Raises ServiceError: replication is semi-synchronous, and a commit did not wait for its acknowledgement. Raises
        ToolError: the writer or the watcher failed.
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
