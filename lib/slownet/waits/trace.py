"""The packets of all hosts, merged from their captures: each packet with its times at both ends."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import PurePosixPath
from typing import Any

from slownet.lab.run.outbox import Outbox, RefusedError
from slownet.links.packets.capture_file import MOST_BYTES, NO_TIME, CaptureFile, Frame
from slownet.model.errors import SlownetError, ToolError
from slownet.model.options import CAPTURE
from slownet.net import kernel_record
from slownet.net.kernel_record import KernelRecord
from slownet.waits.packets import ETHERNET, UDP, Packet, Shared, hop_key

AT_ONCE_NS = 100_000
"""A host's longest time without a timer on a free clock: a hundred readings of the clock. The shortest sleep is longer
than its timer slack of 50 us by what it asked for."""


CUT_OFF = "what came before it counts"
NOTHING = KernelRecord()


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
    kernel : str or None
        What the host's kernel counted meanwhile (`slownet.net.kernel_record`); a path like the others.
    """

    host: str
    addresses: tuple[str, ...]
    folder: Outbox
    main: str
    before: str | None
    between: tuple[int, int] = (0, sys.maxsize)
    kernel: str | None = None

    @classmethod
    def of_entry(
        cls, entry: Mapping[str, Any], folder: Outbox, between: tuple[int, int] = (0, sys.maxsize)
    ) -> HostCapture:  # fmt: skip
        """Return the captures of an interface of a host by their entry in a sample, `slownet.model.sample.Capture`."""
        addresses = tuple(entry.get("addresses") or ())
        return cls(entry["host"], addresses, folder, entry["file"], entry.get("before"), between, entry.get("kernel"))

    @cached_property
    def name(self) -> str:
        """The name of the interface's capture, without its folder."""
        return PurePosixPath(self.main).name


@dataclass
class Host:
    """The packets that one host sent and received, each in order.

    `received` is by arrival, `sent` by the time when the queue got it, `left` by the time when it left.
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
    kernel: KernelRecord = field(default_factory=KernelRecord)
    """Its kernel's counts of that time."""

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
    """The hosts by name, and notes on the captures."""

    hosts: dict[str, Host]
    notes: tuple[str, ...]


def read(captures: Sequence[HostCapture]) -> Trace:
    """Read the captures of all hosts, and match what one sent with what another received.

    Raises
    ------
    ToolError
        A file is not a capture, or none has a packet.
    """
    notes: list[str] = []
    kernels = {each.host: each for each in captures if each.kernel}
    hosts = {
        name: Host(name, addresses=_own(captures, name), kernel=_kernel(kernels[name], notes) if name in kernels else NOTHING)
        for name in dict.fromkeys(each.host for each in captures)
    }
    shared = Shared()
    waiting: dict[object, list[Packet]] = defaultdict(list)
    came: list[_Came] = []
    queues: list[dict[object, int]] = [{} for _ in captures]
    entered = [_sent(each, notes, shared, earlier) for each, earlier in zip(captures, queues, strict=True)]
    for packet in chain.from_iterable(entered):
        if packet.is_tcp:  # datagrams may be divided yet
            waiting[packet.hop].append(packet)
    for each, before, earlier in zip(captures, entered, queues, strict=True):
        _left(each, before, earlier, waiting, came, notes, shared)
        hosts[each.host].sent += before
    _match(came, waiting, hosts)
    for host in hosts.values():
        host.order()
    if not any(host.sent or host.received for host in hosts.values()):
        cut = next((each for each in notes if CUT_OFF in each), "")
        fix = f"measure it again with {CAPTURE}" if cut else "measure something that uses the network"
        raise ToolError(f"the captures have no packet{cut and f' ({cut})'}", fix=fix)
    return Trace(hosts, tuple(notes))


_Came = tuple[int, int, HostCapture, Packet, bool]
"""A packet that arrived: when, its frame, where, and what it is, which is one of those that are waited for, if any.

Last, whether that is another one with the same fields, as most are: a transfer of 100,000 segments is in memory once.
"""


