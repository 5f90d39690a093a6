"""Byte streams put together from pieces that arrive in any order, each byte with the time of its arrival."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from slownet.links.packets.capture import SYN, Segment


class Stream:
    """The bytes of one direction, as far as they are known without a gap."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._ends: list[int] = []
        self._times: list[int] = []
        self._waiting: dict[int, bytes] = {}

    def add(self, offset: int, data: bytes, ns: int) -> None:
        """Add a piece that was sent at an offset and arrived at a time; what is known already is left out."""
        if len(data) > len(self._waiting.get(offset, b"")):
            self._waiting[offset] = data
        for at in sorted(self._waiting):
            if at > len(self.data):
                break
            self.data += self._waiting.pop(at)[len(self.data) - at :]
        if not self._ends or len(self.data) > self._ends[-1]:
            self._ends.append(len(self.data))
            self._times.append(ns)

    def arrived(self, position: int) -> int:
        """Return the time, in ns, from which the byte at a position and all before it were known."""
        return self._times[bisect_left(self._ends, position + 1)]


def stream(segments: Iterable[Segment], outward: bool) -> Stream:
    """Return what one end of a TCP connection sent, also with its SYN (RFC 7413)."""
    found = Stream()
    for each in segments:
        if each.outward == outward and each.data:
            found.add(each.sequence + bool(each.flags & SYN), each.data, each.ns)
    return found
