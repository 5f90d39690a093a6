"""``ab``, the Apache HTTP server's benchmark: a page, asked for again and again on new connections."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path

from slownet import owner
from slownet.errors import ToolError
from slownet.measured import Metrics
from slownet.tools.numbers import Metric, metric, printed, sample_sd
from slownet.tools.output import complaint, unread
from slownet.tools.process import Host
from slownet.tools.tool import run

_FAILURES = re.compile(r"^\s+\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$", re.MULTILINE)
_PERCENTILE = re.compile(r"^\s*(\d+)%\s+(\d+)\b", re.MULTILINE)
_PHASE = r"^{}:\s+(\d+)\s+(\d+)\s+([\d.]+)\s+(\d+)\s+(\d+)$"


@dataclass(frozen=True)
class Phase:
    """One line of ``ab``'s table of connection times, in ms: all but ``sd`` are whole numbers."""

    min: float
    mean: float
    sd: float
    median: float
    max: float


@dataclass(frozen=True)
class Failures:
    """Why requests failed, in numbers of requests."""

    connect: int = 0
    receive: int = 0
    length: int = 0
    exceptions: int = 0


@dataclass(frozen=True)
class Ab(Metrics):
    """What ``ab`` printed.

    ``times_ms`` are the requests' times: to a microsecond for up to 100 requests, whole milliseconds for more (``ab``
    writes them no finer), empty when the text was parsed alone. ``raw`` holds the report and the files with these times.

    They stand in time's order as far as ``ab`` tells it. It keeps each request's start to a microsecond and writes it in
    whole seconds (``-g``): those that began in the same second are a group, one after the other in ``groups``, and within
    a group they stand shortest first, for their own order is lost. Nothing else that ``ab`` writes tells more.
    """

    command: tuple[str, ...]
    raw: str
    server: str
    document_length: int
    concurrency: int
    time_taken_s: float
    complete: int
    failed: int
    failures: Failures
    non_2xx: int
    total_transferred: int
    html_transferred: int
    requests_per_second: float
    time_per_request_ms: float
    connect_ms: Phase
    processing_ms: Phase
    waiting_ms: Phase
    total_ms: Phase
    percentiles_ms: Mapping[int, float]
    times_ms: tuple[float, ...] = ()
    groups: tuple[int, ...] = ()
    """How many of them began in each second in which any did; empty where that is not known."""
    kept_alive: int | None = None
    """Requests on connections that were kept, None when ``ab`` was not asked to."""

    @property
    def problem(self) -> str:
        """The line that says why this is no measurement of the page; empty when it is one."""
        if self.failed:
            why = self.failures
            return (
                f"{self.failed} of {self.complete} requests failed (connect {why.connect}, receive {why.receive}, "
                f"length {why.length}, exceptions {why.exceptions})"
            )
        if self.non_2xx:
            return f"{self.non_2xx} of {self.complete} responses are errors (Non-2xx responses: {self.non_2xx})"
        return ""

    @property
    def time_per_request_sd_ms(self) -> float:
        """The sample standard deviation of the requests' times."""
        if not self.times_ms:
            return self.total_ms.sd
        sd = sample_sd(self.times_ms)
        if self.complete > EXACT:  # rounding to whole milliseconds adds 1/12 to the variance (Sheppard)
            sd = math.sqrt(max(0.0, sd * sd - 1 / 12))
        return sd

    @property
    def ordered(self) -> bool:
        """Whether the times stand in time's order: whatever the order within a group is, it makes no difference."""
        ends = list(accumulate(self.groups))
        return bool(ends) and all(
            self.times_ms[end - size] == self.times_ms[end - 1] for size, end in zip(self.groups, ends, strict=True)
        )

    def metrics(self) -> dict[str, Metric]:
        """``time_per_request_ms``, with the single times where they are known, ``requests_per_second`` and ``time_p99_ms``.

        The rate's deviation follows from the time's (delta method); a run that took no time has no rate.
        """
        mean, sd = self.time_per_request_ms, self.time_per_request_sd_ms
        metrics = {"time_per_request_ms": metric(mean, sd, self.complete, self.times_ms, self.ordered, groups=self.groups)}
        if math.isfinite(self.requests_per_second) and mean > 0:
            rate = self.requests_per_second
            metrics["requests_per_second"] = metric(rate, rate * sd / mean, self.complete)
        if 99 in self.percentiles_ms:
            metrics["time_p99_ms"] = printed(self.percentiles_ms[99], self.complete, 99, "time_per_request_ms")
        return metrics

    def facts(self) -> dict[str, int]:
        """What belongs beside the numbers in a record."""
        kept = {} if self.kept_alive is None else {"kept_alive": self.kept_alive}
        header = round((self.total_transferred - self.html_transferred) / max(1, self.complete))
        return {"document_length": self.document_length, "header_length": header, **kept}


