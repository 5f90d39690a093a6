"""The probes: each sends packets over a link that has its condition, and returns numbers.

A probe takes the two ends of the link (Mininet interfaces, the sender's first) and the case, and returns JSON: seconds, bits
per second, bytes and counts. The kernel stamps frames when they arrive, so a busy receiver does not distort the times.
"""

from __future__ import annotations

import mmap
import socket
import statistics
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from types import TracebackType
from typing import Any, NamedTuple, Self

from slownet.calibration.cases import Case
from slownet.links.conditions.jitter import ENDS
from slownet.links.conditions.link import ETHERNET, MTU
from slownet.links.ip import ECHO_HEADER, IP, PMTUDISC_PROBE, UDP_HEADER
from slownet.model.errors import NetworkError
from slownet.model.shapes import Json
from slownet.net import ipv6, tc
from slownet.net.namespace import inside

# Numbered frames between two hosts through packet sockets, without ports, ARP or answers.
#
# The kernel stamps arriving frames and stores them in a ring (PACKET_RX_RING of packet(7), TPACKET_V2), so a frame takes only
# the system call that sends it: 10 to 20 us in the lab.

OURS = 0x88B5  # IEEE 802's EtherType for local experiments
ALL = 0x0003
# linux/if_packet.h, linux/socket.h
SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION, TPACKET_V2 = 263, 5, 6, 10, 1
PACKET_OUTGOING, TP_STATUS_USER = 4, 1
SO_SNDBUFFORCE = 32
BUFFER = 1 << 28

SLOT, BLOCK = 256, 1 << 16
FRAME_AT = 66  # offset of a frame in its slot; it begins with 14 bytes of Ethernet header
SHOWN = 96  # bytes of a frame that are read from its slot: Ethernet 14, IPv6 40, and TCP 32 or an echo 20 are 86 at most
_SLOT = struct.Struct(f"=II8xII8x10xB{FRAME_AT - 43}x{SHOWN}s{SLOT - FRAME_AT - SHOWN}x")
_STAMP = struct.Struct("=IQ")
STAMP = _STAMP.size  # bytes that `stamped` returns
LEAST = 60
PACK = 20


class Frame(NamedTuple):
    """A frame that arrived: the time in ns of the wall clock, the length in bytes, and the first 96 bytes."""

    stamp: int
    length: int
    content: bytes

    def numbered(self, at: int = 14) -> tuple[int, int]:
        """Return the number and the sending time, which `stamped` wrote, from an offset."""
        number, sent = _STAMP.unpack_from(self.content, at)
        return number, sent


def stamped(number: int) -> bytes:
    """Return a number and the time in ns of the wall clock, packed."""
    return _STAMP.pack(number, time.time_ns())


class Sender:
    """Sends frames from one Mininet interface to the other end of its link."""

    def __init__(self, source: Any, target: Any) -> None:
        self._header = _mac(target) + _mac(source) + struct.pack("!H", OURS)
        with inside(source.node):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.bind((source.name, 0))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)

    def numbered(self, count: int, size: int = LEAST, pause: float = 0.0) -> None:
        """Send frames of `size` bytes, Ethernet header included: all at once, or PACK of them every `pause` seconds."""
        send, header, padding = self._socket.send, self._header, bytes(size - 14 - STAMP)
        for number in range(count):
            with suppress(OSError):  # ENOBUFS: the link's queue is full
                send(header + stamped(number) + padding)
            if pause and number % PACK == PACK - 1:
                time.sleep(pause)

    def alike(self, count: int) -> bytes:
        """Send identical frames at once, and return the frame."""
        frame = self._header + bytes(range(LEAST - 14))
        for _ in range(count):
            self._socket.send(frame)
        return frame

    def close(self) -> None:
        self._socket.close()


