"""Mahimahi's packet-delivery traces (`mm-link`): a line a packet of 1500 bytes that may leave, in ms from the start.

Many recordings of mobile networks are kept so (Netravali et al., Mahimahi, USENIX ATC 2015; Winstein, Sivaraman and
Balakrishnan, Sprout, NSDI 2013). At its end a trace begins again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slownet.conditions.link import ETHERNET, MTU
from slownet.conditions.queueing import Queue
from slownet.conditions.schedule import Change, Schedule, Step, Track
from slownet.errors import TraceError
from slownet.traces.file import text_of
from slownet.units import duration

FRAME = MTU + ETHERNET  # an opportunity's 1500 bytes are an IP packet, and a link's rate counts its frame
ENDLESS = "100000 packets"  # mm-link's own queue has no limit
# A packet that waits is looked at again when it could leave at the rate of before: a little after the change, not before.
AFTER, AFTER_S = 0.1, 0.005  # of the time between two packets, at most seconds
_MILLISECONDS = re.compile(r"\d{1,15}", re.ASCII)


@dataclass(frozen=True)
class Opportunities:
    """When a packet may leave, in ms, in order; the last one is the trace's length. Made by `parse` or `load`."""

    ms: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """How long it takes until the trace begins again."""
        return self.ms[-1] / 1000

    @property
    def bytes(self) -> int:
        """Bytes of IP packets that fit through in that time."""
        return len(self.ms) * MTU

    @property
    def rate(self) -> float:
        """The mean rate in bit/s of IP packets, as Mahimahi counts."""
        return 8 * self.bytes / self.seconds

    @property
    def longest_pause(self) -> float:
        """Seconds without an opportunity, over the end of the trace too."""
        following = (*self.ms[1:], self.ms[-1] + self.ms[0])
        return max(later - earlier for earlier, later in zip(self.ms, following, strict=True)) / 1000

    def packets(self, bin_length: float) -> list[int]:
        """How many packets may leave in each bin; the trace's length is divided into whole bins of about `bin_length` s."""
        count = max(1, round(self.seconds / bin_length))
        length = self.ms[-1]
        found = Counter(max(0, -(-ms * count // length) - 1) for ms in self.ms)  # a bin ends with its last millisecond
        return [found[each] for each in range(count)]


def parse(text: str, where: str = "trace") -> Opportunities:
    """Reads a trace. Raises TraceError with the line for what mm-link would not take."""
    found: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{where} line {number}"
        if not _MILLISECONDS.fullmatch(line.strip()):
            raise TraceError(f"'{line.strip()[:40]}' is no time", place, "a line holds whole milliseconds")
        ms = int(line)
        if found and ms < found[-1]:
            raise TraceError(f"{ms} ms after {found[-1]} ms", place, "the times of a trace never fall")
        found.append(ms)
    if not found or not found[-1]:
        raise TraceError("a trace that takes no time", where, "its last line says after how many ms it begins again")
    return Opportunities(tuple(found))


def load(path: str | Path) -> Opportunities:
    """Reads a trace's file. Raises TraceError."""
    return parse(text_of(path), str(path))


def schedule(
    up: Opportunities | str | Path | None = None,
    down: Opportunities | str | Path | None = None,
    *,
    bin_length: str = "100ms",
    queue: str = ENDLESS,
) -> Schedule:
    """A link whose rates follow traces (files, or what was read from them) and which else stays as it is.

    Within a bin the trace's packets leave evenly spaced, as many as the trace has there. Where a pause begins one packet
    more leaves and the bin before lacks it, so that all bytes of the trace fit through, no more and no less. The
    bottleneck is a token bucket of one full frame: what comes to an idle link does not wait. Raises TraceError,
    UnitError, ConditionError.
    """
    length = duration(bin_length)
    if not length or (up is None and down is None):
        raise TraceError("no trace, or bins without a length", "Mahimahi schedule", 'schedule("FILE.up", "FILE.down")')
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
    steps = [Step(start * length, _change(way, _rate(bins * length, count), queue)) for start, bins, count in runs(packets)]
    yield Track(tuple(steps), trace.seconds)
    if steps[0].at > 0:  # a trace that begins with a pause; from the second time on, the last step holds until its end
        yield Track((Step(0.0, _change(way, _rate(steps[0].at, 1), queue)),))


def runs(packets: list[int]) -> list[tuple[int, int, int]]:
    """(first bin, bins, packets), in order, each with one packet at least: a change of a token bucket lets one through.

    So a pause begins with the last packet of the bin before it, over the end of the trace too.
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


def _rate(seconds: float, packets: int) -> float:
    """Bit/s at which so many frames leave: the first at once, and one more only after the time is over."""
    return 8 * FRAME * packets / (seconds + min(AFTER_S, AFTER * seconds / packets))


def _change(way: str, rate: float, queue: Queue) -> Change:
    return Change((("burst", FRAME), ("queue", queue), (f"rate_{way}", rate)))
