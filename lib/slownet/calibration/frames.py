"""Frames of our own between two hosts, through packet sockets: no port, no ARP, nobody who answers.

They arrive in a ring that the kernel fills and stamps (PACKET_RX_RING of packet(7), TPACKET_V2), so that one costs a single
system call, its sending: 10 to 20 us in the lab.
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

from slownet.errors import NetworkError
from slownet.net.nodes import inside

OURS = 0x88B5  # IEEE 802's EtherType for local experiments
ALL = 0x0003
IPV4 = 0x0800
# linux/if_packet.h, linux/socket.h
SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION, TPACKET_V2 = 263, 5, 6, 10, 1
PACKET_OUTGOING, TP_STATUS_USER = 4, 1
SO_SNDBUFFORCE = 32
BUFFER = 1 << 28

SLOT, BLOCK = 128, 1 << 16
FRAME_AT = 66  # where a frame begins in its slot, its 14 bytes of Ethernet header first
SHOWN = 60  # bytes of it that a slot shows
_SLOT = struct.Struct(f"=II8xII8x10xB{FRAME_AT - 43}x{SHOWN}s{SLOT - FRAME_AT - SHOWN}x")
_STAMP = struct.Struct("=IQ")
LEAST = 60
PACK = 20


class Frame(NamedTuple):
    """A frame that arrived: when, in ns of the wall clock; how long, in bytes; its first 60 bytes."""

    stamp: int
    length: int
    content: bytes

    def numbered(self, at: int = 14) -> tuple[int, int]:
        """Number and time of sending, which `stamped` wrote at that offset."""
        number, sent = _STAMP.unpack_from(self.content, at)
        return number, sent


def stamped(number: int) -> bytes:
    """A number and the time in ns of the wall clock."""
    return _STAMP.pack(number, time.time_ns())


class Sender:
    """Sends frames from one interface to the one at the other end of its cable."""

    def __init__(self, source: Any, target: Any) -> None:
        """source, target: Mininet interfaces."""
        self._header = _mac(target) + _mac(source) + struct.pack("!H", OURS)
        with inside(source.node):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.bind((source.name, 0))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)

    def numbered(self, count: int, size: int = LEAST, pause: float = 0.0) -> None:
        """That many frames of `size` bytes each with their Ethernet header: at once, or PACK of them every `pause` seconds."""
        send, header, padding = self._socket.send, self._header, bytes(size - 14 - _STAMP.size)
        for number in range(count):
            with suppress(OSError):  # ENOBUFS: the link's queue has no room for it
                send(header + stamped(number) + padding)
            if pause and number % PACK == PACK - 1:
                time.sleep(pause)

    def alike(self, count: int) -> bytes:
        """That many frames at once, the same each, which is returned."""
        frame = self._header + bytes(range(LEAST - 14))
        for _ in range(count):
            self._socket.send(frame)
        return frame

    def close(self) -> None:
        self._socket.close()


class Ring:
    """What comes in on an interface while it is entered."""

    def __init__(self, interface: Any, protocol: int, count: int) -> None:
        """interface: a Mininet interface; protocol: an EtherType; count: the frames that must find room."""
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
        """Those that are there, in the order in which they came. Raises NetworkError if some found no room."""
        _, dropped = struct.unpack("II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        if dropped:
            raise NetworkError(f"{dropped} frames found no room in the ring", where=self._where)
        for status, length, seconds, nanoseconds, kind, content in _SLOT.iter_unpack(self._memory):
            if not status & TP_STATUS_USER:
                return
            if kind != PACKET_OUTGOING:
                yield Frame(seconds * 10**9 + nanoseconds, length, content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._memory.close()
        self._socket.close()


def _mac(interface: Any) -> bytes:
    return bytes.fromhex(str(interface.MAC()).replace(":", ""))
