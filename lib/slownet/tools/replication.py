"""Commits on a primary and their way to a replica (slownet.programs.replication)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.errors import ToolError
from slownet.measured import Metrics
from slownet.tools.numbers import Metric, mean, metric, sample_sd, single
from slownet.tools.process import Host, wait_until
from slownet.tools.program import nanoseconds, python, read_json
from slownet.tools.tool import run, running

READY_S = 5.0


@dataclass(frozen=True)
class Commits(Metrics):
    """Times in ms, in order: what each commit took, when it could be read on the replica after it began and after its answer.

    ``stale_ms`` is 0 where a reader of the replica could see a row before its writer had the answer.
    """

    command: tuple[str, ...]
    raw: str
    commit_ms: tuple[float, ...]
    lag_ms: tuple[float, ...]
    stale_ms: tuple[float, ...]

    def metrics(self) -> dict[str, Metric]:
        """The three means, the longest commit and lag (``commit_max_ms``, ``lag_max_ms``) and the last lag, ``lag_last_ms``.

        The commits' times are kept in their order. What is a single observation says nothing of how it varies; it was looked
        for among all commits.
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

    def facts(self) -> dict[str, Any]:
        """What belongs beside the numbers in a record."""
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
    """Commits rows on a primary and waits for each on a replica.

    Parameters
    ----------
    primary
        The primary's address.
    socket
        The replica's Unix socket: the watcher is on its host and crosses no link.
    position
        The last transaction before, ``"0-1-7"``; nobody else may write.

    Raises
    ------
    ToolError
        The primary or the replica refuses or goes away, a transaction never comes, or output is not understood.
    """
    with owner.temporary("replication") as directory:
        ready = Path(directory, "ready")
        with running(replica, python("replication", "watch", socket, ready, position, count)) as wait:
            if not wait_until(ready.exists, READY_S):
                wait(0.1, True)
            command = python("replication", "write", primary, count, size, every_ms)
            written = run(client, command, timeout=3600.0)
            return parse(written.stdout + wait(3600.0, True).stdout, command)


def parse(text: str, command: Sequence[str] = ("replication",)) -> Commits:
    """Reads what writer and watcher printed, in this order. Raises ToolError with the line that is not understood."""
    writer, _, watcher = text.strip().partition("\n")
    record = read_json(writer, command, "began_ns", "answered_ns") | read_json(watcher, command, "applied_ns")
    began, answered, applied = (nanoseconds(record, f"{name}_ns", text, least=1) for name in ("began", "answered", "applied"))
    if not len(began) == len(answered) == len(applied):
        what = f"{len(began)} commits began, {len(answered)} were answered, {len(applied)} came to the replica"
        raise ToolError(what, raw=text)
    taken = tuple(end - start for start, end in zip(began, answered, strict=True))
    lags = tuple(end - start for start, end in zip(began, applied, strict=True))
    stale = tuple(max(0.0, lag - commit) for lag, commit in zip(lags, taken, strict=True))
    return Commits(tuple(command), text, taken, lags, stale)
