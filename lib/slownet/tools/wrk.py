"""``wrk``, which sends a request as soon as the last one is answered, and ``wrk2``, which sends at a constant rate.

The authors call both programs ``wrk``, and the output is nearly the same. wrk measures from when a request was sent, so it
omits the requests that it did not send while the server stalled. wrk2 (``-R``) measures from when a request was due: that is
also what it prints with ``--latency`` alone. With ``-U`` it prints the latency from when a request was sent, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt

from slownet.judge.measured import Metrics
from slownet.lab.run import load_generators
from slownet.model.errors import ToolError, above_zero, counts
from slownet.net.output import DECIMAL, WHOLE, complaint, needed
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, metric, printed, single
from slownet.tools.register import tool

# When ``wrk2`` sends its requests and what it then prints: theory, from its source, without running it.
#
# Each thread connects its first connection at once and each further one 5 ms after the one before. A connection's requests
# are due at equal distances from when its own connecting began. Timers count whole milliseconds, so a request is sent up to 2
# ms after it was due: at the end of that millisecond, and up to one more late because the wait itself is rounded, too. After
# a stall a connection sends at most twice as fast as it should, counted from the last request that was due in time, until it
# is back on its plan. After 10 s and 5 ms for each of its connections a thread empties its tables (``thread_main``,
# ``calibrate``, ``usec_to_next_send`` and ``response_complete`` in ``wrk.c``; ``aeProcessEvents`` in ``ae.c``, giltene/wrk2
# 44a94c1).

CALIBRATION_S = 10.0
"""A thread calibrates itself for this long, and for `STAGGER_S` for each of its connections (CALIBRATE_DELAY_MS)."""
STAGGER_S = 0.005
"""A thread's connections begin this far apart."""
LOST_S = 1.0
"""If a thread's first timer is a millisecond late, its event loop sleeps until this long after its start first."""
SENT_LATE_S = 0.002
"""A request is sent at most this long after it was due, by a processor that is free."""


@dataclass(frozen=True)
class Plan:
    """The timetable of one ``wrk2`` command, in seconds from its start.

    rate: requests per second of all connections together (``-R``).
    seconds: duration of the test (``-d``), calibration included.
    connections, threads: connections, and the threads that share them (``-c``, ``-t``). wrk2 leaves out the rest of their
        division.
    """

    rate: float
    seconds: float
    connections: int = 10
    threads: int = 2

    @property
    def of_thread(self) -> int:
        """The number of connections of each thread."""
        return self.connections // self.threads

    @property
    def calibrated_s(self) -> float:
        """When the threads have calibrated themselves; latencies before that do not count."""
        return CALIBRATION_S + STAGGER_S * self.of_thread

    @property
    def interval_s(self) -> float:
        """The time between two requests of one connection."""
        return self.of_thread * self.threads / self.rate

    def starts(self, *, lost: bool = False) -> list[float]:
        """Return when the connections of one thread begin; ``lost``: if its event loop slept first, see `LOST_S`."""
        return [max(STAGGER_S * number, LOST_S if lost else 0.0) for number in range(self.of_thread)]

    def mean_start(self, losing: int = 0) -> float:
        """Return when the connections begin on average, if the event loops of so many threads slept first."""
        late, on_time = (sum(self.starts(lost=lost)) / self.of_thread for lost in (True, False))
        return (losing * late + (self.threads - losing) * on_time) / self.threads

    def most_requests(self, seconds: float) -> int:
        """Return how many requests are due in that time at most, if all connections begin at once, as in older versions."""
        return self.threads * self.of_thread * (int(seconds / self.interval_s + 1e-9) + 1)

    def started(self, requests: int, seconds: float, longest: float) -> float:
        """Return when the connections began on average, which wrk2 does not print.

        requests: requests that were answered.
        seconds: duration of the test.
        longest: the longest corrected latency.
        returns: of the starts that the plan knows (and 0, from older versions) the one nearest to what the numbers leave: at
            the end the connections are behind their plans by the longest latency at most, and by just that under an overload.
        """
        left = seconds - requests / self.rate + self.interval_s / 2 - longest  # each has half an interval to go on average
        known = (0.0, *map(self.mean_start, range(self.threads + 1)))
        return min(known, key=lambda start: (abs(start - left), start))


