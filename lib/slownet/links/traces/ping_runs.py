"""Parser of ping's output, line by line: of iputils, busybox, BSD and macOS, of Windows, and of fping.

A log may hold several runs, one after another: each begins with its program's first line, or with the first answer after a
summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from slownet.model.errors import TraceError

Line = tuple[int, str]
HOW = "make the log with LC_ALL=C ping -D HOST"
WRAP = 1 << 16  # sequence numbers have 16 bits


@dataclass(frozen=True)
class Run:
    """One run of ping.

    ``answers``: by the number of each answered ping its round trip, and the clock when the answer came if known, both in
    seconds; ``numbers``: those of all pings; ``pace``: the seconds between two, if known.
    """

    answers: Mapping[int, tuple[float, float | None]]
    numbers: range
    pace: float | None = None

    def times(self) -> tuple[float | None, list[float]]:
        """Return the clock when the first ping left, if known, and the seconds after it of every ping.

        Unanswered ones are spaced evenly between their neighbours.
        """
        sent = {number: clock - rtt for number, (rtt, clock) in self.answers.items() if clock is not None}
        first = self.numbers[0]
        if len(sent) < 2:
            pace = self.pace or 1.0
            start = next((clock - (number - first) * pace for number, clock in sent.items()), None)
            return start, [(number - first) * pace for number in self.numbers]
        known = sorted(sent)
        step = median((sent[after] - sent[before]) / (after - before) for before, after in pairwise(known))
        start = sent[known[0]] - (known[0] - first) * step
        return start, [at - start for at in self._between(sent, known, step)]

    def _between(self, sent: Mapping[int, float], known: list[int], step: float) -> Iterator[float]:
        place = 0
        for number in self.numbers:
            while place + 1 < len(known) and known[place + 1] <= number:
                place += 1
            before = known[place]
            after = known[place + 1] if place + 1 < len(known) and before <= number else None
            pace = step if after is None else (sent[after] - sent[before]) / (after - before)
            yield sent[before] + (number - before) * pace


@dataclass
class _Lines:
    """A run while its lines are read."""

    answers: dict[int, tuple[float, float | None]] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    sent: int = 0
    pace: float | None = None
    ended: bool = False

    def add(self, number: int, rtt: float | None = None, clock: float | None = None) -> None:
        """Record a ping by its number of 16 bits; a second answer is a duplicate."""
        if self.numbers:  # of the full numbers the one nearest to the number before it
            number += WRAP * round((self.numbers[-1] - number) / WRAP)
        self.numbers.append(number)
        if rtt is not None:
            self.answers.setdefault(number, (rtt, clock))

    def run(self) -> Run | None:
        if not self.numbers:
            return Run({}, range(1, 1 + self.sent), self.pace) if self.sent else None
        # iputils counts from 1, busybox, BSD and fping from 0
        first = min(self.numbers) if min(self.numbers) == 0 or not self.sent else 1
        return Run(self.answers, range(first, max(max(self.numbers), first + self.sent - 1) + 1), self.pace)


def _lines(text: str) -> Iterator[Line]:
    return ((number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1))


# An answer, and other lines with a sequence number. -D of iputils and --apple-time of macOS put the time in front.
_CLOCK = r"(?:\[(?P<clock>\d{1,15}\.\d{1,15})\] )?(?:\d\d:\d\d:\d\d\.\d+ )?"
_SEQ = r"(?:icmp_)?seq[= ](?P<number>\d{1,9})\b"
_ANSWER = re.compile(_CLOCK + r"\d+ bytes from .*\b" + _SEQ + r".*\btime[=<](?P<ms>\d{1,15}(?:\.\d{1,15})?) ms\b.*")
_NUMBERED = re.compile(_CLOCK + r"(?:no answer yet for|Request timeout for|From .*) " + _SEQ + ".*")
_SENT = re.compile(r"(?P<sent>\d{1,9}) packets transmitted, \d+ (?:packets )?received.*?(?:, time (?P<ms>\d{1,15})ms)?")
_HEADER = re.compile(r"PING6?[ (].*")
_OTHER = re.compile(
    r"--- .* ---|(?:rtt|round-trip) min/avg/max.*|ping6?: .*|From .*|pipe \d+|\s*|\^C.*"
    # BSD's and macOS's report of an error that a router sent, and of the packet that it is about
    r"|\d+ bytes from \S+(?: \(\S+\))?: (?![\w.]*seq).*|Vr HL TOS .*|\s*\d+ +\d+ +[0-9a-f]{2} .*"
)


def of_ping(text: str, where: str) -> list[Run]:
    """Read the output of ping in the C locale; its last lines may be missing. Raises TraceError, with the line."""
    runs = [_Lines()]
    for place, line in _lines(text):
        if _HEADER.fullmatch(line) or (runs[-1].ended and (_ANSWER.fullmatch(line) or _NUMBERED.fullmatch(line))):
            runs.append(_Lines())
        now = runs[-1]
        if found := _ANSWER.fullmatch(line) or _NUMBERED.fullmatch(line):
            parts = found.groupdict()
            clock = float(parts["clock"]) if parts["clock"] else None
            now.add(int(parts["number"]), float(parts["ms"]) / 1000 if "ms" in parts else None, clock)
        elif found := _SENT.fullmatch(line):
            now.sent, now.ended = int(found["sent"]), True
            now.pace = int(found["ms"]) / 1000 / (now.sent - 1) if found["ms"] and now.sent > 1 else None
        elif not _OTHER.fullmatch(line) and not _HEADER.fullmatch(line):
            raise TraceError(f"'{line[:60]}' is not a line of ping's", f"{where} line {place}", HOW)
    return _kept(runs)


def _kept(runs: Iterable[_Lines]) -> list[Run]:
    return [run for run in (each.run() for each in runs) if run]


# Windows prints its language, so lines are known by their numbers: `Reply from 192.0.2.1: bytes=32 time<1ms TTL=57`, in IPv6
# `Reply from 2001:db8::1: time=9ms`, first of all `Pinging example.org [192.0.2.1] with 32 bytes of data:`.
_ADDRESS = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+(?:%\w+)?)"
_COLON = r"[:\uff1a]"
_WINDOWS: Mapping[str, re.Pattern[str]] = {
    "answer": re.compile(rf".*{_ADDRESS} ?{_COLON}(?: ?\S+ ?=\d+)?\s+\S+?\s?[=<](?P<ms>\d{{1,9}}) ?\S{{1,3}}(?: TTL=\d+)?"),
    "counts": re.compile(rf"\s*\S[^=]*{_COLON}\D*= ?(?P<sent>\d{{1,9}})\D+= ?(?P<received>\d{{1,9}})\D+= ?\d{{1,9}}.*"),
    "times": re.compile(r"\s*\D+= ?\d+ ?\S+, \D+= ?\d+ ?\S+, \D+= ?\d+ ?\S+\s*|\s*\(\d+ ?%.*\),?"),
    "header": re.compile(rf".*{_ADDRESS}\]?\D.*\b\d+\b.*{_COLON}|.*\S.* \d+ .*\[?{_ADDRESS}\]?.*{_COLON}"),
    "title": re.compile(rf"\S.*{_COLON}|.*\^C|Control-\w+.*"),
}
"""The kinds of lines, in the order they are tried. What else stands between a header and its counts is a loss."""
WINDOWS_PACE = 1.0
WINDOWS_HOW = "keep the whole output of ping"


def is_windows(text: str) -> bool:
    """Return whether a line is an answer that Windows's ping prints, and none is another ping's."""
    lines = [line for _, line in _lines(text)]
    return any(_WINDOWS["answer"].fullmatch(line) for line in lines) and not any(_ANSWER.fullmatch(line) for line in lines)


def of_windows(text: str, where: str) -> list[Run]:
    """Read the output of Windows's ping in any language. Raises TraceError, with the line.

    Each line between the first and the summary that is not an answer is a lost ping; the summary must count as many.
    """
    runs = [_Lines(pace=WINDOWS_PACE, ended=True)]
    for place, line in _lines(text):
        tried = ((name, pattern.fullmatch(line)) for name, pattern in _WINDOWS.items())
        name, found = next(((name, found) for name, found in tried if found), ("", None))
        if runs[-1].ended and name in ("header", "answer"):
            runs.append(_Lines(pace=WINDOWS_PACE))
        now = runs[-1]
        if name == "counts" and found:
            _compare(now, int(found["sent"]), int(found["received"]), f"{where} line {place}")
        elif name == "answer" and found:
            now.add(len(now.numbers), int(found["ms"]) / 1000)
        elif not name and line.strip():
            if now.ended:
                raise TraceError(f"'{line[:60]}' is not a line of Windows's ping", f"{where} line {place}", WINDOWS_HOW)
            now.add(len(now.numbers))
    return _kept(runs)


def _compare(run: _Lines, sent: int, received: int, place: str) -> None:
    """Compare a summary with its lines. Windows counts a router's `Destination host unreachable` as received."""
    if len(run.numbers) != sent or len(run.answers) > received:
        seen = f"{len(run.numbers)} and {len(run.answers)}"
        raise TraceError(f"{sent} pings and {received} answers in the summary, {seen} above it", place, WINDOWS_HOW)
    run.ended = True


