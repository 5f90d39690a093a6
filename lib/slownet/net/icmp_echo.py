"""Echo requests from a host, sent by iputils' ``ping``: how a link is verified. `slownet.tools.ping` makes metrics of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.model.errors import ToolError
from slownet.net.output import complaint, unread
from slownet.net.process import Host
from slownet.net.tool import run, why

_REPLY = re.compile(r"^(?:\[\d+\.\d+\] )?\d+ bytes from .*icmp_seq=(\d{1,9}) .*time=([\d.]+) ms(.*)$")
"""A line for a reply, with the time of day if ``-D`` asks for it."""
_UNCOUNTED = ("DUP!", "BAD CHECKSUM!")
_COUNTS = re.compile(r"^(\d{1,9}) packets transmitted, (\d{1,9}) received,(.*?) ([\d.]+)% packet loss\b")
_NOTHING_SENT = re.compile(r"^0 packets transmitted, 0 received\b", re.MULTILINE)
_COMMAS = re.compile(r"= \d+,\d+/\d+,\d+/")
_OTHER_PING = re.compile(r"^round-trip (min/avg/max)|\bpackets received\b", re.MULTILINE)
_RTT = re.compile(r"^rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms")
_LASTED = re.compile(r", time (\d{1,12})ms\b")
_ASKED = "-i"
PACED = 0.05
"""The fraction of the configured interval from which a longer one is not a matter of rounding."""
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
class Echoes:
    """Echo requests and their answers, as ``ping`` printed them.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    sent, received, errors, duplicates : int
        Numbers of packets.
    rtt_ms : Rtt or None
        Round-trip times in ms; None without a reply.
    replies : tuple of Reply
        Each reply, without duplicates.
    lasted_ms : int or None
        From the first packet to the last, as ``ping`` printed it; None if it did not.
    """

    command: tuple[str, ...]
    raw: str
    sent: int
    received: int
    errors: int
    duplicates: int
    rtt_ms: Rtt | None
    replies: tuple[Reply, ...]
    lasted_ms: int | None = None

    @property
    def every_ms(self) -> float | None:
        """The mean time in ms between two packets; None if it is not known."""
        return None if self.lasted_ms is None or self.sent < 2 else self.lasted_ms / (self.sent - 1)

    @property
    def asked_ms(self) -> float | None:
        """The time between two packets that the command states, in ms; None if it states none."""
        words = self.command
        return 1000 * float(words[words.index(_ASKED) + 1]) if _ASKED in words else None

    @property
    def is_paced(self) -> bool:
        """True if ``ping`` sent more slowly than configured: it waits up to 10 ms for a reply that is on its way."""
        every, asked = self.every_ms, self.asked_ms
        return every is not None and asked is not None and every > (1 + PACED) * asked + 1 / (self.sent - 1)

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


def echo(host: Host, address: str, count: int, interval: float, timeout: float | None = None) -> Echoes:
    """Send ``count`` echo requests every ``interval`` seconds, as far as ping does (see `Echoes.is_paced`).

    Unanswered ones are not errors.

    timeout: seconds for all of them; by default derived from ``count`` and ``interval``. Raises ToolError if the address is
    unknown or unreachable, or the output is not understood.
    """
    argv = ["ping", "-n", "-c", str(count), _ASKED, f"{interval:g}", address]
    seconds = count * interval + 60 if timeout is None else timeout
    done = run(host, argv, timeout=seconds, check=False)
    if done.status > 1:  # 1 means that replies are missing
        raise ToolError(why(done), f"host '{host.name}'", raw=done.raw)
    return parse(done.raw, done.argv)


def parse(text: str, command: Sequence[str] = ("ping",)) -> Echoes:
    """Parse the output of iputils' ``ping`` in the C locale.

    text: the output.
    command: the command, for the record and for errors.
    returns: the results.
    Raises ToolError: the summary is missing or contradicts itself; ``.raw`` is the text.
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
    return Echoes(
        tuple(command),
        text,
        sent,
        received,
        extra.get("errors", 0),
        extra.get("duplicates", 0),
        rtt,
        tuple(replies),
        int(lasted[1]) if (lasted := _LASTED.search(counts.string)) else None,
    )


def _no_summary(text: str, command: Sequence[str]) -> ToolError:
    """Return the error for an output without a summary, which explains why if that can be seen."""
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