@dataclass(frozen=True)
class Stall:
    """A server on a link that answers after a round trip, but pauses once; times in seconds from the start of the test."""

    rtt: float
    after: float = math.inf
    seconds: float = 0.0

    def answer(self, sent: float) -> float:
        """Return when the answer to a request arrives."""
        there = sent + self.rtt / 2
        if self.after <= there < self.after + self.seconds:
            there = self.after + self.seconds
        return there + self.rtt / 2


def latencies(plan: Plan, server: Stall, *, sent_late: float) -> tuple[list[float], list[float]]:
    """Compute the latencies that wrk2 counts.

    plan: the command.
    server: the server, which answers all connections at the same time.
    sent_late: how long after it was due each request is sent: 0 to `SENT_LATE_S`, which bound what the rounding of timers does.
    returns: in seconds, in rising order: corrected, from when requests were due, and uncorrected, from when they were sent.
    """
    pairs = [pair for start in plan.starts() for pair in _connection(plan, start, server, sent_late)] * plan.threads
    return sorted(corrected for corrected, _ in pairs), sorted(uncorrected for _, uncorrected in pairs)


def percentile(rising: list[float], percent: float) -> float:
    """Return a percentile of values in rising order as HdrHistogram does: the smallest value that so many do not exceed."""
    return rising[max(1, min(len(rising), int(percent / 100 * len(rising) + 0.5))) - 1]


def _connection(plan: Plan, start: float, server: Stall, sent_late: float) -> Iterator[tuple[float, float]]:
    """Yield both latencies of each counted request of one connection."""
    now, done = start + server.rtt, 0
    since, before = 0.0, 0
    in_time = True
    while now < plan.seconds:
        due = start + done * plan.interval_s
        if due > now:
            now, in_time = due + sent_late, True
        if in_time:
            since, before, in_time = now, done, False
        at = since + (done - before) * plan.interval_s / 2
        sent = now if at <= now else at + sent_late
        now = server.answer(sent)
        if now >= plan.seconds:
            return
        if now >= plan.calibrated_s:
            yield now - due, now - sent
        done += 1


_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = rf"({DECIMAL})(us|ms|s|m|h)"
_LATENCY = re.compile(rf"^\s*Latency\s+{_TIME}\s+(?:{_TIME}|-nan\S*)\s+{_TIME}\s+\S+%?$", re.MULTILINE)
_NO_LATENCY = re.compile(r"^\s*Latency\s+-?nan", re.MULTILINE)
_REQUESTS = re.compile(rf"^\s*({WHOLE}) requests in {_TIME}, \S+ read$", re.MULTILINE)
_RATE = re.compile(rf"^Requests/sec:\s+({DECIMAL})$", re.MULTILINE)
_NON_2XX = re.compile(rf"^\s*Non-2xx or 3xx responses: ({WHOLE})$", re.MULTILINE)
_ERRORS = re.compile(
    rf"^\s*Socket errors: connect ({WHOLE}), read ({WHOLE}), write ({WHOLE}), timeout ({WHOLE})$", re.MULTILINE
)
_TITLE = re.compile(r"^\s*Latency Distribution(?: \(HdrHistogram - (Recorded|Uncorrected) Latency.*\))?\s*$")
_NEGATIVE = re.compile(r"about to crash and die|expected_latency_timing = -")
_CALIBRATED = re.compile(r"^\s*Thread calibration: ", re.MULTILINE)
_PERCENTILE = re.compile(rf"^\s*({DECIMAL})%\s+{_TIME}\s*$")
_STEP = re.compile(rf"^\s*({DECIMAL})\s+([01]\.{WHOLE})\s+({WHOLE})\s+(?:{DECIMAL}|inf)\s*$")
_MEAN = re.compile(rf"^\s*#\[Mean\s*=\s*({DECIMAL}), StdDeviation\s*=\s*({DECIMAL})\]\s*$")
_PARTS = re.compile(r"^\s*(-*|Detailed Percentile spectrum:|Value\s+Percentile\s+TotalCount\s.*|#\[Buckets\s*=.*)\s*$")
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}
_MAX = re.compile(rf"^\s*#\[Max\s*=\s*({DECIMAL}), Total count\s*=\s*({WHOLE})\]\s*$")


