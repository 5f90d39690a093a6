"""Reads the frames of a capture file: pcap and pcapng, as they are or compressed.

pcap has one link type and one resolution (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html). It is read in both
byte orders, with microseconds, with nanoseconds and as Kuznetzov's "modified" one, whose records have eight bytes more.

A pcapng (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html) has sections, each with its byte order and its own
interfaces, each of these with its link type, its resolution (if_tsresol) and a number of seconds to add (if_tsoffset).
scapy 2.8 and dpkt 1.9 apply the ones of another interface, or none: hence this reader.

What cannot be read on, such as a file whose end is missing, ends the frames, and is described in ``damage``: what came before
it counts. Frames are read one by one, so the memory does not depend on the file; what it states about lengths is not believed.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from slownet.model.errors import ToolError

LONGEST_FRAME = 1 << 18
"""Bytes: libpcap's own limit (MAXIMUM_SNAPLEN)."""
LONGEST_BLOCK = 1 << 24
"""Bytes of a pcapng block that is kept in memory: one with a frame, or an interface. Others are skipped at any length."""
MOST_BYTES = 1 << 30
"""Bytes of a capture, unpacked."""
MOST_RECORDS = 3_000_000
"""Frames and other blocks of a capture. A GiB of the smallest ones, which compress to a MB, would be read for minutes."""
MOST_INTERFACES = 4096
NANOSECONDS = 10**9
NO_TIME = -1
CUT = "cut it with editcap -c 1000000 FILE PARTS"
FIX = "record it with tcpdump -i eth0 -w FILE tcp"
_CHUNK = 1 << 16
_GZIP = 31  # zlib's number for the format


class Frame(NamedTuple):
    """One frame: its number from 1, its time in ns since 1970, its link type, its captured bytes, its length on the wire.

    The time is NO_TIME where the file has none (pcapng's simple blocks), or one that cannot be, with more than a second of ns.
    """

    number: int
    ns: int
    link: int
    data: bytes
    length: int


@dataclass(frozen=True)
class _Interface:
    link: int
    ticks: int
    offset: int
    snaplen: int

    def ns(self, stamp: int) -> int:
        return stamp * NANOSECONDS // self.ticks + self.offset * NANOSECONDS


class _EndError(Exception):
    """The file cannot be read any further, and why."""


_ORDERS = {
    b"\xa1\xb2\xc3\xd4": (">", 1000, 16), b"\xd4\xc3\xb2\xa1": ("<", 1000, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1, 16), b"\x4d\x3c\xb2\xa1": ("<", 1, 16),
    b"\xa1\xb2\xcd\x34": (">", 1000, 24), b"\x34\xcd\xb2\xa1": ("<", 1000, 24),
}  # fmt: skip
"""By the first bytes of a pcap: its byte order, the ns of its fractions of a second, and the bytes of a record's header."""
_SECTION = b"\x0a\x0d\x0d\x0a"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4", b"BZh": "bz2"}
MAGICS = (*_ORDERS, _SECTION, *_COMPRESSED)
"""First bytes of what is read here. A compressed file may hold anything else, too."""
_INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 1, 2, 3, 6
_TSRESOL, _TSOFFSET, _OPTIONS_END = 9, 14, 0


