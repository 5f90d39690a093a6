"""Numbered frames between two hosts through packet sockets, without ports, ARP or answers.

The kernel stamps arriving frames and stores them in a ring (PACKET_RX_RING of packet(7), TPACKET_V2), so a frame takes only the
system call that sends it: 10 to 20 us in the lab.
"""

from __future__ import annotations

import mmap
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

from slownet.model.errors import NetworkError
from slownet.net.nodes import inside

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
