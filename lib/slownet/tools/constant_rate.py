"""Load at a constant rate over HTTP, with both latencies of the same run: this project's own ``slownet.programs.loader``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from slownet.errors import ToolError
from slownet.measured import Metrics
from slownet.programs.load import Schedule
from slownet.tools.numbers import Metric, metric, printed, sample_sd, single
from slownet.tools.output import unread
from slownet.tools.process import Host
from slownet.tools.tool import run

KINDS = ("corrected", "uncorrected")


@dataclass(frozen=True)
class ConstantRate(Metrics):
    """What came of the load. ``corrected`` and ``uncorrected`` are as ``programs.load.told`` tells a histogram, in seconds.

    ``planned`` requests were due; ``answered`` well, ``failed`` (no connection, no answer, or none of 2xx), and
    ``unanswered`` when patience ended.
    """

    command: tuple[str, ...]
    raw: str
    rate: float
    planned: int
    answered: int
    failed: int
    unanswered: int
    seconds: float
    corrected: Mapping[str, Any]
    uncorrected: Mapping[str, Any]
    batches: tuple[float, ...] = ()
    """Answers a second in equal parts of the time, for how the rate varies."""

    @property
    def answered_per_s(self) -> float:
        """What the server managed."""
        return self.answered / self.seconds

    def metrics(self) -> dict[str, Metric]:
        """``answered_per_s``, ``target_per_s``, when the answers came, and mean, percentiles and maximum of both latencies.

        Answers count from ``counted_from_s`` to ``counted_to_s`` after the start. All times are in seconds.
        """
        found = {
            "answered_per_s": self._rate(),
            "target_per_s": metric(self.rate, 0.0, self.planned),
            "counted_from_s": metric(0.0, 0.0, self.answered),
            "counted_to_s": single(self.seconds, self.answered),
        }
        for kind in KINDS:
            found |= latencies(kind, getattr(self, kind))
        return found

    def _rate(self) -> Metric:
        """What the server managed, its deviation that of the batches (batch means)."""
        if not self.batches:
            return single(self.answered_per_s, self.answered)
        return metric(self.answered_per_s, sample_sd(self.batches), len(self.batches))

    def facts(self) -> dict[str, Any]:
        """The spectra, and the histograms themselves in HdrHistogram's encoding."""
        counts = {"planned": self.planned, "answered": self.answered, "failed": self.failed, "unanswered": self.unanswered}
        return counts | {
            f"{kind}_{part}": getattr(self, kind)[part]
            for kind in KINDS
            for part in ("spectrum", "hdr")
            if part in getattr(self, kind)
        }


def latencies(kind: str, told: Mapping[str, Any]) -> dict[str, Metric]:
    """A histogram's metrics; the mean's record has the spectrum, for the intervals of the percentiles."""
    n = int(told["count"])
    if not n:
        return {}
    mean, steps = f"{kind}_mean_s", [(value, count) for value, _, count in told.get("spectrum", ())]
    found = {mean: metric(told["mean"], told["sd"] if n > 1 else 0.0, n, steps=steps)}
    for percent, value in told["percentiles"].items():
        found[f"{kind}_p{percent.replace('.', '_')}_s"] = printed(value, n, float(percent), mean)
    return found | {f"{kind}_max_s": printed(told["max"], n)}


def constant_rate(
    host: Host, url: str, *, rate: float, seconds: float, connections: int = 1, patience: float = 600.0
) -> ConstantRate:
    """Loads a page from a host at a constant rate.

    Parameters
    ----------
    host
        Where the load comes from.
    url
        The page's address.
    rate
        Requests a second that are due, of all connections together, whatever the server manages.
    seconds
        How long requests are due for.
    connections
        Kept alive; each has one request under way at most.
    patience
        Seconds after that in which late answers still count.

    Returns
    -------
    ConstantRate
        Both latencies in seconds, and how many requests were planned, answered, failed and left unanswered.

    Raises
    ------
    ToolError
        Nothing was answered, or the program fails.
    SlownetError
        No such load can be sent.
    """
    parts = urlsplit(url)
    Schedule(rate, seconds, connections)  # a mistake is said here
    job = {
        "address": parts.hostname, "port": parts.port or 80, "path": parts.path or "/", "rate": rate, "seconds": seconds,
        "connections": connections, "patience": patience,
    }  # fmt: skip
    argv = [sys.executable, "-m", "slownet.programs.loader", json.dumps(job)]
    result = parse(run(host, argv, timeout=seconds + patience + 600).stdout, argv, rate)
    if not result.answered:
        raise ToolError(f"none of {result.planned} requests was answered well", f"host '{host.name}', {url}", raw=result.raw)
    return result


def parse(text: str, command: Sequence[str] = ("slownet.programs.loader",), rate: float = 0.0) -> ConstantRate:
    """Reads the JSON of ``slownet.programs.loader``. Raises ToolError."""
    try:
        told = json.loads(text)
        values: dict[str, Any] = {name: int(told[name]) for name in ("planned", "answered", "failed", "unanswered")}
        values |= {kind: dict(told[kind]) for kind in KINDS} | {"seconds": float(told["seconds"])}
        values["batches"] = tuple(map(float, told.get("batches", ())))
        return ConstantRate(tuple(command), text, rate, **values)
    except (ValueError, KeyError, TypeError) as error:
        raise unread(f"the load's report is not understood ({error!r})", text, command) from None
