"""``wrk``, which sends a request as soon as the last one is answered, and ``wrk2``, which sends at a constant rate.

The authors call both programs ``wrk``, and the output is nearly the same. wrk measures from when a request was sent, so it
omits the requests that it did not send while the server stalled. wrk2 (``-R``) measures from when a request was due, and with
``-U`` also prints the latency from when it was sent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from slownet.errors import ToolError
from slownet.lab import load_generators
from slownet.measured import Metrics
from slownet.tools.numbers import Metric, metric, printed, single
from slownet.tools.output import complaint, needed
from slownet.tools.process import Host
from slownet.tools.tool import run

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = r"([\d.]+)(us|ms|s|m|h)"
_LATENCY = re.compile(rf"^\s*Latency\s+{_TIME}\s+(?:{_TIME}|-nan\S*)\s+{_TIME}\s+\S+%?$", re.MULTILINE)
_REQUESTS = re.compile(rf"^\s*(\d+) requests in {_TIME}, \S+ read$", re.MULTILINE)
_RATE = re.compile(r"^Requests/sec:\s+([\d.]+)$", re.MULTILINE)
_NON_2XX = re.compile(r"^\s*Non-2xx or 3xx responses: (\d+)$", re.MULTILINE)
_ERRORS = re.compile(r"^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$", re.MULTILINE)
_TITLE = re.compile(r"^\s*Latency Distribution(?: \(HdrHistogram - (Recorded|Uncorrected) Latency.*\))?\s*$")
_PERCENTILE = re.compile(rf"^\s*([\d.]+)%\s+{_TIME}\s*$")
_STEP = re.compile(r"^\s*([\d.]+)\s+([01]\.\d+)\s+(\d+)\s+(?:[\d.]+|inf)\s*$")
_MEAN = re.compile(r"^\s*#\[Mean\s*=\s*([\d.]+), StdDeviation\s*=\s*([\d.]+)\]\s*$")
CALIBRATION_S = 10.0
"""wrk2 calibrates itself for this long, then empties its histograms (CALIBRATE_DELAY_MS)."""
_MAX = re.compile(r"^\s*#\[Max\s*=\s*([\d.]+), Total count\s*=\s*(\d+)\]\s*$")


@dataclass
class Distribution:
    """One table of latencies, in seconds.

    Attributes
    ----------
    percentiles : dict of float to float
        Percentile to latency: ``{99.9: 0.12}``.
    spectrum : list of (float, float, int)
        Latency, fraction of requests up to it, and their number; wrk2 only.
    mean, sd, max : float or None
        Mean, standard deviation and maximum; wrk2 only.
    count : int or None
        Number of requests; wrk2 only.
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
        The main table of latencies: corrected for coordinated omission if the program is wrk2.
    uncorrected : Distribution or None
        The table of wrk2's ``-U``.
    non_2xx : int
        Responses other than 2xx and 3xx.
    errors : tuple of int
        Socket errors: connect, read, write, timeout. A request that counts as a timeout is measured nevertheless.
    rate : float or None
        Requests per second that wrk2 was asked for.
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
    rate: float | None = None

    def metrics(self) -> dict[str, Metric]:
        """Return ``answered_per_s`` and the latencies in seconds: ``uncorrected_...``, and with wrk2 ``corrected_...``.

        With a rate also ``target_per_s``, and the part of the test in which answers count for the latencies:
        ``counted_from_s`` to ``counted_to_s`` after the start.
        """
        found = {"answered_per_s": single(self.requests_per_s, self.requests, 0.01)}
        if self.rate is not None:
            exact = {"target_per_s": self.rate, "counted_from_s": CALIBRATION_S}
            found |= {name: metric(value, 0.0, self.requests) for name, value in exact.items()}
            found["counted_to_s"] = single(self.seconds, self.requests)
        if self.uncorrected is None:
            return found | self._metrics("uncorrected", self.distribution)
        return found | self._metrics("corrected", self.distribution) | self._metrics("uncorrected", self.uncorrected)

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


def wrk(host: Host, url: str, *, seconds: float, connections: int = 1, threads: int = 1, timeout: float = 3600.0) -> Wrk:
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
    argv = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds:g}s", "--latency", url]
    return _checked(parse(run(host, argv, timeout=seconds + timeout).stdout, argv), host)


