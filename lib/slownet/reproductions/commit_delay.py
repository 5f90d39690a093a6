"""Commits on a primary database, and when a replica has them (`slownet.reproductions.programs.commit_writer`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.model.errors import ToolError
from slownet.net.process import Host, wait_until
from slownet.net.tool import run, running
from slownet.reproductions.program import python
from slownet.tools.numbers import Metric, mean, metric, sample_sd, single
from slownet.tools.program import nanoseconds, read_json

READY_S = 5.0


@dataclass(frozen=True)
class Commits(Metrics):
    """The results of commits that were followed to a replica, in order; times in ms.

    Attributes
    ----------
    command : tuple of str
        The writer's command.
    raw : str
        The output of writer and watcher.
    commit_ms : tuple of float
        How long each commit took.
    lag_ms : tuple of float
        From the commit's start until the row could be read on the replica.
    stale_ms : tuple of float
        From the commit's end until then; 0 if the row could be read before the writer had its answer.
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

    Parameters
    ----------
    client : Host
        The host that writes.
    primary : str
        The primary's IP address.
    replica : Host
        The replica's host.
    socket : Path
        The replica's Unix socket: the watcher runs on the same host, so it uses no link.
    position : str
        The GTID of the last transaction so far, such as ``"0-1-7"``; nothing else may write.
    count : int
        The number of commits.
    size : int
        The length of a row in bytes.
    every_ms : float
        Milliseconds between the starts of two commits.

    Returns
    -------
    Commits
        Times in ms.

    Raises
    ------
    ToolError
        The primary or the replica refuses or closes the connection, a transaction never arrives, or the output is not
        understood.
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