@dataclass
class Distribution:
    """One table of latencies, in seconds.

    percentiles: percentile to latency: ``{99.9: 0.12}``.
    spectrum: latency, fraction of requests up to it, and their number; wrk2 only.
    mean, sd, max: mean, standard deviation and maximum; wrk2 only.
    count: number of requests; wrk2 only.
    """

    percentiles: dict[float, float] = field(default_factory=dict)
    spectrum: list[tuple[float, float, int]] = field(default_factory=list)
    mean: float | None = None
    sd: float | None = None
    max: float | None = None
    count: int | None = None


@dataclass(frozen=True)
class Wrk(Metrics):
    """The results of ``wrk`` or ``wrk2``; times are in seconds.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    requests : int
        Requests that were answered.
    seconds : float
        Duration of the test.
    requests_per_s : float
        Answers per second.
    mean, sd, max : float
        Latency; ``sd`` is None if the program printed none.
    distribution : Distribution
        The main table of latencies: corrected for coordinated omission if the program is wrk2; empty if it printed none.
    uncorrected : Distribution or None
        The table of wrk2's ``-U``.
    non_2xx : int
        Responses other than 2xx and 3xx.
    errors : tuple of int
        Socket errors: connect, read, write, timeout. A request that counts as a timeout is measured nevertheless.
    plan : Plan or None
        What wrk2 was asked for, if the command is known; None for wrk.
    calibrated : bool
        Whether wrk2 counts latencies only from when it had calibrated itself.
    corrects : bool
        Whether the program is wrk2, whose main table is corrected for coordinated omission.
    """

    command: tuple[str, ...]
    raw: str
    requests: int
    seconds: float
    requests_per_s: float
    mean: float
    sd: float | None
    max: float
    distribution: Distribution
    uncorrected: Distribution | None
    non_2xx: int
    errors: tuple[int, int, int, int]
    plan: Plan | None = None
    calibrated: bool = False
    corrects: bool = False

    @property
    def rate(self) -> float | None:
        """Requests per second that wrk2 was asked for; None if the command is not known, and for wrk."""
        return self.plan.rate if self.plan else None

    def metrics(self) -> dict[str, Metric]:
        """Return ``answered_per_s`` and the latencies in seconds: wrk's ``uncorrected_...``, wrk2's ``corrected_...`` or both.

        For a wrk2 command also ``target_per_s``, the part of the test in which answers count for the latencies,
        ``counted_from_s`` to ``counted_to_s`` after the start, and ``started_s``: when the requests of all connections began to
        be due on average, see `slownet.tools.wrk.Plan.started`.
        """
        found = {"answered_per_s": single(self.requests_per_s, self.requests, 0.01)}
        if self.plan is not None:
            exact = {
                "target_per_s": self.plan.rate,
                "counted_from_s": self.plan.calibrated_s if self.calibrated else 0.0,
                "started_s": self.plan.started(self.requests, self.seconds, self.distribution.max or self.max),
            }
            found |= {name: metric(value, 0.0, self.requests) for name, value in exact.items()}
            found["counted_to_s"] = single(self.seconds, self.requests)
        found |= self._metrics("corrected" if self.corrects else "uncorrected", self.distribution)
        return found | self._metrics("uncorrected", self.uncorrected) if self.uncorrected else found

    def _metrics(self, kind: str, table: Distribution) -> dict[str, Metric]:
        n = table.count or self.requests
        mean, sd, most = (self.mean, self.sd, self.max) if table.mean is None else (table.mean, table.sd, table.max)
        middle, steps = f"{kind}_mean_s", [(value, count) for value, _, count in table.spectrum]
        found = {middle: metric(mean, sd, n, steps=steps), f"{kind}_max_s": printed(most or 0.0, n)}
        for percent, value in table.percentiles.items():
            if percent < 100:
                found[f"{kind}_p{percent:g}_s".replace(".", "_")] = printed(value, n, percent, middle)
        return found

    def facts(self) -> dict[str, object]:
        """Return the numbers of socket errors, and with wrk2 the latency spectra."""
        spectra = {
            "corrected_spectrum": self.distribution.spectrum,
            "uncorrected_spectrum": (self.uncorrected or Distribution()).spectrum,
        }
        return {"socket_errors": list(self.errors)} | {name: each for name, each in spectra.items() if each}


