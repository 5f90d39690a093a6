"""Turns a capture of TCP connections into a condition: `tcpdump -i eth0 -s 128 -w home.pcap tcp`.

It may be taken anywhere on the path:

* A connection's round trip is the time from its SYN to the ACK of the SYN/ACK. One whose SYN or SYN/ACK was sent twice has
  none: which of them was answered is not known (Karn and Partridge, "Improving Round-Trip Time Estimates in Reliable
  Transport Protocols", 1987).
* A segment counts as lost if it was sent again, by Wireshark's rules (`slownet.links.packets.tcp_analysis`): neither one that
  is out of order, nor one whose bytes had been acknowledged, nor a keep-alive or a zero window probe. If it fills a hole it
  was lost before the capture, otherwise behind it. So the loss is at most what is found.
* Wireshark also takes for out of order what comes soon after the newest segment, which during a recovery is most of what is
  sent again. The network cannot reorder a segment with itself, and one that was sent because of a hole comes a round trip
  after the hole at the earliest. So it counts as lost if its bytes had passed, or the hole is older than half a round trip.
* A frame that the capture has twice counts once (`slownet.links.packets.tcp_analysis`).
* A frame of an interface with segmentation offload has many segments: as many as the maximum segment size, which the SYNs
  state, makes of it.
* The rate of the busiest second is at most the link's. It is printed, and states no condition: the sender may have had nothing
  more to send.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import BinaryIO

from slownet.links.conditions.field_row import Fields
from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import MTU, Condition
from slownet.links.packets.capture_file import FIX, MAGICS, NO_TIME, CaptureFile, Frame
from slownet.links.packets.decoding import LINKS, DamagedFrameError, FragmentError, Packet, link_name, segment
from slownet.links.packets.tcp_analysis import (
    ACK,
    PROBES,
    REORDERED_NS,
    SENT_AGAIN,
    SYN,
    WRAP,
    Connection,
    Connections,
    Copies,
    Kind,
)
from slownet.links.traces.drawn_delays import drawn_from
from slownet.links.traces.recording_file import opened
from slownet.links.traces.trace_format import PERCENTILES, BinaryFormat, quantile
from slownet.model.errors import ToolError, TraceError

FRAME_BYTES = 66
"""Of a segment's frame without its payload: Ethernet, IPv4 and TCP with timestamps."""
ENOUGH = 30
"""Round trips of which a distribution is made; of fewer, the median alone."""
MTU_PAYLOAD = {4: 1460, 16: 1440}
"""By the bytes of an address: the payload of a packet of 1500 bytes, for connections whose SYNs state no maximum."""
MOST_CONNECTIONS = 100_000
MOST_HOLES = 10_000
"""Holes that are remembered of a direction; the oldest are forgotten first."""
_KEPT_SECONDS = 16


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
    """The TCP connections of a capture; "up" is what the sides that opened them sent.

    ``copies``: frames that the capture has twice. ``notes``: what was left out, and why, a line each. ``unmeasured``: why no
    round trip can be measured; empty if one can.
    """

    connections: int
    seconds: float
    rtts: tuple[float, ...]
    up: Way
    down: Way
    copies: int = 0
    notes: tuple[str, ...] = ()
    unmeasured: str = ""

    def condition(self) -> Condition:
        """Return a condition with these round trips and losses.

        Of at least 30 round trips it has the distribution, of fewer the median. Raises TraceError, ConditionError.
        """
        if not self.rtts:
            raise TraceError(f"no round trip can be measured: {self.unmeasured}", "capture", FIX)
        losses: Fields = {f"loss_{way}": Chance(each.loss) for way, each in (("up", self.up), ("down", self.down)) if each.lost}
        if len(self.rtts) < ENOUGH or len(set(self.rtts)) == 1:
            return Condition(up=median(self.rtts) / 2, down=median(self.rtts) / 2, **losses)
        return Condition(**drawn_from(self.rtts), **losses)

    def facts(self) -> dict[str, object]:
        """Return the capture's numbers, the condition that they make, and what was left out."""
        found: dict[str, object] = {"kind": "capture of TCP", "duration_s": self.seconds, "connections": self.connections}
        for name, way in (("up", self.up), ("down", self.down)):
            found |= {
                f"segments_{name}": way.sent,
                f"lost_{name}_share": way.loss,
                f"busiest_second_{name}_bit_s": way.busiest_bit_s,
            }
        if self.rtts:
            found |= {"min_rtt_s": min(self.rtts), "max_rtt_s": max(self.rtts)}
            found |= {f"rtt_p{each}_s": quantile(self.rtts, each / 100) for each in PERCENTILES}
            found["condition"] = str(self.condition())
        else:
            found["condition"] = f"none: {self.unmeasured}"
        if self.copies:
            found["copies"] = f"{self.copies} frames that the capture has twice count once"
        return found | {f"note_{number}": each for number, each in enumerate(self.notes, 1)}