EXACT = 100
"""Requests up to which ``ab -e`` writes every one's time: its 100 percentiles are then the requests themselves."""


def ab(
    host: Host,
    url: str,
    requests: int = 100,
    concurrency: int = 1,
    timeout: float = 3600.0,
    check: bool = True,
    keep_alive: bool = False,
) -> Ab:
    """Loads a page from a host.

    Parameters
    ----------
    host
        Where ``ab`` runs.
    url
        The page's address, by number where the host knows no names: ``"http://10.0.0.2/"``.
    requests, concurrency
        How many requests in all, and how many of them at a time.
    timeout
        Seconds for all of it, and for each response.
    check
        Whether failed requests and responses other than 2xx are an error; else see ``.problem``.
    keep_alive
        Whether requests share connections (``-k``). ``ab`` speaks HTTP/1.0, so the server must know the page's length
        beforehand, as for a file or from a cache; a page that PHP makes still ends with its connection.

    Returns
    -------
    Ab
        What it printed: times in ms, rates in requests a second.

    Raises
    ------
    ToolError
        ``ab`` is missing, cannot connect, ends early, or prints what the parser does not know.
    """
    argv = ["ab", "-q", "-n", str(requests), "-c", str(concurrency), "-s", str(max(1, math.ceil(timeout)))]
    argv += ["-k"] if keep_alive else []
    with owner.temporary("ab") as directory:
        percentiles, times = Path(directory, "percentiles.csv"), Path(directory, "times.tsv")
        done = run(host, [*argv, "-e", str(percentiles), "-g", str(times), url], timeout=timeout)
        result = parse(
            done.stdout,
            csv=percentiles.read_text() if percentiles.exists() else "",
            tsv=times.read_text() if times.exists() else "",
            command=[*argv, url],
        )
    if check and result.problem:
        raise ToolError(result.problem, f"host '{host.name}', {url}", raw=result.raw)
    if result.complete != requests:
        raise ToolError(f"ab completed {result.complete} of {requests} requests", f"host '{host.name}'", raw=result.raw)
    return result


def parse(text: str, csv: str = "", tsv: str = "", command: Sequence[str] = ("ab",)) -> Ab:
    """Reads ``ab``'s report and, when given, its ``-e`` (csv) and ``-g`` (tsv) files.

    Raises
    ------
    ToolError
        A line is missing or holds no number; ``.raw`` is the text.
    """
    report = _Report(text, command)
    complete = report.integer("Complete requests")
    times, groups = _times(csv, tsv, complete, report)
    failures = _FAILURES.search(text)
    return Ab(
        command=tuple(command),
        raw=text + (csv if complete <= EXACT else "") + tsv,
        server=report.text("Server Software", ""),
        document_length=report.integer("Document Length"),
        concurrency=report.integer("Concurrency Level"),
        time_taken_s=report.real("Time taken for tests"),
        complete=complete,
        failed=report.integer("Failed requests"),
        failures=Failures(*map(int, failures.groups())) if failures else Failures(),
        non_2xx=report.integer("Non-2xx responses", 0),
        total_transferred=report.integer("Total transferred"),
        html_transferred=report.integer("HTML transferred"),
        requests_per_second=report.real("Requests per second"),
        time_per_request_ms=report.real("Time per request"),
        connect_ms=report.phase("Connect"),
        processing_ms=report.phase("Processing"),
        waiting_ms=report.phase("Waiting"),
        total_ms=report.phase("Total"),
        percentiles_ms={int(percent): float(ms) for percent, ms in _PERCENTILE.findall(text)},
        times_ms=times,
        groups=groups,
        kept_alive=report.integer("Keep-Alive requests") if "Keep-Alive requests" in report.lines else None,
    )


