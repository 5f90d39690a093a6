"""What all hosts sent and received, put together from their captures: each packet with its times at both ends."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from operator import attrgetter
from pathlib import PurePosixPath

from slownet.lab.run.outbox import Outbox, RefusedError
from slownet.links.packets.capture_file import MOST_BYTES, NO_TIME, CaptureFile
from slownet.model.errors import ToolError
from slownet.waits.packets import ETHERNET, UDP, Packet

AT_ONCE_NS = 100_000
"""What a host may take without a timer on a free clock: a hundred readings of the clock. A program's shortest sleep is longer
than its timer slack of 50 us by what it asked for."""


@dataclass(frozen=True)
class HostCapture:
    """The captures of one interface of a host.

    Attributes
    ----------
    host : str
        Its name.
    addresses : tuple of str
        All addresses of the host.
    folder : Outbox
        The folder that a lab wrote the captures to.
    main : str
        What crossed the interface: a file's path relative to the folder.
    before : str or None
        What the host sent, as it entered the queue; likewise.
    between : tuple of int
        The first and the last ns since 1970 of the packets that count.
    """

    host: str
    addresses: tuple[str, ...]
    folder: Outbox
    main: str
    before: str | None
    between: tuple[int, int] = (0, sys.maxsize)

    @cached_property
    def name(self) -> str:
        """The name of the interface's capture, without its folder."""
        return PurePosixPath(self.main).name


@dataclass
class Host:
    """What one host sent and received, each in order.

    `received` is by arrival, `sent` by the time at which the queue got it, `left` by the time at which it left.
    """

    name: str
    received: list[Packet] = field(default_factory=list)
    sent: list[Packet] = field(default_factory=list)
    left: list[Packet] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)
    sendings: list[int] = field(default_factory=list)
    departures: list[int] = field(default_factory=list)
    addresses: frozenset[bytes] = frozenset()
    """All of its own: what it sends from others it forwards."""

    def order(self) -> None:
        """Sort all, and make the lists of times in which is searched."""
        self.received.sort(key=attrgetter("arrived"))
        self.sent.sort(key=attrgetter("sent"))
        self.left = sorted((each for each in self.sent if each.left > each.sent), key=attrgetter("left"))
        self.arrivals = [each.arrived for each in self.received]
        self.sendings = [each.sent for each in self.sent]
        self.departures = [each.left for each in self.left]
        for number, each in enumerate(self.sent):
            each.order = number

    def made(self, packet: Packet) -> bool:
        """Return whether what it sent is its own, not forwarded. Where no address is known, all is."""
        return not self.addresses or packet.source in self.addresses or packet.is_neighbours or not packet.source

    def wants(self, packet: Packet) -> bool:
        """Return whether what arrived is for itself, not to be forwarded. Where no address is known, all is."""
        return not self.addresses or packet.target in self.addresses or packet.is_for_many

    def arrived_by(self, ns: int) -> int:
        """Return how many packets had arrived at a time, those of that instant included."""
        return bisect_right(self.arrivals, ns)

    def sent_by(self, ns: int) -> int:
        """Return how many had been sent at a time, those of that instant included."""
        return bisect_right(self.sendings, ns)


@dataclass(frozen=True)
class Trace:
    """The hosts by name, and what to say of the captures."""

    hosts: dict[str, Host]
    notes: tuple[str, ...]


def read(captures: Sequence[HostCapture]) -> Trace:
    """Read the captures of all hosts, and match what one sent with what another received.

    Raises
    ------
    ToolError
        A file is not a capture, or none has a packet.
    """
    hosts = {each.host: Host(each.host, addresses=_own(captures, each.host)) for each in captures}
    notes: list[str] = []
    waiting: dict[tuple[object, ...], list[Packet]] = defaultdict(list)
    came: list[tuple[Packet, HostCapture]] = []
    for each in captures:
        before = _sent(each, notes)
        macs = {packet.mac for packet in before}
        queued: dict[tuple[object, ...], list[Packet]] = defaultdict(list)
        for packet in reversed(before):
            queued[packet.key].append(packet)
        own = hosts[each.host].addresses
        crossed = _packets(each, each.main, notes)
        _divide(before, queued, crossed)
        for packet in crossed:
            if packet.mac not in macs and not (each.before is None and packet.source in own):
                came.append((packet, each))
                continue
            known = queued.get(packet.key)
            if known:
                entered = known.pop()
                entered.left, entered.frame, entered.interface = packet.arrived, packet.frame, each.name
            else:
                entered, entered.sender, entered.sent, entered.left = packet, each.host, packet.arrived, packet.arrived
                entered.arrived, entered.interface = -1, each.name
                before.append(entered)
        hosts[each.host].sent += before
        for packet in before:
            waiting[packet.key].append(packet)
    _match(came, waiting, hosts)
    for host in hosts.values():
        host.order()
    if not any(host.sent or host.received for host in hosts.values()):
        raise ToolError("the captures have no packet", fix="measure something that uses the network")
    return Trace(hosts, tuple(notes))