@tool(lasts=True)
def wrk(host: Host, url: str, *, seconds: float = 10.0, connections: int = 1, threads: int = 1, timeout: float = 3600.0) -> Wrk:
    """Load a page from a host with ``wrk``: each connection sends its next request as soon as the last one is answered.

    Parameters
    ----------
    host : Host
        The host that ``wrk`` runs on.
    url : str
        The page's URL.
    seconds : float
        How long to send requests.
    connections, threads : int
        Connections that are kept alive, each with one request in flight, and the threads that share them.
    timeout : float
        Seconds that the program may take beyond ``seconds``.

    Returns
    -------
    Wrk
        The results; times in seconds.

    Raises
    ------
    ToolError
        ``wrk`` is missing, cannot connect, or got responses other than 2xx and 3xx.
    """
    counts("wrk", seconds=seconds, connections=connections, threads=threads)  # wrk takes 0.5 for 0, and refuses it
    above_zero("wrk", timeout=timeout)
    argv = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds:g}s", "--latency", url]
    return _checked(parse(run(host, argv, timeout=seconds + timeout).stdout, argv), host)


@tool(lasts=True)
def wrk2(
    host: Host, url: str, *, rate: float, seconds: float = 10.0, connections: int = 1, threads: int = 1, timeout: float = 3600.0
) -> Wrk:
    """Load a page from a host with ``wrk2`` at a constant rate, and measure both latencies in the same test.

    Parameters
    ----------
    host : Host
        The host that ``wrk2`` runs on.
    url : str
        The page's URL.
    rate : float
        Requests per second of all connections together, rounded to a whole number.
    seconds : float
        How long to measure at least, after the calibration of 10 seconds and 5 ms for each connection of a thread, which counts
        in neither latency. Requests that are unanswered at the end count in neither latency, either.
    connections, threads, timeout
        As for `wrk`.

    Returns
    -------
    Wrk
        The results; latencies in seconds from when a request was due, and from when it was sent.

    Raises
    ------
    ToolError
        ``wrk2`` is missing, cannot connect, got responses other than 2xx and 3xx, or printed what cannot be.
    """
    counts("wrk2", connections=connections, threads=threads)
    above_zero("wrk2", rate=rate, seconds=seconds, timeout=timeout)
    plan = Plan(max(1, round(rate)), seconds, connections, threads)  # wrk2 takes whole numbers only
    lasts = math.ceil(plan.calibrated_s + seconds)
    argv = [
        load_generators.path("wrk2") or "wrk2",
        f"-t{threads}",
        f"-c{connections}",
        f"-d{lasts}s",
        f"-R{plan.rate:g}" if plan.rate < 1e6 else f"-R{int(plan.rate)}",
        "-L",
        "-U",
        url,
    ]
    return _checked(parse(run(host, argv, timeout=lasts + timeout).stdout, argv), host)


def _checked(record: Wrk, host: Host) -> Wrk:
    if record.non_2xx:
        what = f"{record.non_2xx} of {record.requests} responses are errors (Non-2xx or 3xx)"
        raise ToolError(what, f"host '{host.name}', {record.command[-1]}", raw=record.raw)
    return record