class Ring:
    """Records the frames that arrive at a Mininet interface during a ``with`` block.

    ``protocol`` is an EtherType, ``count`` the number of frames that must fit.
    """

    def __init__(self, interface: Any, protocol: int, count: int) -> None:
        blocks = count * SLOT // BLOCK + 1
        with inside(interface.node):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        request = struct.pack("IIII", BLOCK, blocks, SLOT, blocks * BLOCK // SLOT)
        self._socket.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
        self._memory = mmap.mmap(self._socket.fileno(), blocks * BLOCK)
        self._socket.bind((interface.name, protocol))
        self._where = f"interface {interface.name} of {interface.node.name}"

    def frames(self) -> Iterator[Frame]:
        """Return the frames so far in the order of arrival. Raises NetworkError if some did not fit."""
        _, dropped = struct.unpack("II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        if dropped:
            raise NetworkError(f"{dropped} frames did not fit into the ring", where=self._where)
        for status, length, seconds, nanoseconds, kind, content in _SLOT.iter_unpack(self._memory):
            if not status & TP_STATUS_USER:
                return
            if kind != PACKET_OUTGOING:
                yield Frame(seconds * 10**9 + nanoseconds, length, content[:length])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._memory.close()
        self._socket.close()


def _mac(interface: Any) -> bytes:
    return bytes.fromhex(str(interface.MAC()).replace(":", ""))


Ends = tuple[Any, Any]
Numbers = dict[str, Json]

MARGIN_S = 0.05  # how late a busy host may be
PAUSE_S = 0.002
FULL = MTU + ETHERNET
SEGMENT = 500  # minimum payload of a segment in bytes
MAGIC = 0x510E0000
LEAST_MTU, MOST_MTU = 68, 65535  # of IPv4 (RFC 791); below what any case states, so that a measured MTU has been crossed


def echo(ends: Ends, case: Case) -> Numbers:
    """Measure the round trips of ICMP echoes, which the other host's kernel answers."""
    source, target = ends
    with inside(source.node):
        sender = socket.socket(case.ip.family, socket.SOCK_RAW, case.ip.icmp)
    with closing(sender), Ring(source, case.ip.ethertype, 1000) as ring:
        for number in range(case.count):
            sender.sendto(echo_request(case.ip, number), (_address(target, case), 0))
            time.sleep(PAUSE_S)
        time.sleep(case.condition.rtt + MARGIN_S)
        at = ETHERNET + case.ip.header + ECHO_HEADER
        replies = [(frame.stamp, *frame.numbered(at)) for frame in ring.frames() if frame.length == at + STAMP]
    return {"rtt_s": [(came - sent) / 1e9 for came, number, sent in replies if number & 0xFFFF0000 == MAGIC]}


def numbers(ends: Ends, case: Case) -> Numbers:
    """Count the numbered frames that are lost, the bursts they are lost in, and those that arrive twice."""
    came = [frame.numbered()[0] for frame in _one_way(ends, case)]
    gone = sorted(set(range(case.count)) - set(came))
    runs = bool(gone) + sum(after != before + 1 for before, after in pairwise(gone))
    return {"sent": case.count, "lost": len(gone), "runs": runs, "copies": len(came) - len(set(came))}


def spread(ends: Ends, case: Case) -> Numbers:
    """Measure standard deviation and quantiles of one-way delays, and return the table that netem draws them from."""
    delays = sorted(_delays(_one_way(ends, case, pause=PAUSE_S)))
    quantiles = {str(part): delays[round(part * (len(delays) - 1))] for part in (0.1, 0.9)}
    table = list(tc.table(case.condition.distribution))
    return {"came": len(delays), "sd_s": statistics.pstdev(delays), "quantiles_s": quantiles, "table": table}


def early(ends: Ends, case: Case) -> Numbers:
    """Count the frames that arrived in less than half of the delay: they were reordered."""
    delays = _delays(_one_way(ends, case, pause=PAUSE_S))
    return {"sent": case.count, "early": sum(each < case.condition.up / 2 for each in delays)}


def damage(ends: Ends, case: Case) -> Numbers:
    """Count the frames whose content changed on the way."""
    with closing(Sender(*ends)) as sender, Ring(ends[1], ALL, case.count + 1000) as ring:
        sent = sender.alike(case.count)
        time.sleep(_travels(case, 0))
        came = [frame.content for frame in ring.frames()]
    return {"sent": case.count, "came": len(came), "damaged": sum(content != sent for content in came)}


def crossing(ends: Ends, case: Case) -> Numbers:
    """Measure the one-way delay of single full-size frames over an idle link."""
    delays: list[float] = []
    for _ in range(case.count):
        delays += _delays(_one_way(ends, case, 1, FULL))
    return {"delays_s": delays}


def fill(ends: Ends, case: Case) -> Numbers:
    """Measure the longest time in the queue when more frames are sent at once than it holds."""
    delays = _delays(_one_way(ends, case, size=FULL))
    return {"sent": case.count, "came": len(delays), "waited_s": max(delays, default=0.0) - case.condition.up}


def kept(ends: Ends, case: Case) -> Numbers:
    """Count how many of the frames that are sent at once fit into the queue."""
    return {"sent": case.count, "came": len(_one_way(ends, case, size=FULL))}


def largest(ends: Ends, case: Case) -> Numbers:
    """Find the largest IP packet, in bytes, that crosses the link unfragmented."""
    source, target = ends
    with inside(target.node):
        receiver = socket.socket(case.ip.family, socket.SOCK_DGRAM)
    with inside(source.node):
        sender = socket.socket(case.ip.family, socket.SOCK_DGRAM)
    with closing(receiver), closing(sender):
        receiver.bind((_address(target, case), 0))
        receiver.settimeout(MARGIN_S)
        sender.setsockopt(*case.ip.mtu_discover, PMTUDISC_PROBE)
        sender.connect(receiver.getsockname())
        passes, stuck = LEAST_MTU, MOST_MTU + 1
        while stuck - passes > 1:
            size = (passes + stuck) // 2
            content = size - case.ip.header - UDP_HEADER
            passes, stuck = (size, stuck) if _crosses(sender, receiver, content) else (passes, size)
    return {"bytes": passes}


def transfer(ends: Ends, case: Case) -> Numbers:
    """Measure the payload rate of one TCP connection in bit/s, from the segments on the link.

    The first and last tenth and retransmissions do not count. The receiving program would see the data later, and in lumps
    where a full queue lost a segment.
    """
    with Ring(ends[1], case.ip.ethertype, 2 * case.count // SEGMENT + 1000) as ring:
        _transferred(ends, case)
        packets = ((frame.stamp, frame.content[ETHERNET:]) for frame in ring.frames())
        segments = [(stamp, *segment(case.ip, each)) for stamp, each in packets if case.ip.protocol(each) == socket.IPPROTO_TCP]
    marks, seen, total = [], set(), 0
    for stamp, number, size in segments:
        if size and number not in seen:
            seen.add(number)
            total += size
            marks.append((stamp, total))
    first, last = (next(mark for mark in marks if mark[1] >= part * total) for part in (0.1, 0.9))
    return {"bit_s": 8e9 * (last[1] - first[1]) / (last[0] - first[0])}


def _transferred(ends: Ends, case: Case) -> None:
    """Send the case's bytes over TCP, and receive them."""
    source, target = ends
    with inside(target.node):
        listener = socket.create_server((_address(target, case), 0), family=case.ip.family)
    with inside(source.node):
        sender = socket.socket(case.ip.family)
    with closing(listener), closing(sender):
        sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)
        sender.connect(listener.getsockname())
        receiver, _ = listener.accept()
        with closing(receiver):
            _pour(sender, receiver, case.count)


def _pour(sender: socket.socket, receiver: socket.socket, count: int) -> None:
    left, buffer = memoryview(bytes(count)), bytearray(1 << 20)
    sender.setblocking(False)
    total = 0
    while total < count:
        with suppress(BlockingIOError):
            left = left[sender.send(left) :] if left else left
        total += receiver.recv_into(buffer)


def segment(ip: IP, packet: bytes) -> tuple[int, int]:
    """Return the sequence number of a packet's TCP segment and its payload in bytes (RFC 9293)."""
    (number,) = struct.unpack_from("!I", packet, ip.header + 4)
    return number, ip.payload(packet) - 4 * (packet[ip.header + 12] >> 4)


def _one_way(ends: Ends, case: Case, count: int | None = None, size: int = LEAST, pause: float = 0.0) -> list[Frame]:
    """Send numbered frames with `Sender.numbered`, and return those that arrive."""
    count = count or case.count
    with closing(Sender(*ends)) as sender, Ring(ends[1], OURS, 2 * count + 1000) as ring:
        sender.numbered(count, size, pause)
        time.sleep(_travels(case, count * size))
        return list(ring.frames())


def _delays(frames: Sequence[Frame]) -> list[float]:
    return [(frame.stamp - frame.numbered()[1]) / 1e9 for frame in frames]


def _travels(case: Case, size: int) -> float:
    """Return after how many seconds the last of `size` bytes must have arrived."""
    one = case.condition
    return one.up + ENDS * one.jitter + (8 * size / one.rate_up if one.rate_up else 0) + MARGIN_S


def _crosses(sender: socket.socket, receiver: socket.socket, content: int) -> bool:
    """Return whether a UDP datagram with so many bytes of content arrives."""
    try:
        sender.send(bytes(content))
        return len(receiver.recv(MOST_MTU)) == content
    except TimeoutError:
        return False
    except OSError:  # EMSGSIZE: our own interface refuses the packet
        return False


def _address(end: Any, case: Case) -> str:
    return ipv6.address(case.ip, end.node.IP())


def echo_request(ip: IP, number: int) -> bytes:
    """Return a numbered echo request with the time of sending."""
    return ip.echo(0, number, stamped(MAGIC | number))


PROBES: Mapping[str, Callable[[Ends, Case], Numbers]] = {
    each.__name__: each for each in (echo, numbers, spread, early, damage, crossing, fill, kept, largest, transfer)
}