class _Report:
    """The lines of the report by their names."""

    def __init__(self, text: str, command: Sequence[str]) -> None:
        self.raw = text
        self.command = command
        self.lines: dict[str, str] = {}
        for line in text.splitlines():
            name, colon, value = line.partition(":")
            if colon and name == name.strip():
                self.lines.setdefault(name, value.strip())  # the first "Time per request" is the user's

    def text(self, name: str, default: str | None = None) -> str:
        if name in self.lines:
            return self.lines[name]
        if default is not None:
            return default
        raise unread(f"ab printed no {name!r}", self.raw, self.command)

    def real(self, name: str, default: float | None = None) -> float:
        if default is not None and name not in self.lines:
            return default
        value = self.text(name)
        try:
            return float(value.split()[0])
        except (ValueError, IndexError):
            raise self.error(f"ab printed a line that is not understood: '{name}: {value}'") from None

    def integer(self, name: str, default: int | None = None) -> int:
        value = float(self.real(name, default))
        if not value.is_integer():
            raise self.error(f"ab printed a line that is not understood: '{name}: {self.lines[name]}'")
        return int(value)

    def phase(self, name: str) -> Phase:
        found = re.search(_PHASE.format(name), self.raw, re.MULTILINE)
        if found is None:
            raise self.error(f"ab printed no connection times for {name!r}")
        return Phase(*map(float, found.groups()))

    def error(self, what: str) -> ToolError:
        return complaint(what, self.raw, self.command)


def _times(csv: str, tsv: str, complete: int, report: _Report) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The requests' times in ms, and how many began in each second; see :class:`Ab`."""
    try:
        by_rank = _by_rank(csv, complete) if csv and complete <= EXACT else []
        if not tsv:
            return tuple(by_rank), ()
        rows = [(int(row[1]), float(row[4])) for row in (line.split("\t") for line in tsv.splitlines()[1:])]
        # ab sorts its requests by their time once and writes both files from that: the rank is the row. Requests of the same
        # time, which may have either row, do not differ in what is paired here.
        if by_rank and not all(abs(exact - whole) <= 0.5005 for exact, (_, whole) in zip(by_rank, rows, strict=True)):
            raise ValueError("-e and -g differ")
    except (ValueError, IndexError, KeyError) as error:
        raise report.error(f"ab wrote times that are not understood: {error!r}") from None
    times = by_rank or [whole for _, whole in rows]
    began = sorted(zip((second for second, _ in rows), times, strict=True))
    return tuple(time for _, time in began), tuple(len(list(each)) for _, each in groupby(second for second, _ in began))


def _by_rank(csv: str, complete: int) -> list[float]:
    """The times of up to 100 requests to the microsecond, shortest first.

    ab writes the time of request round(complete * percent / 100) for each percent; beyond the last request it reads whatever
    is in memory there.
    """
    rows = (line.split(",") for line in csv.splitlines()[1:])
    by_rank = {int(0.5 + complete * int(percent) / 100): float(ms) for percent, ms in rows}
    return [by_rank[rank] for rank in range(complete)]
