"""``ab``, the Apache HTTP server's benchmark: requests one page again and again, each time on a new connection."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.model.errors import ToolError, above_zero, counts
from slownet.model.host_settings import KEEP_ALIVE, is_on
from slownet.net.output import DECIMAL, WHOLE, complaint, unread
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, metric, printed, sample_sd
from slownet.tools.register import tool

EXACT = 100
"""Up to this number of requests, ``ab -e`` writes the time of each: its 100 percentiles are then the requests themselves."""


_FAILURES = re.compile(
    rf"^\s+\(Connect: ({WHOLE}), Receive: ({WHOLE}), Length: ({WHOLE}), Exceptions: ({WHOLE})\)$", re.MULTILINE
)
_ROOTLESS = re.compile(r"https?://[^/?#]+")
_PERCENTILE = re.compile(rf"^\s*({WHOLE})%\s+({DECIMAL})(?=\s|$)", re.MULTILINE)
ROUNDED_S = 0.001
"""It prints the time of the test in whole milliseconds."""
ROUNDED_PER_S = 0.01
_PHASE = rf"^NAME:\s+({WHOLE})\s+({WHOLE})\s+({DECIMAL})\s+({WHOLE})\s+({WHOLE})$"


@dataclass(frozen=True)
class Phase:
    """One line of ``ab``'s table of connection times, in ms. All but ``sd`` are whole numbers."""

    min: float
    mean: float
    sd: float
    median: float
    max: float


@dataclass(frozen=True)
class Failures:
    """The number of failed requests, by reason."""

    connect: int = 0
    receive: int = 0
    length: int = 0
    exceptions: int = 0