def parse(text: str, command: Sequence[str] = ("wrk",)) -> Wrk:
    """Parse the output of ``wrk`` or ``wrk2``, with any of its tables.

    text: the output.
    command: the command, for the record and for errors. If it has a rate, the program is wrk2, and its numbers are compared
        with what it was asked for.
    returns: the results.
    Raises ToolError: a line is missing or not understood, no request was answered or counted, or the numbers contradict each
    other or the command; ``.raw`` is the text.
    """

    def need(pattern: re.Pattern[str], what: str) -> re.Match[str]:
        return needed(pattern, text, f"wrk printed no {what}", command)

    if _NEGATIVE.search(text):
        raise complaint("wrk2 reports an answer before its request was due: its clock went backwards", text, command)
    requests = need(_REQUESTS, "number of requests")
    if not int(requests[1]):
        raise complaint("wrk received no answer", text, command)
    if _NO_LATENCY.search(text):
        raise complaint("wrk2 counted no latency: nothing was answered after its calibration", text, command)
    plan, seconds = _asked(command, text), _time(requests[2], requests[3])
    step = seconds / max(float(requests[2]), 1e-9) * 10.0 ** -len(requests[2].partition(".")[2])  # the time's last digit
    if plan and (wrong := _against(plan, text, int(requests[1]), seconds, step)):
        raise complaint(wrong, text, command)
    latency, tables, errors = need(_LATENCY, "latency"), _tables(text, command), _ERRORS.search(text)
    record = Wrk(
        command=tuple(command),
        raw=text,
        requests=int(requests[1]),
        seconds=seconds,
        requests_per_s=float(need(_RATE, "requests a second")[1]),
        mean=_time(latency[1], latency[2]),
        sd=_time(latency[3], latency[4]) if latency[3] else None,
        max=_time(latency[5], latency[6]),
        distribution=tables.get("Recorded") or tables.get("", Distribution()),
        uncorrected=tables.get("Uncorrected"),
        non_2xx=int(found[1]) if (found := _NON_2XX.search(text)) else 0,
        errors=(int(errors[1]), int(errors[2]), int(errors[3]), int(errors[4])) if errors else (0, 0, 0, 0),
        plan=plan,
        calibrated=_CALIBRATED.search(text) is not None,
        corrects=plan is not None or "Recorded" in tables or _CALIBRATED.search(text) is not None,
    )
    if wrong := _contradiction(record, step):
        raise complaint(wrong, text, command)
    return record


def _asked(command: Sequence[str], text: str) -> Plan | None:
    """Return the plan that a wrk2 command asks for; None if it has no rate. Raises ToolError."""
    long = (
        "connections=",
        "duration=",
        "threads=",
        "script=",
        "header=",
        "latency",
        "u_latency",
        "batch_latency",
        "timeout=",
        "rate=",
    )
    try:
        options, _ = gnu_getopt(list(command[1:]), "c:d:t:s:H:T:R:LUBv", long)
    except GetoptError:
        return None  # another program's options
    given = {name.lstrip("-")[0]: value for name, value in options if name != "--timeout"}
    if "R" not in given and "r" not in given:
        return None
    try:
        rate, threads, connections = (
            _whole(value) for value in (given.get("R") or given["r"], given.get("t", "2"), given.get("c", "10"))
        )
        seconds = _duration(given.get("d", "10"))
        if not (rate > 0 and seconds > 0 and connections >= threads > 0):
            raise ValueError
    except ValueError:
        raise complaint(
            "the command of wrk2 has a rate, a time or a number of connections that is not understood", text, command
        ) from None
    return Plan(rate, seconds, connections, threads)


def _whole(text: str) -> int:
    """Return a number that may end with k, M or G (``scan_metric``)."""
    digits = text.rstrip("kKmMgG")
    return int(digits) * _UNITS[text[len(digits) :].lower()] if len(text) - len(digits) <= 1 else int("")