_FPING = re.compile(
    r"(?:\[(?P<clock>\d{1,15}\.\d{1,15})\] )?(?P<host>\S+)(?: \(\S+\))?\s+: \[(?P<number>\d{1,9})\], "
    r"(?:\d+ bytes, (?P<ms>\d{1,15}(?:\.\d{1,15})?) ms|timed out|error).*"
)
_FPING_OTHER = re.compile(
    r"\S+(?: \(\S+\))?\s+: (?:xmt/rcv/%loss = .*|duplicate for .*|(?:[\d.]+|-)(?: (?:[\d.]+|-))*)|ICMP .*|\s*|\^C.*"
)
FPING_HOW = "make the log with fping -D -l HOST"


def is_fping(text: str) -> bool:
    """Return whether the first line with something is one of fping's."""
    first = next((line for _, line in _lines(text) if line.strip()), "")
    return bool(_FPING.fullmatch(first))


def of_fping(text: str, where: str) -> list[Run]:
    """Read the output of `fping -l` or `fping -c` for one host. Raises TraceError, with the line."""
    run, hosts = _Lines(), dict[str, None]()
    for place, line in _lines(text):
        if found := _FPING.fullmatch(line):
            hosts[found["host"]] = None
            clock = float(found["clock"]) if found["clock"] else None
            run.add(int(found["number"]), float(found["ms"]) / 1000 if found["ms"] else None, clock)
        elif not _FPING_OTHER.fullmatch(line):
            raise TraceError(f"'{line[:60]}' is not a line of fping's", f"{where} line {place}", FPING_HOW)
    if len(hosts) > 1:
        raise TraceError(f"{len(hosts)} hosts, {', '.join(list(hosts)[:3])}", where, "a log is one host's: grep ^HOST")
    return _kept([run])
