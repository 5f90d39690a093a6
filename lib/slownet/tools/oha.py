"""``oha``, which asks at a constant rate and tells both latencies of the same run: of each request in a database.

What it prints has one latency only, the corrected one where it is asked to correct. Its database has three times of each
answered request: when it was due (as its clock woke for it), when it was sent and when it was answered.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.errors import ToolError
from slownet.lab import load_generators
from slownet.programs.load import Recording, Schedule
from slownet.tools.constant_rate import ConstantRate
from slownet.tools.output import unread
from slownet.tools.process import Host
from slownet.tools.tool import run

_VERSION = re.compile(r"^oha (\d+)\.(\d+)\.(\d+)", re.MULTILINE)
NEW_OPTIONS = (1, 9, 0)
"""Since this version it is --output-format json instead of -j, and a rate may have a fraction."""
_REQUESTS = "SELECT start_latency_correction, start, end, status FROM oha ORDER BY start"

Request = tuple[float | None, float, float, int]
"""When a request was due (None: not told), sent and answered, in seconds after the start, and its status."""


@dataclass(frozen=True)
class Oha(ConstantRate):
    """What came of the load, as `ConstantRate`. ``files`` holds oha's database."""

    version: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def facts(self) -> dict[str, Any]:
        """Those of a constant rate, with oha's version."""
        return {**super().facts(), "version": self.version}


def oha(host: Host, url: str, *, rate: float, seconds: float, connections: int = 1, timeout: float = 3600.0) -> Oha:
    """Loads a page at a constant rate, as `constant_rate` does, until every request is answered.

    Parameters
    ----------
    host, url, rate, seconds, connections
        As in `constant_rate`.
    timeout
        Seconds after the last request was due.

    Returns
    -------
    Oha
        Both latencies in seconds, and how many requests were planned, answered and failed.

    Raises
    ------
    ToolError
        oha is missing, takes longer than ``timeout`` after the last request was due, or nothing was answered well.
    SlownetError
        No such load can be sent.
    """
    Schedule(rate, seconds, connections)  # a mistake is said here
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
        raise ToolError(f"none of {planned} requests was answered well", f"host '{host.name}', {url}", raw=text)
    return result


def requests(database: Path) -> list[Request]:
    """The requests of a database of oha's, in the order in which they were sent. Raises ToolError."""
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            return [tuple(row) for row in connection.execute(_REQUESTS)]
    except sqlite3.Error as error:
        raise ToolError(f"oha's database is not understood: {error}", fix="oha 1.4.6 and later has --db-url") from None


def parse(
    text: str, requests: Sequence[Request], command: Sequence[str] = ("oha",), *, rate: float = 0.0, planned: int = 0
) -> Oha:
    """Reads oha's JSON, with the requests of its database.

    rate: of the requests that were due, a second; planned: how many they are. Raises ToolError.
    """
    try:
        told = json.loads(text)
        seconds = float(told["summary"]["total"])
        broken = sum(map(int, told["errorDistribution"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise unread(f"oha's report is not understood ({error!r})", text, command) from None
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
    said = run(host, [program, "--version"], timeout=60).stdout
    found = _VERSION.search(said)
    if not found:
        raise unread("oha says no version", said, [program, "--version"])
    return tuple(map(int, found.groups()))


def _number(rate: float) -> str:
    return f"{rate:.3f}".rstrip("0").rstrip(".")