def _duration(text: str) -> float:
    """Return seconds of a number that may end with s, m or h (``scan_time``)."""
    number = text.rstrip("smh")
    return int(number) * _SECONDS[text[len(number) :] or "s"] if len(text) - len(number) <= 1 else int("")


def _against(plan: Plan, text: str, requests: int, seconds: float, step: float) -> str:
    """Return which of its numbers wrk2 cannot have done what it was asked for; empty if it can."""
    if seconds + step < 0.99 * plan.seconds:
        late = "it begins to count late if its threads leave no processor to it; give it fewer threads"
        return f"wrk2 printed that a test of {plan.seconds:g} s took {seconds:.3g} s: {late}"
    if requests > (most := plan.most_requests(seconds + step)):
        return f"wrk2 printed {requests} requests, but at {plan.rate:g} a second only {most} are due in {seconds:.4g} s"
    threads = len(_CALIBRATED.findall(text))
    if threads not in (0, plan.threads):
        what = "the others' latencies count from the start"
        return (
            f"only {threads} of wrk2's {plan.threads} threads calibrated themselves: {what}; give more time, or fewer threads"
        )
    return ""


def _contradiction(record: Wrk, step: float) -> str:
    """Return which of wrk's numbers contradict each other; empty if none do. ``step``: the last digit of the time."""
    rate = record.requests / record.seconds if record.seconds else math.inf
    if not math.isclose(rate, record.requests_per_s, rel_tol=0.01 + step / max(record.seconds, 1e-9), abs_tol=0.01):
        return f"wrk printed {record.requests_per_s:g} requests a second, but {record.requests} in {record.seconds:g} s"
    for table in (record.distribution, record.uncorrected):
        times = [time for _, time in sorted(table.percentiles.items())] if table else []
        most = (table.max if table and table.max is not None else record.max) * 1.01 + 1e-5
        if times != sorted(times) or (times and times[-1] > most):
            return "wrk printed percentiles that do not rise to the longest latency"
    counts = {table.count for table in (record.distribution, record.uncorrected) if table and table.count is not None}
    if len(counts) > 1 or any(count > record.requests for count in counts):
        return f"wrk2 counted {' and '.join(map(str, sorted(counts)))} latencies of {record.requests} requests"
    return ""


def _tables(text: str, command: Sequence[str]) -> Mapping[str, Distribution]:
    """Return the latency tables by kind: "" for wrk, "Recorded" and "Uncorrected" for wrk2. Raises ToolError."""
    tables: dict[str, Distribution] = {}
    kind, table = "", Distribution()
    for line in text.splitlines():
        if title := _TITLE.match(line):
            kind, table = title[1] or "", Distribution()
            tables[kind] = table
        elif found := _PERCENTILE.match(line):
            table.percentiles[float(found[1])] = _time(found[2], found[3])
        elif found := _STEP.match(line):
            table.spectrum.append((round(float(found[1]) / 1000, 9), float(found[2]), int(found[3])))
        elif found := _MEAN.match(line):
            table.mean, table.sd = round(float(found[1]) / 1000, 9), round(float(found[2]) / 1000, 9)
        elif found := _MAX.match(line):
            table.max, table.count, kind = round(float(found[1]) / 1000, 9), int(found[2]), ""
        elif kind and _REQUESTS.match(line):
            break
        elif kind and not _PARTS.match(line):
            raise complaint(
                f"a line in wrk2's table of {kind.lower()} latencies is not understood: {line.strip()[:80]!r}", text, command
            )
    if cut := [kind for kind, table in tables.items() if kind and (table.mean is None or table.count is None)]:
        raise complaint(f"wrk2's table of {cut[0].lower()} latencies is not complete", text, command)
    return tables


def _time(number: str, unit: str) -> float:
    try:
        return round(float(number) * _SECONDS[unit], 9)
    except ValueError as error:
        raise ToolError(f"wrk printed the time {number}{unit}", fix="run it again: its output is damaged") from error
