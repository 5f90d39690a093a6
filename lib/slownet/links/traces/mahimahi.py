"""Mahimahi's packet-delivery traces (`mm-link`): each line is a time in ms at which a packet of 1500 bytes may leave.

Many recordings of mobile networks have this format (Netravali et al., Mahimahi, USENIX ATC 2015; Winstein, Sivaraman and
Balakrishnan, Sprout, NSDI 2013). A trace is repeated when it ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slownet.links.conditions.link import ETHERNET, MTU
from slownet.links.conditions.queueing import Queue
from slownet.links.conditions.schedule import Change, Schedule, Step, Track
from slownet.links.traces.recording_file import text_of
from slownet.links.traces.trace_format import PERCENTILES, Mark, TextFormat, quantile
from slownet.model.errors import TraceError
from slownet.model.units import duration

FRAME = MTU + ETHERNET  # an opportunity is for an IP packet of 1500 bytes; a link's rate counts its whole frame
ENDLESS = "100000 packets"  # mm-link's own queue has no limit
# The kernel reconsiders a waiting packet when the previous rate would let it go, which must be a little after the change of
# the rate: by this share of the time between two packets, and at most so many seconds.
AFTER, AFTER_S = 0.1, 0.005
LONGEST_MS = 7 * 24 * 3600 * 1000
"""A week has six million steps of 100 ms."""
BIN_S = 1.0
CAVEAT = "recorded on a full network: replayed, it underestimates round trips, by 13 to 17 % in CellReplay (NSDI 2025)"
"""Of rates without delays: that of a full link shows nothing of how long a lone packet waits."""
_MILLISECONDS = re.compile(r"\d{1,15}", re.ASCII)


@dataclass(frozen=True)
class Opportunities:
    """A trace, made by `parse` or `load`: the times in ms, in order, at which a packet may leave; the last is its length."""

    ms: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """The length of the trace in seconds."""
        return self.ms[-1] / 1000

    @property
    def bytes(self) -> int:
        """Bytes of IP packets that can pass in that time."""
        return len(self.ms) * MTU

    @property
    def rate(self) -> float:
        """The mean rate in bit/s of IP packets, as Mahimahi counts."""
        return 8 * self.bytes / self.seconds

    @property
    def longest_pause(self) -> float:
        """The longest time without an opportunity in seconds, also across the end of the trace."""
        following = (*self.ms[1:], self.ms[-1] + self.ms[0])
        return max(later - earlier for earlier, later in zip(self.ms, following, strict=True)) / 1000

    def packets(self, bin_length: float) -> list[int]:
        """Return how many packets may leave in each of the equal bins of about `bin_length` seconds."""
        count = max(1, round(self.seconds / bin_length))
        length = self.ms[-1]
        found = Counter(max(0, -(-ms * count // length) - 1) for ms in self.ms)  # a bin ends with its last millisecond
        return [found[each] for each in range(count)]

    def facts(self) -> dict[str, object]:
        """Return length, rates and pauses of the trace."""
        counts = self.packets(BIN_S)
        rates = [8 * count * MTU * len(counts) / self.seconds for count in counts]
        return {
            "kind": "Mahimahi packet-delivery trace", "duration_s": self.seconds, "packets": len(self.ms),
            "mean_rate_bit_s": self.rate, "longest_pause_s": self.longest_pause, "bin_s": self.seconds / len(rates),
            **{f"rate_p{each}_bit_s": quantile(rates, each / 100) for each in PERCENTILES}, "caveat": CAVEAT,
        }  # fmt: skip


def parse(text: str, where: str = "trace") -> Opportunities:
    """Read a trace. Raises TraceError, with the line, for anything that mm-link would refuse."""
    found: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{where} line {number}"
        if not _MILLISECONDS.fullmatch(line.strip()):
            raise TraceError(f"'{line.strip()[:40]}' is not a time", place, "a line holds whole milliseconds")
        ms = int(line)
        if found and ms < found[-1]:
            raise TraceError(f"{ms} ms after {found[-1]} ms", place, "the times of a trace must not decrease")
        if ms > LONGEST_MS:
            raise TraceError(f"{ms} ms is later than a week", place, "cut the trace into parts")
        found.append(ms)
    if not found or not found[-1]:
        raise TraceError("the trace has no length", where, "its last line is its length in ms")
    return Opportunities(tuple(found))


def load(path: str | Path) -> Opportunities:
    """Read a trace's file. Raises TraceError."""
    return parse(text_of(path), str(path))


def schedule(
    up: Opportunities | str | Path | None = None,
    down: Opportunities | str | Path | None = None,
    *,
    bin_length: str = "100ms",
    queue: str = ENDLESS,
) -> Schedule:
    """Return a schedule whose rates follow traces (files or read ones); the rest of the link's condition stays.

    Within a bin the trace's packets leave evenly spaced, as many as the trace has there. When a pause begins one more packet
    leaves, and the bin before has one fewer, so that exactly the bytes of the trace can pass. The bottleneck is a token bucket
    of one full frame: a packet does not wait on an idle link. Raises TraceError, UnitError, ConditionError.
    """
    length = duration(bin_length)
    if not length or (up is None and down is None):
        raise TraceError("no trace is given, or bin_length is 0", "Mahimahi schedule", 'schedule("FILE.up", "FILE.down")')
    tracks: list[Track] = []
    for way, given in (("up", up), ("down", down)):
        if given is not None:
            trace = given if isinstance(given, Opportunities) else load(given)
            tracks += _tracks(trace, way, length, Queue.parse(queue))
    return Schedule(tuple(tracks))


def _tracks(trace: Opportunities, way: str, bin_length: float, queue: Queue) -> Iterator[Track]:
    packets = trace.packets(bin_length)
    if len(set(packets)) == 1:
        yield Track((Step(0.0, _change(way, 8 * FRAME * len(trace.ms) / trace.seconds, queue)),))
        return
    length = trace.seconds / len(packets)
    steps = [Step(start * length, _change(way, paced(bins * length, count), queue)) for start, bins, count in runs(packets)]
    yield Track(tuple(steps), trace.seconds)
    if steps[0].at > 0:  # the trace begins with a pause; in later rounds the last step of the round before covers it
        yield Track((Step(0.0, _change(way, paced(steps[0].at, 1), queue)),))


def runs(packets: list[int]) -> list[tuple[int, int, int]]:
    """Return (first bin, bins, packets) in order, each with at least one packet, which every change of a token bucket releases.

    So a pause begins with the last packet of the bin before it, also across the end of the trace.
    """
    first = next(index for index, count in enumerate(packets) if count)
    found: list[tuple[int, int, int]] = []
    for index, count in enumerate([*packets[first:], *packets[:first]], first):
        if count:
            found.append((index, 1, count))
            continue
        start, bins, before = found.pop()
        found += [(start, bins + 1, 1)] if before == 1 else [(start, bins, before - 1), (index, 1, 1)]
    return sorted((start % len(packets), bins, count) for start, bins, count in found)


def paced(seconds: float, packets: int) -> float:
    """Return the bit/s at which these frames leave in this time: the first one at once, the next one after the end."""
    return 8 * FRAME * packets / (seconds + min(AFTER_S, AFTER * seconds / packets))


def _change(way: str, rate: float, queue: Queue) -> Change:
    return Change((("burst", FRAME), ("queue", queue), (f"rate_{way}", rate)))


FORMATS = (
    TextFormat(lambda text: not text.first or text.first.isdigit(), lambda text: parse(text.content, text.where), Mark.NUMBERS),
)
