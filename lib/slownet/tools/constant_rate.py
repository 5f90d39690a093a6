"""HTTP load at a constant rate that measures both latencies in one test: this project's `slownet.tools.programs.loader`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from slownet.judge.measured import Metrics
from slownet.model import userfile
from slownet.model.errors import SlownetError, ToolError
from slownet.net.output import unread
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, metric, printed, sample_sd, single
from slownet.tools.program import python
from slownet.tools.programs.load import Histogram, Schedule
from slownet.tools.register import tool
from slownet.tools.web import address

KINDS = ("corrected", "uncorrected")


@dataclass(frozen=True)
class ConstantRate(Metrics):
    """The results of load at a constant rate.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    rate : float
        Requests per second that were due.
    planned : int
        Requests that were due.
    answered : int
        Requests answered with 2xx.
    failed : int
        Requests without a connection, cut off, or answered with another status.
    unanswered : int
        Requests still without an answer at the end.
    seconds : float
        Duration of the test.
    corrected, uncorrected : mapping
        Latency in seconds from when a request was due, and from when it was sent: ``count``, ``mean``, ``sd``, ``min``,
        ``max``, ``percentiles``, ``spectrum`` and ``hdr``.
    batches : tuple of float
        Answers per second in equal parts of the time, which show how the rate varies.
    """

    command: tuple[str, ...]
    raw: str
    rate: float
    planned: int
    answered: int
    failed: int
    unanswered: int
    seconds: float
    corrected: Histogram
    uncorrected: Histogram
    batches: tuple[float, ...] = ()

    @property
    def answered_per_s(self) -> float:
        """The server's throughput: successful answers per second."""
        return self.answered / self.seconds

    def metrics(self) -> dict[str, Metric]:
        """Return ``answered_per_s``, ``target_per_s``, and mean, percentiles and maximum of both latencies in seconds.

        Answers count from ``counted_from_s`` to ``counted_to_s`` after the start.
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
        """Return the throughput with the deviation of the batches (batch means)."""
        if not self.batches:
            return single(self.answered_per_s, self.answered)
        return metric(self.answered_per_s, sample_sd(self.batches), len(self.batches))

    def facts(self) -> dict[str, object]:
        """Return the numbers of requests, the latency spectra, and the histograms in HdrHistogram's encoding."""
        counts = {"planned": self.planned, "answered": self.answered, "failed": self.failed, "unanswered": self.unanswered}
        return counts | {
            f"{kind}_{part}": getattr(self, kind)[part]
            for kind in KINDS
            for part in ("spectrum", "hdr")
            if part in getattr(self, kind)
        }


def latencies(kind: str, histogram: Histogram) -> dict[str, Metric]:
    """Return the metrics of one latency's histogram; the mean also holds the spectrum, for the percentiles' intervals."""
    n = int(histogram["count"])
    if not n:
        return {}
    mean, steps = f"{kind}_mean_s", [(value, count) for value, _, count in histogram.get("spectrum", ())]
    found = {mean: metric(histogram["mean"], histogram["sd"] if n > 1 else 0.0, n, steps=steps)}
    for percent, value in histogram["percentiles"].items():
        found[f"{kind}_p{percent.replace('.', '_')}_s"] = printed(value, n, float(percent), mean)
    return found | {f"{kind}_max_s": printed(histogram["max"], n)}


@tool(lasts=True)
def constant_rate(
    host: Host, url: str, *, rate: float, seconds: float = 10.0, connections: int = 1, patience: float = 600.0
) -> ConstantRate:
    """Load a page from a host at a constant rate.

    Parameters
    ----------
    host : Host
        The host that sends the requests.
    url : str
        The page's URL.
    rate : float
        Requests per second that are due, of all connections together, no matter how fast the server is.
    seconds : float
        How long requests are due.
    connections : int
        Connections that are kept alive, each with at most one request in flight.
    patience : float
        Seconds after that in which late answers still count.

    Returns
    -------
    ConstantRate
        Both latencies in seconds, and how many requests were planned, answered, failed and unanswered.

    Raises
    ------
    ToolError
        No request succeeded, or the program failed.
    SlownetError
        A number is not above 0, there are too many connections, or the URL is not an http one.

    Notes
    -----
    A client that waits for each answer sends nothing while the server stalls, so it measures the stall as one slow request
    (coordinated omission). The corrected latency, from when a request was due, is what users would see [1]_.

    References
    ----------
    .. [1] Gil Tene, "How not to measure latency", 2013.

    Examples
    --------
    >>> load = constant_rate(net["client"], "http://10.0.0.2/", rate=100, seconds=10, connections=8)  # doctest: +SKIP
    >>> load.answered, load.corrected["percentiles"]["99"]  # doctest: +SKIP
    (1000, 0.0123)
    """
    asked = address.read(url)
    if asked.scheme != "http":
        fix = "give an http URL; fetch and oha ask with TLS"
        raise SlownetError(f"'{url}' is an https URL, and constant_rate speaks HTTP without TLS", fix=fix)
    if not Schedule(rate, seconds, connections).count:  # which raises early if the load is impossible
        what = f"no request is due in {seconds:g} s at {rate:g} a second"
        raise SlownetError(what, "in a load", "give a higher rate, or more seconds")
    job = {
        "address": asked.host, "port": asked.port, "path": asked.path, "rate": rate, "seconds": seconds,
        "connections": connections, "patience": patience,
    }  # fmt: skip
    argv = python("loader", json.dumps(job))
    result = parse(run(host, argv, timeout=seconds + patience + 600).stdout, argv, rate)
    if not result.answered:
        why = userfile.json(result.raw)["why"] or "no answer in time"
        raise ToolError(
            f"none of the {result.planned} requests succeeded ({why})", f"host '{host.name}', {url}", raw=result.raw
        )
    return result


def parse(text: str, command: Sequence[str] = ("slownet.tools.programs.loader",), rate: float = 0.0) -> ConstantRate:
    """Parse the JSON of `slownet.tools.programs.loader`.

    text: the JSON.
    command: the command, for the record and for errors.
    rate: requests per second that were due.
    returns: the results.
    Raises ToolError: the text is not JSON, or a number is missing; ``.raw`` is the text.
    """
    try:
        report = userfile.json(text)
        planned, answered, failed, unanswered = (int(report[name]) for name in ("planned", "answered", "failed", "unanswered"))
        return ConstantRate(
            tuple(command), text, rate, planned, answered, failed, unanswered, float(report["seconds"]),
            cast(Histogram, dict(report["corrected"])), cast(Histogram, dict(report["uncorrected"])),
            tuple(map(float, report.get("batches", ()))),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError) as error:
        raise unread(f"the load generator's report is not understood ({error!r})", text, command) from None