def _sent(capture: HostCapture, notes: list[str]) -> list[Packet]:
    """Return what a host sent, by its capture before the queue; without one nothing, and a note."""
    if capture.before is None:
        notes.append(f"{capture.host}: no capture before the queue, so what a queue delayed counts as the host's")
        return []
    found = _packets(capture, capture.before, notes)
    for packet in found:
        packet.sender, packet.sent = capture.host, packet.arrived
        packet.arrived, packet.frame = -1, 0
    return found


def _own(captures: Sequence[HostCapture], host: str) -> frozenset[bytes]:
    """Return all addresses of a host."""
    found = set()
    for text in (address for each in captures if each.host == host for address in each.addresses):
        with suppress(ValueError):  # a lab may have written anything
            found.add(ip_address(text).packed)
    return frozenset(found)


def _divide(before: list[Packet], queued: dict[tuple[object, ...], list[Packet]], crossed: Iterable[Packet]) -> None:
    """Replace each datagram that the kernel divided behind the filter (UDP_SEGMENT) by its parts.

    A program may give the kernel many datagrams of one size as one; they are divided when they enter a queue that counts
    packets, or when they leave. Those have the large one's bytes in order, and its identity, counted up.
    """
    if not any(each.protocol == UDP for each in before):
        return
    keys = {each.key for each in crossed if each.protocol == UDP}
    large = [each for each in before if each.protocol == UDP and each.key not in keys]
    if not large:
        return
    pieces: dict[tuple[object, ...], list[Packet]] = defaultdict(list)
    for each in crossed:
        if each.protocol == UDP and each.key not in queued:
            pieces[each.mac, each.source, each.sport, each.target, each.dport].append(each)
    for whole in large:
        waiting = pieces.get((whole.mac, whole.source, whole.sport, whole.target, whole.dport), [])
        start = next((number for number, each in enumerate(waiting) if whole.data.startswith(each.data)), None)
        if start is None:
            continue
        end, length = start, 0
        while end < len(waiting) and length < whole.length and waiting[end].arrived >= whole.sent:
            length, end = length + waiting[end].length, end + 1
        if length != whole.length:
            continue
        place = before.index(whole)
        made = [copy(each) for each in waiting[start:end]]
        for each in made:
            each.sender, each.sent, each.arrived, each.frame = whole.sender, whole.sent, -1, 0
            queued[each.key].append(each)
        before[place : place + 1] = made
        del waiting[start:end]


def _packets(capture: HostCapture, name: str, notes: list[str]) -> list[Packet]:
    """Return the packets of one of a capture's files, with their times in `arrived`. One that is cut off gives a note."""
    folder, (first, last) = capture.folder, capture.between
    try:
        file = CaptureFile(folder.read(name, MOST_BYTES), PurePosixPath(name).name)
    except RefusedError as error:
        raise ToolError(f"the capture cannot be read: {error}", fix="measure it again with --capture") from error
    found = []
    for frame in file:
        if frame.link != ETHERNET:
            raise ToolError("the capture is not of Ethernet", str(folder.folder / name), "capture a host's own interface")
        if frame.ns != NO_TIME and len(frame.data) >= 14 and first <= frame.ns <= last:
            packet = Packet(frame)
            packet.arrived = frame.ns
            if not packet.is_housekeeping:
                found.append(packet)
    if file.damage:
        notes.append(f"{PurePosixPath(name).name}: {file.damage}; what came before it counts")
    return found


def _match(
    came: Iterable[tuple[Packet, HostCapture]], waiting: dict[tuple[object, ...], list[Packet]], hosts: dict[str, Host]
) -> None:
    """Give each packet that arrived to the one that was sent: the first such that had left and that nobody has received."""
    for packets in waiting.values():
        packets.sort(key=attrgetter("sent"), reverse=True)
    for packet, capture in sorted(came, key=lambda each: each[0].arrived):
        receiver = capture.host
        packet.frame_arrived, packet.interface_arrived = packet.frame, capture.name
        sent = _taken(waiting.get(packet.key, []), packet.arrived)
        if sent is None:  # of a host without a capture, or the copy of one that arrived already
            packet.receiver = receiver
            hosts[receiver].received.append(packet)
            continue
        if sent.receiver:  # a broadcast that several hosts receive
            packet.sender, packet.sent, packet.left = sent.sender, sent.sent, sent.left
            packet.frame, packet.interface = sent.frame, sent.interface
            sent = packet
        sent.receiver, sent.arrived = receiver, packet.arrived
        sent.frame_arrived, sent.interface_arrived = packet.frame_arrived, capture.name
        hosts[receiver].received.append(sent)


def _taken(sent: list[Packet], arrived: int) -> Packet | None:
    """Return the packet of those that may have arrived then; the latest that may, if all have arrived already."""
    possible = [each for each in sent if each.left >= 0 and each.left <= arrived]
    if not possible:
        return None
    return next((each for each in reversed(possible) if not each.receiver), possible[0])
