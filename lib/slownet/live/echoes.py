"""Pings along each link that never end: one packet a second from the nearest host on one side to the nearest on the other.

One raw socket a host, in place of a process a link. The kernel states when an answer came.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from slownet.net.namespace import inside
from slownet.net.verify import across, address_at

SO_TIMESTAMPNS = 35
ECHO, ANSWER = 8, 0
CONTENT = bytes(48)
LATE_S = 5.0
"""After which an answer counts as lost."""
MOST_A_SECOND = 50
"""Pings of the whole network: with more links each is pinged less often."""


@dataclass
class Pinged:
    """One way through the network. sent: when the packets left that are not answered yet, by number, in ns."""

    source: Any
    target: str
    words: str
    number: int
    socket: socket.socket
    next_s: float = 0.0
    sequence: int = 0
    sent: dict[int, int] = field(default_factory=dict)
    ms: float | None = None
    lost: bool = False


class Echoes:
    """The pings of a network. of_link: the way along each link, by its key."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], Pinged] = {}
        self._sockets: dict[str, socket.socket] = {}
        self.of_link: dict[str, Pinged] = {}

    def follow(self, links: Iterable[tuple[str, Any]]) -> None:
        """Ping these links from now on, given by their keys and Mininet's objects."""
        before, self._ways, self.of_link = self._ways, {}, {}
        for key, cable in links:
            found = across((cable.intf1, cable.intf2))
            if found is None:
                continue
            source, target, cables = found
            address = address_at(target, cables[-1])
            if not source.IP() or address in ("", "None"):
                continue
            at = (source.name, address)
            way = self._ways.get(at) or before.get(at)
            if way is None or way.source is not source:
                words = f"{source.name} to {target.name}"
                way = Pinged(source, address, words, len(self._ways) + 1, self._socket(source))
            way.number = len(self._ways) + 1 if at not in self._ways else way.number
            self._ways[at] = self.of_link[key] = way
        sources = {way.source.name for way in self._ways.values()}
        for name in [name for name in self._sockets if name not in sources]:
            self._sockets.pop(name).close()

    def forget(self, name: str) -> None:
        """Close what a host has that is going to be removed."""
        self._ways = {at: way for at, way in self._ways.items() if way.source.name != name}
        if found := self._sockets.pop(name, None):
            found.close()

    def _socket(self, host: Any) -> socket.socket:
        if host.name not in self._sockets:
            with inside(host):
                made = socket.socket(socket.AF_INET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.IPPROTO_ICMP)
            made.setblocking(False)
            made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self._sockets[host.name] = made
        return self._sockets[host.name]

    def send(self, now_s: float) -> None:
        """Send what is due. now_s: on the monotonic clock."""
        every = max(1.0, len(self._ways) / MOST_A_SECOND)
        for way in self._ways.values():
            if now_s < way.next_s:
                continue
            way.next_s = now_s + every
            way.sequence = (way.sequence + 1) & 0xFFFF
            way.sent[way.sequence] = time.time_ns()
            try:
                way.socket.sendto(packet(way.number, way.sequence), (way.target, 0))
            except OSError:  # no route at the moment
                way.lost = True

    def receive(self) -> None:
        """Take the answers that have come, and give up those that are late."""
        by_number = {(way.socket, way.number): way for way in self._ways.values()}
        for each in self._sockets.values():
            for number, sequence, at in _answers(each):
                way = by_number.get((each, number))
                if way and (left := way.sent.pop(sequence, None)) is not None:
                    way.ms, way.lost = max(0.0, (at - left) / 1e6), False
        deadline = time.time_ns() - int(LATE_S * 1e9)
        for way in self._ways.values():
            for sequence in [sequence for sequence, left in way.sent.items() if left < deadline]:
                del way.sent[sequence]
                way.lost = True

    def close(self) -> None:
        """Close all sockets."""
        for each in self._sockets.values():
            each.close()
        self._sockets.clear()


def packet(number: int, sequence: int) -> bytes:
    """Return an echo request (RFC 792)."""
    number = (os.getpid() * 31 + number) & 0xFFFF
    head = struct.pack("!BBHHH", ECHO, 0, 0, number, sequence)
    return struct.pack("!BBHHH", ECHO, 0, checksum(head + CONTENT), number, sequence) + CONTENT


def checksum(data: bytes) -> int:
    """Return the Internet checksum of an even number of bytes (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return int(~(total + (total >> 16)) & 0xFFFF)


def _answers(of: socket.socket) -> Iterator[tuple[int, int, int]]:
    """Yield the number of the way, of the packet, and when it came, of each answer."""
    while True:
        try:
            data, more, _, _ = of.recvmsg(2048, 128)
        except (BlockingIOError, OSError):
            return
        header = 4 * (data[0] & 0xF) if data else 0
        if len(data) < header + 8 or data[header] != ANSWER:
            continue
        number, sequence = struct.unpack_from("!HH", data, header + 4)
        stamps = [struct.unpack("qq", each[2]) for each in more if each[1] == SO_TIMESTAMPNS]
        at = stamps[0][0] * 10**9 + stamps[0][1] if stamps else time.time_ns()
        yield int(number - os.getpid() * 31) & 0xFFFF, sequence, at
