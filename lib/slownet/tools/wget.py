"""``wget``: downloads one file once, as fast as the link and TCP allow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, above_zero
from slownet.net.output import DECIMAL, WHOLE, complaint, last_line, unread
from slownet.net.process import Host
from slownet.net.tool import Completed, run
from slownet.tools.numbers import Metric, metric, sample_sd
from slownet.tools.register import tool

MIB = 1 << 20
"""The unit that ``wget`` prints as M: its "13.5 MB/s" means 13.5 MiB/s."""
ROW_BYTES = 3 * MIB
"""One line of ``--progress=dot:mega``: 48 dots of 64 KiB."""
CLOCK_DIGITS = 4
"""Round to a tenth of a millisecond. Below that, times vary with how often programs read the clock, even if the CPU is free."""
_UNITS = {"": 1, "K": 1 << 10, "M": MIB, "G": 1 << 30}
_ROW = re.compile(rf"^ *\d+K [., ]+ (?: *\d+%)? +({DECIMAL})([KMG]?)[ =]")
_SAVED = re.compile(rf"^\S+ \S+ \(({DECIMAL}|--\.-) ([KMG]?)B/s\) - .* saved \[({WHOLE})(?:/({WHOLE}))?\]$", re.MULTILINE)
_ERROR = re.compile(r"^\S+ \S+ ERROR (\d+: .*?)\.?$", re.MULTILINE)
_FAILED = re.compile(r"^.*(?:failed: .*|unable to .*)$", re.MULTILINE)


@dataclass(frozen=True)
class Wget(Metrics):
    """The results of ``wget``.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    size : int
        Bytes saved.
    reported : float
        The rate that ``wget`` printed with three digits, in bytes per second.
    rows : tuple of float
        The rate of each 3 MiB (complete progress lines only), in bytes per second.
    seconds : float or None
        How long the program ran on the clock where it ran, including its start and the connection's; None if only a text was
        parsed.
    """

    command: tuple[str, ...]
    raw: str
    size: int
    reported: float
    rows: tuple[float, ...]
    seconds: float | None = None

    @property
    def rate(self) -> float:
        """Bytes per second over the whole download."""
        return self.size / self.seconds if self.seconds else self.reported

    def metrics(self) -> dict[str, Metric]:
        """Return ``mib_per_s``, ``seconds`` and ``peak_mib_per_s`` (the fastest 3 MiB).

        The deviation comes from the times of the 3 MiB parts (batch means; for the rate by the delta method). With fewer than
        two parts it is 0.
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
        """Return the file's size in bytes, and the rate that ``wget`` printed."""
        return {"bytes": self.size, "reported_mib_per_s": round(self.reported / MIB, 6)}


@tool()
def wget(host: Host, url: str, timeout: float = 100_000.0) -> Wget:
    """Download a file and discard it.

    Parameters
    ----------
    host : Host
        The host that ``wget`` runs on.
    url : str
        The file's URL.
    timeout : float
        Seconds for the whole download.

    Returns
    -------
    Wget
        Size in bytes, duration in seconds, rates in bytes per second.

    Raises
    ------
    ToolError
        ``wget`` is missing, gets no file or only part of it, takes longer than ``timeout``, or its output is not understood.
    """
    above_zero("wget", timeout=timeout)
    argv = ["wget", "--progress=dot:mega", "--tries=1", "--read-timeout=0", "-O", "/dev/null", url]
    done = run(host, argv, timeout=timeout, check=False)
    if done.status:
        raise ToolError(_why(done), f"host '{host.name}', {url}", raw=done.raw)
    return parse(done.stderr, done.argv, round(done.seconds, CLOCK_DIGITS))


def parse(text: str, command: Sequence[str] = ("wget",), seconds: float | None = None) -> Wget:
    """Parse what ``wget --progress=dot:mega`` writes to standard error in the C locale.

    text: the output.
    command: the command, for the record and for errors.
    seconds: how long the program ran.
    returns: the results.
    Raises ToolError: the last line is missing, or states that the file is incomplete; ``.raw`` is the text.
    """
    saved = _SAVED.search(text)
    if saved is None:
        raise unread("wget printed no line about the saved file", text, command)
    if saved[1] == "--.-" and not seconds:
        raise complaint("wget measured no duration", text, command)
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
