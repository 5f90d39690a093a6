"""``oha``, which sends requests at a constant rate and stores the times of each request in a database.

Its report has one latency only, the corrected one with ``--latency-correction``. The database gives both: it has three times
for each answered request, when it was due (when oha's timer fired for it), when it was sent and when it was answered.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from slownet.lab.host import owner
from slownet.lab.run import load_generators
from slownet.model.errors import ToolError
from slownet.net.output import complaint, document, figure, unread
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.constant_rate import ConstantRate
from slownet.tools.programs.load import Recording, Schedule
from slownet.tools.register import tool

_VERSION = re.compile(r"^oha (\d+)\.(\d+)\.(\d+)", re.MULTILINE)
NEW_OPTIONS = (1, 9, 0)
"""Since this version, --output-format json replaces -j, and a rate may have a fraction."""
_REQUESTS = "SELECT start_latency_correction, start, end, status FROM oha ORDER BY start"

Request = tuple[float | None, float, float, int]
"""When a request was due (None if unknown), sent and answered, in seconds after the start, and its HTTP status."""


@dataclass(frozen=True)
class Oha(ConstantRate):
    """The results of ``oha``.

    Attributes
    ----------
    version : str
        The version of oha.
    files : mapping of str to bytes
        The database, as ``"db"``.

    Notes
    -----
    All other attributes are those of `ConstantRate`.
    """

    version: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def facts(self) -> dict[str, object]:
        """Return the facts of `ConstantRate`, and oha's version."""
        return {**super().facts(), "version": self.version}


@tool(lasts=True)
def oha(host: Host, url: str, *, rate: float, seconds: float = 10.0, connections: int = 1, timeout: float = 3600.0) -> Oha:
    """Load a page from a host at a constant rate with ``oha``, until every request is answered.

    Parameters
    ----------
    host, url, rate, seconds, connections
        As for `constant_rate`. Versions before 1.9 take whole rates only: the rate is rounded.
    timeout : float
        Seconds that the program may take after the last request is due.

    Returns
    -------
    Oha
        Both latencies in seconds, and how many requests were planned, answered and failed.

    Raises
    ------
    ToolError
        ``oha`` is missing or takes too long, no request succeeded, or the output is not understood.
    SlownetError
        A number is not above 0, or there are too many connections.
    """
    Schedule(rate, seconds, connections)  # raises early if the load is impossible
    program = load_generators.path("oha") or "oha"
    version = _version(host, program)
    if version < NEW_OPTIONS:
        rate = float(max(1, round(rate)))
    planned = Schedule(rate, seconds, connections).count
    printing = ["-j"] if version < NEW_OPTIONS else ["--output-format", "json"]
    with owner.temporary("oha") as folder:
        database = Path(folder) / "requests.db"
        argv = [
            program, "--no-tui", *printing, "-n", str(planned), "-c", str(connections), "-q", _number(rate),
            "--latency-correction", "--db-url", str(database), url,
        ]  # fmt: skip
        text = run(host, argv, timeout=seconds + timeout).stdout
        result = parse(text, requests(database), argv, rate=rate, planned=planned)
        result = replace(result, version=".".join(map(str, version)), files={"db": database.read_bytes()})
    if not result.answered:
        raise ToolError(f"none of the {planned} requests succeeded", f"host '{host.name}', {url}", raw=text)
    return result


def requests(database: Path) -> list[Request]:
    """Read the requests from a database that oha wrote.

    database: the SQLite file.
    returns: the requests in the order they were sent.
    Raises ToolError: the file is not such a database.
    """
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            found = [tuple(row) for row in connection.execute(_REQUESTS)]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ToolError(f"oha's database is not understood: {error}", fix="oha 1.4.6 and later has --db-url") from None
    if odd := [row for row in found if not all(isinstance(each, int | float) for each in (*row[1:], row[0] or 0))]:
        raise ToolError(f"oha's database is not understood: a request with {odd[0]}", fix="run it again: it is damaged")
    return found


def parse(
    text: str, requests: Sequence[Request], command: Sequence[str] = ("oha",), *, rate: float = 0.0, planned: int = 0
) -> Oha:
    """Parse oha's JSON, together with the requests from its database.

    text: the JSON.
    requests: the answered requests.
    command: the command, for the record and for errors.
    rate: requests per second that were due.
    planned: how many requests were due.
    returns: the results, without version and files.
    Raises ToolError: the text is not JSON, or a number is missing; ``.raw`` is the text.
    """
    try:
        report = document(text)
        seconds = float(figure(report["summary"]["total"], "summary.total"))
        broken = sum(int(figure(each, "errorDistribution")) for each in report["errorDistribution"].values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise unread(f"oha's report is not understood ({error!r})", text, command) from None
    if not seconds:
        raise complaint("oha's test took 0 s", text, command)
    if backwards := [row for row in requests if not (row[1] if row[0] is None else row[0]) <= row[1] <= row[2]]:
        raise complaint(f"oha answered before it had sent, or sent before it was due: {backwards[0]}", text, command)
    recording = Recording()
    for due, sent, done, status in requests:
        if 200 <= status < 300:
            recording.answered(due, sent, done)
    answered = recording.uncorrected.get_total_count()
    failed = broken + len(requests) - answered
    return Oha(
        tuple(command), text, rate, planned, answered, failed, max(0, planned - answered - failed), seconds,
        **recording.to_json(), batches=tuple(recording.batches(seconds)),
    )  # fmt: skip


def _version(host: Host, program: str) -> tuple[int, ...]:
    output = run(host, [program, "--version"], timeout=60).stdout
    found = _VERSION.search(output)
    if not found:
        raise unread("oha printed no version", output, [program, "--version"])
    return tuple(map(int, found.groups()))


def _number(rate: float) -> str:
    return f"{rate:.3f}".rstrip("0").rstrip(".")
