"""Turns a plain log of `ping` into a schedule or a condition: `ping -D -i 0.2 HOST > home.txt`.

`schedule` makes a link's delay and loss follow the log second by second. `condition` uses the log as a sample: delays are
drawn from its distribution, and losses come in bursts of the same mean length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from statistics import median

from slownet.links.conditions.impairment import Chance, GilbertElliott
from slownet.links.conditions.link import Condition
from slownet.links.conditions.readers import Fields
from slownet.links.conditions.schedule import Change, Schedule, Step, Track
from slownet.links.traces.drawn_delays import drawn_from
from slownet.links.traces.recording_file import text_of
from slownet.model.errors import TraceError
from slownet.model.units import duration

# Of iputils, busybox and BSD: an answer, and other lines with a sequence number. -D puts the time in front.
_CLOCK = r"(?:\[(?P<clock>\d{1,15}\.\d{1,15})\] )?"
_SEQ = r"(?:icmp_)?seq[= ](?P<number>\d{1,9})\b"
MOST = 10_000_000
"""Pings of a log: at the usual one a second, four months."""
_ANSWER = re.compile(_CLOCK + r"\d+ bytes from .*\b" + _SEQ + r".*\btime[=<](?P<ms>\d{1,15}(?:\.\d{1,15})?) ms\b.*")
_NUMBERED = re.compile(_CLOCK + r"(?:no answer yet for|Request timeout for|From .*) " + _SEQ + ".*")
_SENT = re.compile(r"(?P<sent>\d{1,9}) packets transmitted, \d+ (?:packets )?received.*?(?:, time (?P<ms>\d{1,15})ms)?")
_OTHER = re.compile(r"PING .*|--- .* ---|(?:rtt|round-trip) min/avg/max.*|ping: .*|From .*|pipe \d+|\s*|\^C")
HOW = "make the log with LC_ALL=C ping -D HOST"
_WRAP = 1 << 16  # sequence numbers have 16 bits


@dataclass(frozen=True)
class Pinged:
    """One ping: seconds after the first one, and its round trip in seconds, None if it was lost."""

    at: float
    rtt: float | None


@dataclass(frozen=True)
class PingLog:
    """A log of pings in the order in which they were sent, made by `parse` or `load`."""

    pings: tuple[Pinged, ...]
    where: str = "log"

    @cached_property
    def rtts(self) -> list[float]:
        """Round trips of the answered pings, in seconds."""
        return [each.rtt for each in self.pings if each.rtt is not None]

    @cached_property
    def lost(self) -> list[bool]:
        """Whether each ping was lost."""
        return [each.rtt is None for each in self.pings]

    @property
    def loss(self) -> float:
        """The share of pings that was lost."""
        return sum(self.lost) / len(self.lost)

    @property
    def interval(self) -> float:
        """The median time between two pings, in seconds."""
        return median(after.at - before.at for before, after in pairwise(self.pings))

    @property
    def seconds(self) -> float:
        """The length of the log in seconds, until the next ping would have been sent."""
        return self.pings[-1].at + self.interval

    @cached_property
    def bursts(self) -> GilbertElliott | None:
        """Gilbert and Elliott's model of the losses, per ping; None if none was lost."""
        return GilbertElliott.fitted(self.lost) if any(self.lost) else None

    def schedule(self, every: str = "1s", *, repeat: bool = False) -> Schedule:
        """Return a schedule of the log's delay and loss; the rest of the link's condition stays.

        every: the time that is averaged into one step; each direction's delay is half of the mean round trip. A step whose
        pings were all lost cuts the link. repeat: start over at the end; otherwise the last step lasts. When the delay
        decreases, later packets may overtake earlier ones. Raises UnitError, TraceError.
        """
        length = duration(every)
        if not length:
            raise TraceError("steps need a length above 0", self.where, 'write it like every="1s"')
        steps = []
        for number, group in groupby(self.pings, key=lambda each: int(each.at / length + 1e-9)):
            pings = list(group)
            rtts = [each.rtt for each in pings if each.rtt is not None]
            loss = each_way(1 - len(rtts) / len(pings))
            fields: Fields = {"loss": Chance(loss) if loss else None}
            if rtts:
                fields |= dict.fromkeys(("up", "down"), sum(rtts) / len(rtts) / 2)
            steps.append(Step(number * length, Change(tuple(fields.items()))))
        again = max(self.seconds, steps[-1].at + length) if repeat else None
        return Schedule((Track(tuple(steps), again),))

    def condition(self) -> Condition:
        """Return a condition with the log's distribution of round trips, its loss, and its mean burst length.

        The loss of round trips is divided between the directions. Raises ConditionError.
        """
        loss = None
        if self.bursts:
            mean_loss = each_way(self.bursts.mean)
            loss = GilbertElliott(min(1.0, mean_loss * self.bursts.r / (1 - mean_loss)), self.bursts.r)
        return Condition(**drawn_from(self.rtts), loss=loss)