@dataclass(frozen=True)
class Ab(Metrics):
    """The results of ``ab``: the numbers of its report, and the time of each request.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        The report and the files with the requests' times.
    server : str
        The server's name and version, as it states them.
    document_length : int
        The page's length in bytes; the mean of lengths that vary (``-l``).
    concurrency : int
        Requests at a time.
    time_taken_s : float
        Duration of the whole test.
    complete, failed, non_2xx, unsent : int
        Numbers of requests; those of ``unsent`` could not be written to their connections.
    failures : Failures
        The failed requests by reason.
    total_transferred, html_transferred : int
        Bytes with and without the response headers.
    requests_per_second, time_per_request_ms : float
        The rate, and the mean time per request that a user sees.
    connect_ms, processing_ms, waiting_ms, total_ms : Phase
        The table of connection times.
    percentiles_ms : mapping of int to float
        Percentile to time.
    times_ms : tuple of float
        The time of each request: to a microsecond for up to 100 requests, in whole milliseconds for more. Empty if only the
        report was parsed.
    groups : tuple of int
        How many requests began in each second in which any did; empty if unknown.
    kept_alive : int or None
        Requests on connections that were kept alive; None without ``-k``.

    Notes
    -----
    ``ab`` writes the start of a request in whole seconds (``-g``) and sorts the requests by their time. So ``times_ms`` is in
    order of time only from group to group; within a group the order is lost and the shortest time comes first.
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
    kept_alive: int | None = None
    unsent: int = 0

    @property
    def problem(self) -> str:
        """Why this result does not measure the page; empty if it does."""
        if self.failed:
            why = self.failures
            hint = "; for responses whose length varies: varying=True" if why.length == self.failed else ""
            listed = f"connect {why.connect}, receive {why.receive}, length {why.length}, exceptions {why.exceptions}"
            reasons = f" ({listed})" if why != Failures() else ""
            return f"{self.failed} of {self.complete} requests failed{reasons}{hint}"
        if self.unsent:
            return f"{self.unsent} requests could not be sent (Write errors: {self.unsent})"
        if self.non_2xx:
            return f"{self.non_2xx} of {self.complete} responses are errors (Non-2xx responses: {self.non_2xx})"
        if not self.total_transferred:  # ab counts a connection that ends without an answer as an empty page
            return f"none of {self.complete} requests was answered: no byte came back; is it https, and the port right?"
        return ""

    @property
    def time_per_request_sd_ms(self) -> float:
        """The sample standard deviation of the requests' times, in ms."""
        if not self.times_ms:
            return self.total_ms.sd
        sd = sample_sd(self.times_ms)
        if self.complete > EXACT:  # rounding to whole milliseconds adds 1/12 to the variance (Sheppard)
            sd = math.sqrt(max(0.0, sd * sd - 1 / 12))
        return sd

    @property
    def ordered(self) -> bool:
        """True if ``times_ms`` is in the order of measurement: within each group all times are equal."""
        ends = list(accumulate(self.groups))
        return bool(ends) and all(
            self.times_ms[end - size] == self.times_ms[end - 1] for size, end in zip(self.groups, ends, strict=True)
        )

    def metrics(self) -> dict[str, Metric]:
        """Return ``time_per_request_ms`` (with the single times if they are known), ``requests_per_second``, ``time_p99_ms``.

        The rate's deviation follows from the time's (delta method). A test that took no time has no rate.
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
        """Return the lengths of page and header in bytes, and with ``-k`` how many requests used a kept connection."""
        kept = {} if self.kept_alive is None else {"kept_alive": self.kept_alive}
        header = round((self.total_transferred - self.html_transferred) / max(1, self.complete))
        return {"document_length": self.document_length, "header_length": header, **kept}


@tool(without=("check",))
def ab(
    host: Host,
    url: str,
    requests: int = 100,
    concurrency: int = 1,
    timeout: float = 3600.0,
    check: bool = True,
    keep_alive: bool = False,
    varying: bool = False,
) -> Ab:
    """Load a page from a host with ``ab``.

    Parameters
    ----------
    host : Host
        The host that ``ab`` runs on.
    url : str
        The page's URL, with an IP address unless the host resolves names: ``"http://10.0.0.2/"``.
    requests, concurrency : int
        The number of requests, and how many of them at a time.
    timeout : float
        Seconds for the whole test, and for each response.
    check : bool
        Whether failed requests and responses other than 2xx raise an error; otherwise see ``.problem``.
    keep_alive : bool
        Whether requests share connections (``-k``). ``ab`` speaks HTTP/1.0, so this works only if the server knows the
        page's length beforehand (a file, a cached page); a page made by PHP still ends with its connection.
    varying : bool
        Whether responses may differ in length (``-l``): otherwise one of another length than the first counts as failed.

    Returns
    -------
    Ab
        The report: times in ms, rates in requests per second.

    Raises
    ------
    ToolError
        ``ab`` is missing, cannot connect, ends early, or its output is not understood.
    """
    counts("ab", requests=requests, concurrency=concurrency)
    above_zero("ab", timeout=timeout)
    if isinstance(url, str) and _ROOTLESS.fullmatch(url):
        url += "/"  # ab refuses it, as "invalid URL"
    argv = ["ab", "-q", "-n", str(requests), "-c", str(concurrency), "-s", str(max(1, math.ceil(timeout)))]
    argv += [*(["-k"] if keep_alive or is_on(KEEP_ALIVE) else []), *(["-l"] if varying else [])]
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
    """Parse ``ab``'s report.

    text: the report.
    csv, tsv: the files that ``-e`` and ``-g`` wrote, if any.
    command: the command, for the record and for errors.
    returns: the results.
    Raises ToolError: a line is missing or has no number; ``.raw`` is the text.
    """
    report = _Report(text, command)
    complete = report.integer("Complete requests")
    if not complete:
        raise report.error("ab completed no request")
    try:
        times, groups = in_order(csv, tsv, complete)
    except (ValueError, IndexError, KeyError) as error:
        raise report.error(f"ab wrote times that are not understood: {error!r}") from None
    failures = _FAILURES.search(text)
    html, varies = report.integer("HTML transferred"), report.text("Document Length") == "Variable"
    return Ab(
        command=tuple(command),
        raw=text + (csv if complete <= EXACT else "") + tsv,
        server=report.text("Server Software", ""),
        document_length=round(html / max(1, complete)) if varies else report.integer("Document Length"),
        concurrency=report.integer("Concurrency Level"),
        time_taken_s=report.real("Time taken for tests"),
        unsent=report.integer("Write errors", 0),
        complete=complete,
        failed=report.integer("Failed requests"),
        failures=Failures(*map(int, failures.groups())) if failures else Failures(),
        non_2xx=report.integer("Non-2xx responses", 0),
        total_transferred=report.integer("Total transferred"),
        html_transferred=html,
        requests_per_second=report.rate(complete),
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
    """The lines of the report, by the name before the colon."""

    def __init__(self, text: str, command: Sequence[str]) -> None:
        self.raw = text
        self.command = command
        self.lines: dict[str, str] = {}
        for line in text.splitlines():
            name, colon, value = line.partition(":")
            if colon and name == name.strip():
                self.lines.setdefault(name, value.strip())  # the first "Time per request" is the one that a user sees

    def text(self, name: str, default: str | None = None) -> str:
        if name in self.lines:
            return self.lines[name]
        if default is not None:
            return default
        raise unread(f"ab printed no {name!r}", self.raw, self.command)

    def real(self, name: str, default: float | None = None) -> float:
        if default is not None and name not in self.lines:
            return default
        found = self.number(name)
        if not 0 <= found < math.inf:
            raise self.unclear(name)
        return found

    def rate(self, complete: int) -> float:
        """Return the requests per second, which do not exist if the test took no time. Raises ToolError.

        ab prints two decimals: 0.17 of 20 requests in two minutes. The time is then more exact.
        """
        rate, seconds = self.number("Requests per second"), self.real("Time taken for tests")
        least, most = complete / (seconds + ROUNDED_S), complete / max(seconds - ROUNDED_S, 1e-9)
        if math.isfinite(rate) and not 0.99 * least - ROUNDED_PER_S <= rate <= 1.01 * most + ROUNDED_PER_S:
            raise self.error(f"ab printed {rate:g} requests a second, but {complete} in {seconds:g} s")
        return complete / seconds if ROUNDED_S * rate < ROUNDED_PER_S * seconds else rate

    def number(self, name: str) -> float:
        try:
            return float(self.text(name).split()[0])
        except (ValueError, IndexError):
            raise self.unclear(name) from None

    def unclear(self, name: str) -> ToolError:
        return self.error(f"ab printed a line that is not understood: '{name}: {self.lines[name]}'")

    def integer(self, name: str, default: int | None = None) -> int:
        value = float(self.real(name, default))
        if not value.is_integer():
            raise self.unclear(name)
        return int(value)

    def phase(self, name: str) -> Phase:
        found = re.search(_PHASE.replace("NAME", name), self.raw, re.MULTILINE)
        if found is None:
            raise self.error(f"ab printed no connection times for {name!r}")
        return Phase(*map(float, found.groups()))

    def error(self, what: str) -> ToolError:
        return complaint(what, self.raw, self.command)


def in_order(csv: str, tsv: str, complete: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return the requests' times in ms and how many began in each second, see `Ab`, from what ``-e`` and ``-g`` write.

    csv, tsv: the files; empty if none exists.
    complete: the number of requests.
    Raises ValueError, IndexError, KeyError: a file is not as expected, or the two differ.
    """
    by_rank = _by_rank(csv, complete) if csv and complete <= EXACT else []
    if not tsv:
        return tuple(by_rank), ()
    rows = [(int(row[1]), float(row[4])) for row in (line.split("\t") for line in tsv.splitlines()[1:])]
    # ab sorts the requests by time once and writes both files in that order, so row and rank agree. Requests with equal times
    # may be swapped, which makes no difference to the pairs.
    if by_rank and not all(abs(exact - whole) <= 0.5005 for exact, (_, whole) in zip(by_rank, rows, strict=True)):
        raise ValueError("-e and -g differ")
    times = by_rank or [whole for _, whole in rows]
    began = sorted(zip((second for second, _ in rows), times, strict=True))
    return tuple(time for _, time in began), tuple(len(list(each)) for _, each in groupby(second for second, _ in began))


def _by_rank(csv: str, complete: int) -> list[float]:
    """Return the times of up to 100 requests to the microsecond, shortest first.

    ``ab`` writes the time of request round(complete * percent / 100) for each percent. Past the last request it reads
    whatever is in memory there, so those rows are ignored.
    """
    rows = (line.split(",") for line in csv.splitlines()[1:])
    by_rank = {int(0.5 + complete * int(percent) / 100): float(ms) for percent, ms in rows}
    return [by_rank[rank] for rank in range(complete)]