def _left(
    capture: HostCapture, before: list[Packet], earlier: Mapping[object, int], waiting: dict[object, list[Packet]],
    came: list[_Came], notes: list[str], shared: Shared,
) -> None:  # fmt: skip
    """Read what crossed an interface: when what the host sent left its queue, and what came.

    before: packets that entered the queue; those that are seen here only are added. earlier: by key, when others entered it
    before the capture's time, which count if they left it then. waiting: all hosts' sent packets by key; the datagrams of this
    one are added. came: the packets that arrived are added.
    """
    macs = {packet.mac for packet in before}
    own = _own([capture], capture.host)
    queued: dict[object, list[Packet]] = defaultdict(list)
    for each in reversed(before):
        queued[each.hop].append(each)
    crossed: list[Packet] = []
    for frame in _frames(capture, capture.main, notes):
        number, ns, _, data, _ = frame
        packet: Packet | None = None
        hop: object = hop_key(data)
        if hop is None:
            if (packet := _packet(frame, None, shared)) is None:
                continue
            hop = packet.hop
        if earlier and (entered := earlier.get(hop)) is not None:
            _enters(packet or _made(frame, hop, shared), entered, capture, before, waiting)
            continue
        is_tcp = packet is None or packet.is_tcp
        known = queued.get(hop) if is_tcp else None
        if known:
            _leaves(known.pop(), ns, number, capture)
            continue
        is_sent = data[6:12] in macs or (capture.before is None and (packet.source if packet else data[26:30]) in own)
        known = waiting.get(hop) if is_tcp and not is_sent else None
        if known:
            came.append((ns, number, capture, known[0], True))
            continue
        if packet is None:
            packet = _made(frame, hop, shared)
        if is_sent:
            crossed.append(packet)
        else:
            came.append((ns, number, capture, packet, False))
    _divide(before, queued, crossed)
    _enter(crossed, before, queued, waiting, capture)


def _enter(
    crossed: Iterable[Packet], before: list[Packet], queued: Mapping[object, list[Packet]],
    waiting: dict[object, list[Packet]], capture: HostCapture,
) -> None:  # fmt: skip
    """Add what a host sent and was not seen before its queue to what it sent: it entered as it left."""
    for packet in crossed:
        if known := queued.get(packet.hop):
            _leaves(known.pop(), packet.arrived, packet.frame, capture)
        else:
            _enters(packet, packet.arrived, capture, before, waiting)
    for packet in before:
        if not packet.is_tcp:
            waiting[packet.hop].append(packet)


def _enters(
    packet: Packet, entered: int, capture: HostCapture, before: list[Packet], waiting: dict[object, list[Packet]]
) -> None:
    """Add what was only seen when it left its queue to what a host sent. entered: when it entered the queue."""
    packet.sender, packet.sent = capture.host, entered
    _leaves(packet, packet.arrived, packet.frame, capture)
    packet.arrived = -1
    before.append(packet)
    if packet.is_tcp:
        waiting[packet.hop].append(packet)


def _leaves(entered: Packet, ns: int, frame: int, capture: HostCapture) -> None:
    """Note when a packet left its queue, and the number of its frame."""
    entered.left, entered.frame, entered.interface = ns, frame, capture.name


def _sent(capture: HostCapture, notes: list[str], shared: Shared, earlier: dict[object, int]) -> list[Packet]:
    """Return what a host sent, by its capture before the queue; without one nothing, and a note.

    earlier: when packets entered the queue before the capture's time, which are added by their keys.
    """
    if capture.before is None:
        notes.append(f"{capture.host}: no capture before the queue, so what a queue delayed counts as the host's")
        return []
    found = []
    for frame in _frames(capture, capture.before, notes, since=0):
        if frame.ns < capture.between[0]:
            earlier[hop_key(frame.data) or Packet(frame).hop] = frame.ns
        elif (packet := _packet(frame, hop_key(frame.data), shared)) is not None:
            packet.sender, packet.sent = capture.host, packet.arrived
            packet.arrived, packet.frame = -1, 0
            found.append(packet)
    return found


def _kernel(capture: HostCapture, notes: list[str]) -> KernelRecord:
    """Return what a host's kernel counted; nothing, and a note, if that cannot be read: the packets count without it."""
    assert capture.kernel
    try:
        return kernel_record.read(capture.folder.text(capture.kernel), capture.kernel)
    except SlownetError as error:
        notes.append(f"{capture.host}: what its kernel counted is not known: {error.line}")
        return NOTHING


def _own(captures: Sequence[HostCapture], host: str) -> frozenset[bytes]:
    """Return all addresses of a host."""
    found = set()
    for text in (address for each in captures if each.host == host for address in each.addresses):
        with suppress(ValueError):  # a lab may have written anything
            found.add(ip_address(text).packed)
    return frozenset(found)