class CaptureFile:
    """The frames of a capture, read once, in the order of the file.

    source: the capture, compressed or not. A file need not be seekable.
    where: its name, for errors.
    fix: what to do with a file that is not a capture.
    Raises ToolError: it is not a capture.
    """

    def __init__(self, source: bytes | BinaryIO, where: str = "capture", fix: str = FIX) -> None:
        self.where = where
        self.damage = ""
        """Why the frames ended before the file did; empty after a whole file."""
        self.count = 0
        """Frames so far."""
        self._file = _unpacked(io.BytesIO(source) if isinstance(source, bytes) else source, where)
        self._taken = self._records = 0
        try:
            magic = self._read(4)
        except _EndError as end:
            raise ToolError(f"the capture cannot be read: {end}", where, fix) from end
        if magic in _ORDERS:
            self._frames = self._pcap(*_ORDERS[magic])
        elif magic == _SECTION:
            self._frames = self._pcapng()
        else:
            raise ToolError("the capture cannot be read: it is neither a pcap nor a pcapng", where, fix)

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames. Raises ToolError if the file has more than a GiB, or more than three million frames and blocks."""
        try:
            yield from self._frames
        except _EndError as end:
            self.damage = str(end)

    def _read(self, size: int) -> bytes:
        """Return the next bytes. Raises _EndError if they are missing, ToolError for more than a GiB in all."""
        found = self._rest(size)
        while len(found) < size:
            if not (more := self._rest(size - len(found))):
                raise self._cut_short()
            found += more
        return found

    def _cut_short(self) -> _EndError:
        return _EndError(f"the file is cut short after frame {self.count}")

    def _rest(self, size: int) -> bytes:
        """Return the next bytes, at most so many, none at the end.

        Raises ToolError for more than a GiB in all, _EndError for damaged ones.
        """
        try:
            found = self._file.read1(size)
        except (OSError, EOFError, zlib.error) as error:  # of gzip, and pyarrow's for the others
            raise _EndError(f"the compressed data end or are damaged after frame {self.count} ({error})") from error
        self._taken += len(found)
        if self._taken > MOST_BYTES:
            raise ToolError("the capture has more than a GiB", self.where, CUT)
        return found

    def _skip(self, size: int) -> None:
        while size > 0:
            size -= len(self._read(min(size, _CHUNK)))

    def _at_end(self, size: int = 4) -> bytes:
        """Return the first bytes of the next record, or nothing at the end. Raises ToolError for too many records."""
        self._records += 1
        if self._records > MOST_RECORDS:
            raise ToolError(f"the capture has more than {MOST_RECORDS:,} frames and blocks", self.where, CUT)
        first = self._rest(size)
        return first + self._read(size - len(first)) if first else first

    def _pcap(self, order: str, fraction: int, header: int) -> Iterator[Frame]:
        _, minor, _, _, _, link = struct.unpack(order + "HHiIII", self._read(20))
        link &= 0xFFFF  # above it: whether and how long frames have a checksum at their end
        unpack, new = struct.Struct(order + "IIII").unpack_from, tuple.__new__
        data, at, number = b"", 0, 0  # read in pieces, because a call for each frame takes most of the time
        while True:
            end = at + header
            if end > len(data):
                data, at, end = self._filled(data[at:], header), 0, header
                if not data:
                    return
                if end > len(data):
                    raise self._cut_short()
            seconds, part, kept, length = unpack(data, at)
            if minor < 4 and (minor < 3 or kept > length):  # they stood the other way round in early versions
                kept, length = length, kept
            number += 1
            if number > MOST_RECORDS:
                raise ToolError(f"the capture has more than {MOST_RECORDS:,} frames and blocks", self.where, CUT)
            if kept > LONGEST_FRAME:
                raise _EndError(f"frame {number} states {kept} bytes, more than any has")
            begin, at = end, end + kept
            if at > len(data):
                data, begin, at = self._filled(data[begin:], kept), 0, kept
                if at > len(data):
                    raise self._cut_short()
            part *= fraction
            ns = seconds * NANOSECONDS + part if part < NANOSECONDS else NO_TIME
            self.count = number
            yield new(Frame, (number, ns, link, data[begin:at], length))

    def _filled(self, data: bytes, size: int) -> bytes:
        """Return data and what follows in the file: so many bytes or more, fewer at its end. Raises like `_rest`."""
        while len(data) < size and (more := self._rest(_CHUNK)):
            data += more
        return data

    def _pcapng(self) -> Iterator[Frame]:
        order = "<"
        interfaces: list[_Interface] = []
        head = _SECTION
        while head:
            if head == _SECTION:
                order, interfaces = self._section(), []
                head = self._at_end()
                continue
            kind = struct.unpack(order + "I", head)[0]
            body = self._block(order, keep=kind in (_INTERFACE, _PACKET, _SIMPLE, _ENHANCED))
            if kind == _INTERFACE and len(interfaces) < MOST_INTERFACES:
                interfaces.append(_interface(body, order))
            elif kind in (_PACKET, _SIMPLE, _ENHANCED):
                found = _frame(kind, body, order, interfaces, self.count + 1)
                self.count += 1
                yield found
            head = self._at_end()

    def _section(self) -> str:
        """Read the rest of a section's header after its type; return the byte order."""
        length, magic = self._read(4), self._read(4)
        order = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}.get(magic)
        if order is None:
            raise _EndError(f"a section without a byte order after frame {self.count}")
        size = struct.unpack(order + "I", length)[0]
        if size < 28 or size % 4:
            raise _EndError(f"a section's header of {size} bytes after frame {self.count}")
        self._skip(size - 12)
        return order

    def _block(self, order: str, *, keep: bool) -> bytes:
        """Read the rest of a block after its type; return what it holds, if it is to be kept."""
        size = struct.unpack(order + "I", self._read(4))[0]
        if size < 12 or size % 4 or (keep and size > LONGEST_BLOCK):
            raise _EndError(f"a block of {size} bytes after frame {self.count}")
        if not keep:
            self._skip(size - 8)
            return b""
        body = self._read(size - 12)
        if struct.unpack(order + "I", self._read(4))[0] != size:
            raise _EndError(f"a block whose two lengths differ after frame {self.count}")
        return body