def is_capture(first: bytes) -> bool:
    """Return whether a file's first four bytes are those of a capture, or of a compressed file."""
    return first.startswith(MAGICS)


def load(path: str | Path) -> Traffic:
    """Read a capture. Raises TraceError."""
    with opened(path) as file:
        return parse(file, str(path))


def parse(source: bytes | BinaryIO, where: str = "capture") -> Traffic:
    """Read a capture's bytes or file. Raises TraceError."""
    try:
        return _Reading(CaptureFile(source, where)).traffic()
    except ToolError as error:
        raise TraceError(error.what, where, error.fix) from error


class _Sent:
    """The data segments of one side of a connection; numbers count from the SYN and do not wrap."""

    __slots__ = ("_base", "_holes", "end", "lost", "mss", "passed")

    def __init__(self) -> None:
        self.passed = self.lost = self.mss = 0
        self.end: int | None = None
        self._base = 0
        self._holes: list[tuple[int, int, int]] = []
        """In order, each with the ns of the segment after it."""

    def take(self, packet: Packet, kind: Kind, size: int, soon: int) -> int:
        """Count a segment whose payload may be many segments of a size; return how many.

        soon: the ns after the segment behind a hole within which one that fills it may be out of order.
        """
        if self.end is None:
            self.end = self._base = packet.sequence
        distance = (packet.sequence - self.end) % WRAP
        begin = self.end + (distance - WRAP if distance > WRAP >> 1 else distance)
        end = begin + packet.length
        segments = -(-packet.length // size)
        self.passed += segments
        if kind & (SENT_AGAIN | Kind.OUT_OF_ORDER):
            before = packet.ns if kind & SENT_AGAIN else packet.ns - soon
            filled, late = self._in_holes(begin, end, packet.ns), self._in_holes(begin, end, before)
            again = max(0, min(end, self.end) - begin) - filled
            self.lost += -(-(again + late) // size)
            self.passed += -(-late // size)  # these were sent twice, and passed once
        if begin > self.end:
            self._holes.append((self.end, begin, packet.ns))
            if len(self._holes) > MOST_HOLES:
                del self._holes[0]
        elif begin < self.end and self._holes:
            self._fill(begin, end)
        self.end = max(self.end, end)
        return segments

    def _overlapping(self, begin: int, end: int) -> slice:
        """Return which holes, which are in order, have bytes in common with a range."""
        return slice(bisect_right(self._holes, begin, key=itemgetter(1)), bisect_left(self._holes, end, key=itemgetter(0)))

    def _in_holes(self, begin: int, end: int, until: int) -> int:
        """Return how many bytes of a range are in holes that were seen until a time."""
        holes = self._holes[self._overlapping(begin, end)]
        return sum(min(end, last) - max(begin, first) for first, last, ns in holes if ns <= until)

    def _fill(self, begin: int, end: int) -> None:
        place = self._overlapping(begin, end)
        ends = (piece for first, last, ns in self._holes[place] for piece in ((first, begin, ns), (end, last, ns)))
        self._holes[place] = [each for each in ends if each[0] < each[1]]


class _Opened:
    """One connection that starts in the capture."""

    __slots__ = ("answered_ns", "answers", "ended_ns", "opened_ns", "openings", "sides")

    def __init__(self) -> None:
        self.sides = _Sent(), _Sent()
        self.openings = self.answers = 0
        self.opened_ns = self.answered_ns = 0
        self.ended_ns: int | None = None

    def handshake(self, packet: Packet, outward: bool) -> None:
        """Record a SYN, its answer and the answer's ACK."""
        flags = packet.flags & (SYN | ACK)
        if outward and flags == SYN:
            self.openings += 1
            self.opened_ns = packet.ns
        elif not outward and flags == SYN | ACK:
            self.answers += 1
            self.answered_ns = packet.ns
        elif outward and flags & ACK and self.answers and self.ended_ns is None:
            self.ended_ns = packet.ns

    @property
    def round_trip(self) -> float | None:
        """The seconds from the SYN to the ACK of its answer; None if either was sent twice or is missing."""
        ended = NO_TIME if self.ended_ns is None else self.ended_ns
        if self.openings != 1 or self.answers != 1 or self.opened_ns == NO_TIME or ended <= self.opened_ns:
            return None
        return (ended - self.opened_ns) / 1e9

    def size(self, packet: Packet) -> int:
        """Return the payload of a full segment: what the SYNs state, without the options in it (RFC 6691)."""
        stated = [each.mss for each in self.sides if each.mss]
        if not stated and packet.length <= MTU:
            return packet.length
        return max(1, (min(stated) if stated else MTU_PAYLOAD[len(packet.source)]) - packet.options)


@dataclass
class _Busiest:
    """The most bits of a second; only the last seconds are kept, as frames come nearly in order."""

    most: int = 0
    _bits: dict[int, int] = field(default_factory=dict)

    def add(self, second: int, bits: int) -> None:
        total = self._bits[second] = self._bits.get(second, 0) + bits
        self.most = max(self.most, total)
        if len(self._bits) > _KEPT_SECONDS:
            del self._bits[min(self._bits)]


class _Reading:
    """Takes the frames of a capture one by one."""

    def __init__(self, capture: CaptureFile) -> None:
        self.capture = capture
        self.connections, self.copies = Connections(), Copies()
        self.opened: dict[int, _Opened] = {}
        self.begun: set[int] = set()
        self.busiest = _Busiest(), _Busiest()
        self.first: int | None = None
        self.last = 0
        self.packets = self.copied = self.fragments = 0
        self.damaged: Counter[str] = Counter()
        self.other_links: Counter[int] = Counter()

    def traffic(self) -> Traffic:
        for packet in self._segments():
            self._take(packet)
        notes = tuple(self._notes())
        if not self.opened:
            where = f", {notes[0]}" if notes else ""
            if self.other_links and not self.packets:
                raise ToolError(self._links(), self.capture.where, FIX)
            raise ToolError(f"no connection starts in {self.packets} TCP packets{where}", self.capture.where, FIX)
        found = list(self.opened.values())
        rtts = tuple(rtt for each in found if (rtt := each.round_trip) is not None)
        up, down = (
            Way(sum(each.sides[way].passed for each in found), sum(each.sides[way].lost for each in found), float(most.most))
            for way, most in enumerate(self.busiest)
        )
        seconds = (self.last - (self.first or 0)) / 1e9
        return Traffic(len(found), seconds, rtts, up, down, self.copied, notes, "" if rtts else _unmeasured(found))

    def _segments(self) -> Iterator[Packet]:
        for frame in self.capture:
            found = self._segment(frame)
            if found is not None:
                self.packets += 1
                yield found

    def _segment(self, frame: Frame) -> Packet | None:
        if frame.link not in LINKS:
            self.other_links[frame.link] += 1
            return None
        try:
            return segment(frame)
        except DamagedFrameError as error:
            self.damaged[f"frame {frame.number}: {error}" if not self.damaged else ""] += 1
        except FragmentError:
            self.fragments += 1
        return None

    def _take(self, packet: Packet) -> None:
        connection, side = self.connections.find(packet)
        if self.copies.is_copy(packet, connection, side):
            self.copied += 1
            return
        connection, side, kind = self.connections.judge(packet)
        if connection.opener is None:
            self.begun.add(connection.number)
            return
        self._count(packet, connection, side != connection.opener, kind)

    def _count(self, packet: Packet, connection: Connection, inward: bool, kind: Kind) -> None:
        one = self.opened.get(connection.number)
        if one is None:
            if len(self.opened) >= MOST_CONNECTIONS:
                raise ToolError(f"more than {MOST_CONNECTIONS} connections", self.capture.where, "cut it with editcap -c")
            one = self.opened[connection.number] = _Opened()
            self.begun.discard(connection.number)
        if packet.ns != NO_TIME:
            self.first = packet.ns if self.first is None else min(self.first, packet.ns)
            self.last = max(self.last, packet.ns)
        one.handshake(packet, not inward)
        sent = one.sides[inward]
        sent.mss = packet.mss or sent.mss
        segments = 1
        if packet.length and not packet.flags & SYN and not kind & PROBES:
            soon = (connection.first_rtt or 2 * REORDERED_NS) // 2
            segments = sent.take(packet, kind, one.size(packet), soon)
        self.busiest[inward].add(packet.ns // 10**9, 8 * (FRAME_BYTES * segments + packet.length))

    def _links(self) -> str:
        names = ", ".join(link_name(each) for each, _ in self.other_links.most_common(3))
        return f"frames of {names} are not read"

    def _notes(self) -> Iterator[str]:
        if self.capture.damage:
            yield self.capture.damage
        if self.damaged:
            count = self.damaged.total()
            first = next(iter(self.damaged))
            yield f"damaged {first}" if count == 1 else f"{count} damaged frames, the first is {first}"
        if self.other_links and self.packets:
            yield f"{self.other_links.total()} frames left out: {self._links()}"
        if self.fragments:
            yield f"{self.fragments} fragments of IP packets left out"
        if self.begun and self.opened:
            yield f"{len(self.begun)} connections left out, which began before the capture"


def _unmeasured(found: list[_Opened]) -> str:
    """Return why no connection has a round trip."""
    reasons = Counter(
        "its SYN was sent again" if each.openings > 1
        else "its SYN was not answered" if not each.answers
        else "the answer to its SYN was sent again" if each.answers > 1
        else "no ACK of the answer to its SYN, or no time of it, is in the capture"
        for each in found
    )  # fmt: skip
    if len(found) == 1:
        return next(iter(reasons))
    return "; ".join(f"of {count} connections {why.replace('its', 'the')}" for why, count in reasons.most_common())


FORMATS = (BinaryFormat(is_capture, lambda file, path: parse(file, str(path))),)