def _divide(before: list[Packet], queued: dict[object, list[Packet]], crossed: Iterable[Packet]) -> None:
    """Replace each datagram that the kernel divided behind the filter (UDP_SEGMENT) by its parts.

    A program may give the kernel many datagrams of one size as one; they are divided when they enter a queue that counts
    packets, or when they leave. Those have the large one's bytes in order, and its identity, counted up.
    """
    if not any(each.protocol == UDP for each in before):
        return
    keys = {each.hop for each in crossed if each.protocol == UDP}
    large = [each for each in before if each.protocol == UDP and each.hop not in keys]
    if not large:
        return
    pieces: dict[tuple[object, ...], list[Packet]] = defaultdict(list)
    for each in crossed:
        if each.protocol == UDP and each.hop not in queued:
            pieces[each.mac, each.source, each.sport, each.target, each.dport].append(each)
    divided: dict[int, list[Packet]] = {}
    for whole in large:
        waiting = pieces[whole.mac, whole.source, whole.sport, whole.target, whole.dport]
        start = next((number for number, each in enumerate(waiting) if whole.data.startswith(each.data)), None)
        if start is None:
            continue
        end, length = start, 0
        while end < len(waiting) and length < whole.length and waiting[end].arrived >= whole.sent:
            length, end = length + waiting[end].length, end + 1
        if length != whole.length:
            continue
        divided[id(whole)] = made = [copy(each) for each in waiting[start:end]]
        for each in made:
            each.sender, each.sent, each.arrived, each.frame = whole.sender, whole.sent, -1, 0
            queued[each.hop].append(each)
        del waiting[start:end]
    before[:] = chain.from_iterable(divided.get(id(each), (each,)) for each in before)


def _packet(frame: Frame, hop: object, shared: Shared) -> Packet | None:
    """Return the packet of a frame, with its time in `arrived`; None for one that no program asked for."""
    packet = _made(frame, hop, shared)
    return None if packet.is_housekeeping else packet


def _made(frame: Frame, hop: object, shared: Shared) -> Packet:
    packet = Packet(frame, hop, shared.addresses)
    packet.arrived = frame.ns
    shared.trim(packet)
    return packet


def _frames(capture: HostCapture, name: str, notes: list[str], since: int | None = None) -> Iterator[Frame]:
    """Yield the frames of one of a capture's files that are of its time, or since another one. A file cut off gives a note."""
    folder, (first, last) = capture.folder, capture.between
    first = first if since is None else since
    again = f"measure it again with {CAPTURE}"
    try:
        opened = folder.open(name, MOST_BYTES)
    except RefusedError as error:
        raise ToolError(f"the capture cannot be read: {error}", fix=again) from error
    with opened:
        file = CaptureFile(opened, PurePosixPath(name).name, again)
        for frame in file:
            if frame.link != ETHERNET:
                raise ToolError("the capture is not of Ethernet", str(folder.folder / name), "capture a host's own interface")
            if frame.ns != NO_TIME and len(frame.data) >= 14 and first <= frame.ns <= last:
                yield frame
    if file.damage:
        notes.append(f"{PurePosixPath(name).name}: {file.damage}; {CUT_OFF}")


def _match(came: Iterable[_Came], waiting: dict[object, list[Packet]], hosts: dict[str, Host]) -> None:
    """Give each packet that arrived to the one that was sent: the first such that had left and that no one has received."""
    for packets in waiting.values():
        packets.sort(key=attrgetter("sent"), reverse=True)
    for ns, number, capture, like, is_like in sorted(came, key=itemgetter(0)):
        receiver = capture.host
        packet = sent = _taken(waiting.get(like.hop, []), ns)
        if sent is None or sent.receiver:  # of a host without a capture, or a broadcast that several hosts receive
            packet = copy(like) if is_like else like
            packet.sender, packet.sent, packet.left = (sent.sender, sent.sent, sent.left) if sent else ("", -1, -1)
            packet.frame, packet.interface = (sent.frame, sent.interface) if sent else (number, "")
        assert packet is not None
        packet.receiver, packet.arrived = receiver, ns
        packet.frame_arrived, packet.interface_arrived = number, capture.name
        hosts[receiver].received.append(packet)


def _taken(sent: list[Packet], arrived: int) -> Packet | None:
    """Return the packet of those that may have arrived then; the latest that may, if all have arrived already.

    sent: those with the same fields, the last sent first. Of those at its end that have arrived, only the latest stays in it.
    """
    while len(sent) > 1 and sent[-1].receiver and sent[-2].receiver:
        sent.pop()
    found: Packet | None = None
    for each in reversed(sent):
        if 0 <= each.left <= arrived:
            if not each.receiver:
                return each
            found = each
    return found