def _interface(body: bytes, order: str) -> _Interface:
    if len(body) < 8:
        raise _EndError("an interface without its link type")
    link, _, snaplen = struct.unpack_from(order + "HHI", body)
    ticks, offset = 10**6, 0
    for code, value in _options(body[8:], order):
        if code == _TSRESOL and value:
            ticks = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
        elif code == _TSOFFSET and len(value) == 8:
            offset = struct.unpack(order + "q", value)[0]
    return _Interface(link, ticks, offset, snaplen)


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from(order + "HH", data, at)
        if code == _OPTIONS_END:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def _frame(kind: int, body: bytes, order: str, interfaces: list[_Interface], number: int) -> Frame:
    """Return the frame of a block."""
    fixed = 4 if kind == _SIMPLE else 20
    if len(body) < fixed:
        raise _EndError(f"frame {number} has a block of {len(body)} bytes")
    if kind == _SIMPLE:
        index, high, low, length = 0, 0, 0, struct.unpack_from(order + "I", body)[0]
        kept = min(length, (interfaces[0].snaplen or length) if interfaces else length)
    elif kind == _PACKET:
        index, _, high, low, kept, length = struct.unpack_from(order + "HHIIII", body)
    else:
        index, high, low, kept, length = struct.unpack_from(order + "IIIII", body)
    if index >= len(interfaces):
        raise _EndError(f"frame {number} names interface {index}, which it does not define")
    if kept > len(body) - fixed or kept > LONGEST_FRAME:
        raise _EndError(f"frame {number} states {kept} bytes in a block of {len(body)}")
    interface = interfaces[index]
    ns = NO_TIME if kind == _SIMPLE else interface.ns(high << 32 | low)
    return Frame(number, ns, interface.link, body[fixed : fixed + kept], length)


class _Joined(io.RawIOBase):
    """A file whose first bytes have been read already."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first, self._rest = first, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._first[: len(buffer)] or self._rest.read(len(buffer))
        self._first = self._first[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)


class _Gunzip(io.RawIOBase):
    """The content of a gzip file; of a damaged one what comes before the damage, which gzip.GzipFile does not return."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed, self._rest = packed, b""
        self._member = zlib.decompressobj(_GZIP)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._member.eof:  # another member may follow, or zeros
                self._rest = (self._member.unused_data or self._packed.read(_CHUNK)).lstrip(b"\0")
                if not self._rest:
                    return 0
                self._member = zlib.decompressobj(_GZIP)
            self._rest = self._rest or self._packed.read(_CHUNK)
            if not self._rest:
                raise EOFError("its end is missing")
            found = self._member.decompress(self._rest, len(buffer))
            self._rest = self._member.unconsumed_tail
            if found:
                buffer[: len(found)] = found
                return len(found)


def _unpacked(file: BinaryIO, where: str) -> io.BufferedReader[Any]:
    """Return a file's content, decompressed if it is compressed."""
    first = file.read(4)
    whole = io.BufferedReader(_Joined(first, file), _CHUNK)
    name = next((name for magic, name in _COMPRESSED.items() if first.startswith(magic)), "")
    if not name:
        return whole
    if name == "gzip":
        return io.BufferedReader(_Gunzip(whole), _CHUNK)
    import pyarrow  # not at the top: it takes a quarter of a second

    stream: Callable[..., Any] = pyarrow.CompressedInputStream
    return io.BufferedReader(stream(pyarrow.PythonFile(whole, mode="r"), name), _CHUNK)