def each_way(loss: float) -> float:
    """Return the loss of each direction, independent of the other, that makes the share `loss` of round trips fail."""
    return 1 - math.sqrt(1 - loss)


def parse(text: str, where: str = "log", *, interval: float | None = None) -> PingLog:
    """Read the output of ping in the C locale; its last lines may be missing.

    interval: seconds between two pings, for a log without times (without `-D`); by default from ping's summary, or ping's
    default of 1 s if there is no summary. Raises TraceError with the line that is not understood.
    """
    answers: dict[int, tuple[float, float | None]] = {}  # number -> round trip, clock
    numbers: list[int] = []
    sent, pace = 0, interval
    for line_number, line in enumerate(text.splitlines(), 1):
        if found := _ANSWER.fullmatch(line):
            number = _unwrapped(int(found["number"]), numbers)
            clock = float(found["clock"]) if found["clock"] else None
            answers.setdefault(number, (float(found["ms"]) / 1000, clock))  # a second answer is a duplicate
            numbers.append(number)
        elif found := _NUMBERED.fullmatch(line):
            numbers.append(_unwrapped(int(found["number"]), numbers))
        elif found := _SENT.fullmatch(line):
            sent = int(found["sent"])
            if found["ms"] and sent > 1:
                pace = pace or int(found["ms"]) / 1000 / (sent - 1)
        elif not _OTHER.fullmatch(line):
            raise TraceError(f"'{line[:60]}' is not a line of ping's", f"{where} line {line_number}", HOW)
    if len(answers) < 2:
        raise TraceError(f"too few pings were answered ({len(answers)})", where, HOW)
    first = min(numbers) if min(numbers) == 0 or not sent else 1  # iputils counts from 1, busybox and BSD from 0
    last = max(max(numbers), first + sent - 1)
    if last - first >= MOST:
        raise TraceError(f"{last - first + 1} pings", where, f"a log has at most {MOST}: cut it into parts")
    times = _times(answers, range(first, last + 1), pace or 1.0)
    pings = (Pinged(at, answers[number][0] if number in answers else None) for number, at in times)
    return PingLog(tuple(pings), where)


def load(path: str | Path, *, interval: str | None = None) -> PingLog:
    """Read a log's file. Raises TraceError, UnitError."""
    return parse(text_of(path), str(path), interval=None if interval is None else duration(interval))


def _unwrapped(number: int, before: list[int]) -> int:
    """Return the full sequence number of a 16-bit one: the candidate nearest to the number before it."""
    if not before:
        return number
    return number + _WRAP * round((before[-1] - number) / _WRAP)


def _times(answers: dict[int, tuple[float, float | None]], numbers: range, interval: float) -> Iterator[tuple[int, float]]:
    """Yield (number, seconds after the first) of every ping; unanswered ones are spaced evenly between their neighbours."""
    sent = {number: clock - rtt for number, (rtt, clock) in answers.items() if clock is not None}
    if len(sent) < 2:
        yield from ((number, (number - numbers[0]) * interval) for number in numbers)
        return
    known = sorted(sent)
    step = median((sent[after] - sent[before]) / (after - before) for before, after in pairwise(known))
    place, start = 0, sent[known[0]] - (known[0] - numbers[0]) * step
    for number in numbers:
        while place + 1 < len(known) and known[place + 1] <= number:
            place += 1
        before = known[place]
        after = known[place + 1] if place + 1 < len(known) and before <= number else None
        pace = step if after is None else (sent[after] - sent[before]) / (after - before)
        yield number, sent[before] + (number - before) * pace - start