def wrk2(
    host: Host, url: str, *, rate: float, seconds: float, connections: int = 1, threads: int = 1, timeout: float = 3600.0
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
        How long to measure, after 10 seconds of calibration (`CALIBRATION_S`) that count in neither latency. Requests that
        are unanswered at the end count in neither latency, either.
    connections, threads, timeout
        As for `wrk`.

    Returns
    -------
    Wrk
        The results; latencies in seconds from when a request was due, and from when it was sent.

    Raises
    ------
    ToolError
        ``wrk2`` is missing, cannot connect, or got responses other than 2xx and 3xx.
    """
    lasts, asked = math.ceil(CALIBRATION_S + seconds), max(1, round(rate))  # wrk2 takes whole numbers only
    argv = [
        load_generators.path("wrk2") or "wrk2",
        f"-t{threads}",
        f"-c{connections}",
        f"-d{lasts}s",
        f"-R{asked}",
        "-L",
        "-U",
        url,
    ]
    record = parse(run(host, argv, timeout=lasts + timeout).stdout, argv)
    return _checked(replace(record, rate=float(asked)), host)


def _checked(record: Wrk, host: Host) -> Wrk:
    if record.non_2xx:
        what = f"{record.non_2xx} of {record.requests} responses are errors (Non-2xx or 3xx)"
        raise ToolError(what, f"host '{host.name}', {record.command[-1]}", raw=record.raw)
    return record


def parse(text: str, command: Sequence[str] = ("wrk",)) -> Wrk:
    """Parse the output of ``wrk --latency`` or ``wrk2 -L -U``.

    Parameters
    ----------
    text : str
        The output.
    command : sequence of str
        The command, for the record and for errors.

    Returns
    -------
    Wrk
        The results, without the rate.

    Raises
    ------
    ToolError
        A line is missing, or no request was answered; ``.raw`` is the text.
    """

    def need(pattern: re.Pattern[str], what: str) -> re.Match[str]:
        return needed(pattern, text, f"wrk printed no {what}", command)

    requests, latency = need(_REQUESTS, "number of requests"), need(_LATENCY, "latency")
    if not int(requests[1]):
        raise complaint("wrk got no answer", text, command)
    tables = _tables(text)
    errors = _ERRORS.search(text)
    return Wrk(
        command=tuple(command),
        raw=text,
        requests=int(requests[1]),
        seconds=_time(requests[2], requests[3]),
        requests_per_s=float(need(_RATE, "requests a second")[1]),
        mean=_time(latency[1], latency[2]),
        sd=_time(latency[3], latency[4]) if latency[3] else None,
        max=_time(latency[5], latency[6]),
        distribution=tables.get("Recorded") or tables.get("", Distribution()),
        uncorrected=tables.get("Uncorrected"),
        non_2xx=int(found[1]) if (found := _NON_2XX.search(text)) else 0,
        errors=(int(errors[1]), int(errors[2]), int(errors[3]), int(errors[4])) if errors else (0, 0, 0, 0),
    )


def _tables(text: str) -> Mapping[str, Distribution]:
    """Return the latency tables by kind: "" for wrk, "Recorded" and "Uncorrected" for wrk2."""
    tables: dict[str, Distribution] = {}
    table = Distribution()
    for line in text.splitlines():
        if title := _TITLE.match(line):
            table = tables.setdefault(title[1] or "", Distribution())
        elif found := _PERCENTILE.match(line):
            table.percentiles[float(found[1])] = _time(found[2], found[3])
        elif found := _STEP.match(line):
            table.spectrum.append((round(float(found[1]) / 1000, 9), float(found[2]), int(found[3])))
        elif found := _MEAN.match(line):
            table.mean, table.sd = round(float(found[1]) / 1000, 9), round(float(found[2]) / 1000, 9)
        elif found := _MAX.match(line):
            table.max, table.count = round(float(found[1]) / 1000, 9), int(found[2])
    return tables


def _time(number: str, unit: str) -> float:
    try:
        return round(float(number) * _SECONDS[unit], 9)
    except ValueError as error:
        raise ToolError(f"wrk printed the time {number}{unit}", fix="run it again: its output is damaged") from error
