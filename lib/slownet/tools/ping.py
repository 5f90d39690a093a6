"""``ping``: the round-trip time of a link, which the articles' authors verified in the same way."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, counts, numeric
from slownet.tools.numbers import Metric, metric, series
from slownet.tools.output import complaint, unread
from slownet.tools.process import Host
from slownet.tools.tool import run, why

_REPLY = re.compile(r"^(?:\[\d+\.\d+\] )?\d+ bytes from .*icmp_seq=(\d{1,9}) .*time=([\d.]+) ms(.*)$")
"""A line for a reply, with the time of day if ``-D`` asks for it."""
_UNCOUNTED = ("DUP!", "BAD CHECKSUM!")
_COUNTS = re.compile(r"^(\d{1,9}) packets transmitted, (\d{1,9}) received,(.*?) ([\d.]+)% packet loss\b")
_NOTHING_SENT = re.compile(r"^0 packets transmitted, 0 received\b", re.MULTILINE)
_COMMAS = re.compile(r"= \d+,\d+/\d+,\d+/")
_OTHER_PING = re.compile(r"^round-trip (min/avg/max)|\bpackets received\b", re.MULTILINE)
_RTT = re.compile(r"^rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms")
_EXTRA = re.compile(r"\+(\d{1,9}) (errors|duplicates|corrupted)")


@dataclass(frozen=True)
class Rtt:
    """The last line of ``ping``, in ms; ``mdev`` is the population standard deviation."""

    min: float
    avg: float
    max: float
    mdev: float


@dataclass(frozen=True)
class Reply:
    """One reply: its sequence number and its round-trip time in ms (``ping`` prints three digits)."""

    sequence: int
    ms: float


@dataclass(frozen=True)
class Ping(Metrics):
    """The results of ``ping``.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    sent, received, errors, duplicates : int
        Numbers of packets.
    rtt_ms : Rtt or None
        Round-trip times in ms; None if there was no reply.
    replies : tuple of Reply
        Each reply, without duplicates.
    """

    command: tuple[str, ...]
    raw: str
    sent: int
    received: int
    errors: int
    duplicates: int
    rtt_ms: Rtt | None
    replies: tuple[Reply, ...]

    @property
    def loss(self) -> float:
        """The fraction of packets without a reply, 0 to 1."""
        return 1 - self.received / self.sent if self.sent else 0.0

    @property
    def problem(self) -> str:
        """Why this result does not measure a round trip; empty if it does."""
        if self.rtt_ms is not None:
            return ""
        seen = [line for line in self.raw.splitlines() if line.startswith("From ")]
        return f"none of {self.sent} pings was answered" + (f" ({seen[-1]})" if seen else "")

    def metrics(self) -> dict[str, Metric]:
        """Return ``rtt_ms`` over the replies, in order, and ``loss`` over the packets sent."""
        metrics = {}
        if self.rtt_ms is not None:  # first, because that is what a run is about where nothing else is stated
            sd, times = _sample_sd(self.rtt_ms.mdev, self.received), [reply.ms for reply in self.replies]
            if self.duplicates and len(times) == self.received:  # ping's own summary counts duplicates, too
                metrics["rtt_ms"] = series(times)
            else:
                metrics["rtt_ms"] = metric(self.rtt_ms.avg, sd, self.received, times, ordered=True)
        sd = _sample_sd(math.sqrt(self.loss * (1 - self.loss)), self.sent)
        return metrics | {"loss": metric(self.loss, sd, self.sent)}


def ping(
    host: Host,
    address: str,
    count: int = 5,
    interval: float = 0.2,
    timeout: float | None = None,
    check: bool = True,
) -> Ping:
    """Ping an address from a host.

    Parameters
    ----------
    host : Host
        The host that ``ping`` runs on.
    address : str
        The IPv4 address, or a name that the host resolves.
    count : int
        The number of packets.
    interval : float
        Seconds between two packets.
    timeout : float, optional
        Seconds for the whole test; by default derived from ``count`` and ``interval``.
    check : bool
        Whether it is an error if no packet is answered. Single lost packets are not: a link may be set to lose some.

    Returns
    -------
    Ping
        Round-trip times in ms, and each reply.

    Raises
    ------
    ToolError
        The address is unknown or unreachable, nothing answers, or the output is not understood.
    """
    counts("ping", count=count)
    numeric("ping", interval=interval, timeout=0 if timeout is None else timeout)
    argv = ["ping", "-n", "-c", str(count), "-i", f"{interval:g}", address]
    seconds = count * interval + 60 if timeout is None else timeout
    done = run(host, argv, timeout=seconds, check=False)
    if done.status > 1:  # 1 means that replies are missing
        raise ToolError(why(done), f"host '{host.name}'", raw=done.raw)
    result = parse(done.raw, done.argv)
    if check and result.problem:
        raise ToolError(result.problem, f"from host '{host.name}' to {address}", raw=result.raw)
    return result


def parse(text: str, command: Sequence[str] = ("ping",)) -> Ping:
    """Parse the output of iputils' ``ping`` in the C locale.

    Parameters
    ----------
    text : str
        The output.
    command : sequence of str
        The command, for the record and for errors.

    Returns
    -------
    Ping
        The results.

    Raises
    ------
    ToolError
        The summary is missing or contradicts itself; ``.raw`` is the text.
    """
    replies: list[Reply] = []
    counts: re.Match[str] | None = None
    rtt: Rtt | None = None
    for line in text.splitlines():
        if (reply := _REPLY.match(line)) and not any(mark in reply[3] for mark in _UNCOUNTED):
            replies.append(Reply(int(reply[1]), _number(reply[2], line, text)))
        elif found := _COUNTS.match(line):
            if counts:
                raise complaint("ping printed two summaries", text, command)
            counts = found
        elif summary := _RTT.match(line):
            rtt = Rtt(*(_number(part, line, text) for part in summary.groups()))
    if counts is None:
        raise _no_summary(text, command)
    extra = {kind: int(number) for number, kind in _EXTRA.findall(counts[3])}
    sent, received = int(counts[1]), int(counts[2])
    if rtt is None and received and not replies and not _COMMAS.search(text):
        raise complaint("ping measured no round trips: its packets are too small to hold a time (-s 16 or more)", text, command)
    if _COMMAS.search(text):
        raise _no_summary(text, command)
    lost = 100 * (1 - received / sent) if sent else 0.0
    if (
        (rtt is None) != (received == 0)
        or max(received, len(replies)) > sent
        or len(replies) > received
        or abs(lost - _number(counts[4], counts[0], text)) > 1
        or (rtt is not None and not rtt.min <= rtt.avg <= rtt.max)
    ):
        raise complaint(f"ping contradicts itself: {counts[0]!r}", text, command)
    return Ping(
        tuple(command),
        text,
        sent,
        received,
        extra.get("errors", 0),
        extra.get("duplicates", 0),
        rtt,
        tuple(replies),
    )


def _no_summary(text: str, command: Sequence[str]) -> ToolError:
    """Return the error for an output without a summary, which says why if that can be seen."""
    if _COMMAS.search(text):
        return complaint("ping printed numbers with commas: run it in the C locale (LC_ALL=C)", text, command)
    if _OTHER_PING.search(text):
        return complaint("this is the output of another ping than iputils'; install iputils-ping", text, command)
    if _NOTHING_SENT.search(text):
        return complaint("ping sent no packet", text, command)
    return unread("ping printed no summary", text, command)


def _number(text: str, line: str, raw: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ToolError(f"ping printed a line that is not understood: {line!r}", raw=raw) from None


def _sample_sd(population_sd: float, n: int) -> float:
    return population_sd * math.sqrt(n / (n - 1)) if n > 1 else 0.0
