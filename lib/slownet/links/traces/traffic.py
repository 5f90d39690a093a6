"""Turns a capture of TCP connections into a condition: `tcpdump -i eth0 -s 128 -w home.pcap tcp`.

It may be taken anywhere on the path:

* A connection's round trip is the time from its SYN to the ACK of the SYN/ACK. One whose SYN or SYN/ACK was sent twice has
  none: nobody knows which of them was answered (Karn and Partridge, "Improving Round-Trip Time Estimates in Reliable
  Transport Protocols", 1987).
* A segment was lost before the capture if it passes after later ones (it fills a hole), and behind it if its bytes pass a
  second time. Reordering counts as the former, a needless retransmission as the latter: so the loss is at most what is found.
* What the busiest second carried is at most the link's rate. It is said, and states no condition: who measured may have had
  nothing more to send.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition
from slownet.links.conditions.readers import Fields
from slownet.links.packets import capture
from slownet.links.packets.capture import ACK, SYN, Segment
from slownet.links.traces.drawn_delays import drawn_from
from slownet.links.traces.recording_file import LARGEST_CAPTURE, bytes_of
from slownet.model.errors import ToolError, TraceError

FRAME_BYTES = 66
"""Of a segment's frame without its payload: Ethernet, IPv4 and TCP with timestamps."""
ENOUGH = 30
"""Round trips of which a distribution is made; of fewer, the median alone."""
PCAPS = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
PCAPNG = b"\x0a\x0d\x0d\x0a"
ETHERNET = 1
HOW = "record it with tcpdump -i eth0 -w FILE tcp"


@dataclass(frozen=True)
class Way:
    """One direction: segments with data that were sent, those of them that were lost, what the busiest second carried."""

    sent: int
    lost: int
    busiest_bit_s: float

    @property
    def loss(self) -> float:
        """The share that was lost; 0 without segments."""
        return self.lost / self.sent if self.sent else 0.0


@dataclass(frozen=True)
class Traffic:
    """The TCP connections of a capture; "up" is what the sides that opened them sent."""

    connections: int
    seconds: float
    rtts: tuple[float, ...]
    up: Way
    down: Way

    def condition(self) -> Condition:
        """Return a condition with these round trips and losses.

        Of at least 30 round trips it has the distribution, of fewer the median. Raises TraceError, ConditionError.
        """
        if not self.rtts:
            raise TraceError("no connection of the capture was answered at once", "capture", HOW)
        losses: Fields = {f"loss_{way}": Chance(each.loss) for way, each in (("up", self.up), ("down", self.down)) if each.lost}
        if len(self.rtts) < ENOUGH or len(set(self.rtts)) == 1:
            return Condition(up=median(self.rtts) / 2, down=median(self.rtts) / 2, **losses)
        return Condition(**drawn_from(self.rtts), **losses)


def is_capture(content: bytes) -> bool:
    """Return whether a content begins as a capture does."""
    return content.startswith((*PCAPS, PCAPNG))


def load(path: str | Path) -> Traffic:
    """Read a capture of Ethernet frames. Raises TraceError."""
    return parse(bytes_of(path, LARGEST_CAPTURE), str(path))


def parse(content: bytes, where: str = "capture") -> Traffic:
    """Read the bytes of a capture. Raises TraceError."""
    if content.startswith(PCAPNG):
        raise TraceError("it is a pcapng", where, f"editcap -F pcap {where} other.pcap")
    if not content.startswith(PCAPS) or len(content) < 24:
        raise TraceError("it is no capture", where, HOW)
    order = "little" if content[:4] in PCAPS[::2] else "big"
    if (kind := int.from_bytes(content[20:24], order) & 0xFFFF) != ETHERNET:  # type: ignore[arg-type]
        raise TraceError(f"its frames are not Ethernet's (link type {kind})", where, HOW)
    try:
        found = capture.connections(content)
    except ToolError as error:
        raise TraceError(error.what, where, HOW) from error
    times = [each.ns for segments in found for each in segments]
    rtts = tuple(rtt for segments in found if (rtt := _round_trip(segments)) is not None)
    return Traffic(len(found), (max(times) - min(times)) / 1e9, rtts, _way(found, True), _way(found, False))


def _round_trip(segments: Sequence[Segment]) -> float | None:
    """Return the seconds from the SYN to the ACK of its answer; None if either was sent twice or is missing."""
    opened = [each.ns for each in segments if each.flags & (SYN | ACK) == SYN and each.outward]
    answered = [each.ns for each in segments if each.flags & (SYN | ACK) == SYN | ACK and not each.outward]
    if len(opened) != 1 or len(answered) != 1:
        return None
    after = (each.ns for each in segments if each.outward and each.ns >= answered[0] and each.flags & ACK)
    ended = next(after, None)
    return None if ended is None else (ended - opened[0]) / 1e9


def _way(connections: Iterable[Sequence[Segment]], outward: bool) -> Way:
    passed, holes, again, bits = 0, 0, 0, Counter[int]()
    for each in connections:
        known: set[int] = set()
        end = 0
        for segment in each:
            if segment.outward is not outward:
                continue
            bits[segment.ns // 10**9] += 8 * (FRAME_BYTES + segment.length)
            if segment.length < 1 or segment.flags & SYN:
                continue
            passed += 1
            again += segment.sequence in known
            holes += segment.sequence < end and segment.sequence not in known
            known.add(segment.sequence)
            end = max(end, segment.end)
    return Way(passed + holes, holes + again, float(max(bits.values(), default=0)))
