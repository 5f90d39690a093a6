"""``wget``: one file, fetched once, as fast as the link and TCP allow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.errors import ToolError
from slownet.measured import Metrics
from slownet.tools.numbers import Metric, metric, sample_sd
from slownet.tools.output import complaint, last_line, unread
from slownet.tools.process import Host
from slownet.tools.tool import Completed, run

MIB = 1 << 20
"""What ``wget`` means by an M: its "13.5 MB/s" are 13.5 MiB/s."""
ROW_BYTES = 3 * MIB
"""A line of ``--progress=dot:mega``: 48 dots of 64 KiB."""
CLOCK_DIGITS = 4
"""A tenth of a millisecond: how often programs read the clock, and what that costs where the CPU is free, varies below."""
_UNITS = {"": 1, "K": 1 << 10, "M": MIB, "G": 1 << 30}
_ROW = re.compile(r"^ *\d+K [., ]+ (?: *\d+%)? +([\d.]+)([KMG]?)[ =]")
_SAVED = re.compile(r"^\S+ \S+ \(([\d.]+|--\.-) ([KMG]?)B/s\) - .* saved \[(\d+)(?:/(\d+))?\]$", re.MULTILINE)
_ERROR = re.compile(r"^\S+ \S+ ERROR (\d+: .*?)\.?$", re.MULTILINE)
_FAILED = re.compile(r"^.*(?:failed: .*|unable to .*)$", re.MULTILINE)


@dataclass(frozen=True)
class Wget(Metrics):
    """What ``wget`` printed, and the ``seconds`` that it took on the clock of where it ran.

    ``reported`` is the rate in ``wget``'s own three digits, ``rows`` the rates of each 3 MiB (of whole lines); all in bytes
    a second. ``seconds`` includes the program's start and the connection's, None when a text was parsed alone.
    """

    command: tuple[str, ...]
    raw: str
    size: int
    reported: float
    rows: tuple[float, ...]
    seconds: float | None = None

    @property
    def rate(self) -> float:
        """Bytes a second over all of it."""
        return self.size / self.seconds if self.seconds else self.reported

    def metrics(self) -> dict[str, Metric]:
        """``mib_per_s``, ``seconds`` and ``peak_mib_per_s`` (the fastest 3 MiB).

        The deviation is that of the time for each 3 MiB (batch means; for the rate by the delta method). One row or none
        says nothing about it.
        """
        count = len(self.rows)
        times = [ROW_BYTES / row for row in self.rows]
        relative = sample_sd(times) * count / sum(times) if count > 1 else 0.0
        n = max(1, count)
        found = {"mib_per_s": metric(self.rate / MIB, self.rate / MIB * relative, n)}
        taken = self.size / self.rate
        found["seconds"] = metric(taken, taken * relative, n)
        if self.rows:
            found["peak_mib_per_s"] = metric(max(self.rows) / MIB, 0.0, 1)
        return found

    def facts(self) -> dict[str, float]:
        """What belongs beside the numbers in a record."""
        return {"bytes": self.size, "reported_mib_per_s": round(self.reported / MIB, 6)}


def wget(host: Host, url: str, timeout: float = 100_000.0) -> Wget:
    """Fetches a file and throws it away.

    Parameters
    ----------
    host
        Where ``wget`` runs.
    url
        The file's address.
    timeout
        Seconds for all of it.

    Returns
    -------
    Wget
        What it printed, and the seconds that it took; rates in bytes a second.

    Raises
    ------
    ToolError
        ``wget`` is missing, gets no file or not all of it, takes longer than ``timeout`` seconds, or prints what the
        parser does not know.
    """
    argv = ["wget", "--progress=dot:mega", "--tries=1", "--read-timeout=0", "-O", "/dev/null", url]
    done = run(host, argv, timeout=timeout, check=False)
    if done.status:
        raise ToolError(_why(done), f"host '{host.name}', {url}", raw=done.raw)
    return parse(done.stderr, done.argv, round(done.seconds, CLOCK_DIGITS))


def parse(text: str, command: Sequence[str] = ("wget",), seconds: float | None = None) -> Wget:
    """Reads what ``wget --progress=dot:mega`` writes to standard error in the C locale.

    Raises
    ------
    ToolError
        The last line is missing, or says that the file is not whole; ``.raw`` is the text.
    """
    saved = _SAVED.search(text)
    if saved is None:
        raise unread("wget does not say that it saved the file", text, command)
    if saved[1] == "--.-" and not seconds:
        raise complaint("wget took no time that it could measure", text, command)
    size = int(saved[3])
    if saved[4] and int(saved[4]) != size:
        raise complaint(f"wget saved {size} of {saved[4]} bytes", text, command)
    reported = size / seconds if saved[1] == "--.-" and seconds else float(saved[1]) * _UNITS[saved[2]]
    rows = [float(row[1]) * _UNITS[row[2]] for line in text.splitlines() if (row := _ROW.match(line))]
    return Wget(tuple(command), text, size, reported, tuple(row for row in rows[: size // ROW_BYTES] if row), seconds)


def _why(done: Completed) -> str:
    for pattern in (_ERROR, _FAILED):
        if found := pattern.search(done.stderr):
            return f"wget ended with status {done.status}: {(found[1] if pattern is _ERROR else found[0]).strip()}"
    return f"wget ended with status {done.status}: {last_line(done.raw, 'it printed nothing').strip()}"
