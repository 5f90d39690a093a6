"""Capture files of every kind, written here byte by byte, and read."""

import bz2
import gzip
import io
import struct
import tracemalloc

import pyarrow
import pytest
from wire import START, block, enhanced, interface, pcap, section

from slownet.links.packets import capture_file
from slownet.links.packets.capture_file import LONGEST_BLOCK, MOST_BYTES, NO_TIME, CaptureFile
from slownet.model.errors import ToolError

FRAMES = [(0.25, b"first frame"), (1.5, b"the second")]
TIMES = [START * 10**9 + 250_000_000, START * 10**9 + 1_500_000_000]


def read(content):
    capture = CaptureFile(content)
    return [(each.ns, each.link, each.data, each.length) for each in capture], capture.damage


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", [{}, {"nano": True}, {"modified": True}])
def test_each_pcap(order, kind):
    found, damage = read(pcap(FRAMES, order=order, link=113, **kind))
    assert found == [(ns, 113, data, len(data)) for ns, (_, data) in zip(TIMES, FRAMES, strict=True)]
    assert not damage


def test_nanoseconds_are_whole():
    assert read(pcap([(0.123456789, b"x")], nano=True))[0][0][0] == START * 10**9 + 123_456_789


def test_a_time_that_cannot_be_is_none():
    content = bytearray(pcap(FRAMES))
    content[28:32] = struct.pack("<I", 2**31)  # microseconds of the first frame
    assert [ns for ns, *_ in read(bytes(content))[0]] == [NO_TIME, TIMES[1]]


def test_a_snapshot_length_keeps_the_length_on_the_wire():
    assert read(pcap([(0, bytes(1000))], snaplen=96))[0] == [(START * 10**9, 1, bytes(96), 1000)]


def test_the_upper_bits_of_the_link_type_are_no_part_of_it():
    assert read(pcap(FRAMES, link=1 | 0x14000000))[0][0][1] == 1  # four bytes of checksum follow each frame


def test_sections_and_interfaces_with_their_own_resolutions_and_offsets():
    content = (
        section("<")
        + interface("<", 1)  # microseconds
        + interface("<", 101, resolution=9)  # nanoseconds
        + interface("<", 113, resolution=0x80 | 10, offset=START)  # parts of 1024, since START
        + enhanced("<", 2, 5 * 1024 + 512, b"in binary parts")
        + enhanced("<", 0, START * 10**6 + 7, b"in microseconds")
        + block("<", 4, b"names of hosts, which are skipped")
        + enhanced("<", 1, START * 10**9 + 7, b"in nanoseconds")
        + section(">")
        + interface(">", 276, resolution=3, offset=-100)
        + enhanced(">", 0, (START + 200) * 1000 + 5, b"another byte order, milliseconds")
    )
    found, damage = read(content)
    assert [(ns - START * 10**9, link) for ns, link, _, _ in found] == [
        (5_500_000_000, 113),
        (7_000, 1),
        (7, 101),
        (100_005_000_000, 276),
    ]
    assert not damage


def test_old_and_simple_blocks():
    old = struct.pack("<HHIIII", 0, 0, (START * 10**6) >> 32, (START * 10**6) & 0xFFFFFFFF, 3, 90) + b"old"
    simple = struct.pack("<I", 50) + b"simple"
    found, damage = read(section() + interface(snaplen=6) + block("<", 2, old) + block("<", 3, simple))
    assert found == [(START * 10**9, 1, b"old", 90), (NO_TIME, 1, b"simple", 50)]
    assert not damage


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lambda data: pyarrow.compress(data, "zstd", asbytes=True)])
def test_compressed(packed):
    assert len(read(packed(pcap(FRAMES)))[0]) == 2


def test_compressed_with_lz4_and_in_several_members():
    with pyarrow.BufferOutputStream() as buffer:
        with pyarrow.CompressedOutputStream(buffer, "lz4") as stream:
            stream.write(pcap(FRAMES))
        content = buffer.getvalue().to_pybytes()
    assert len(read(content)[0]) == 2
    whole = pcap(FRAMES)
    assert len(read(gzip.compress(whole[:30]) + gzip.compress(whole[30:]))[0]) == 2


NG = section() + interface() + enhanced("<", 0, START * 10**6, b"frame")


@pytest.mark.parametrize(
    ("content", "why", "frames"),
    [
        (pcap(FRAMES)[:-1], "the file is cut short after frame 1", 1),
        (gzip.compress(pcap(FRAMES), mtime=0)[:-9], "the compressed data end or are damaged after frame", 2),
        (
            gzip.compress(pcap(FRAMES), compresslevel=0, mtime=0)[:-20],
            "the compressed data end or are damaged after frame 1",
            1,
        ),
        (pcap(FRAMES[:1]) + struct.pack("<IIII", 0, 0, 1 << 31, 1 << 31), "frame 2 states 2147483648 bytes", 1),
        (NG + struct.pack("<II", 6, 0xFFFFFFFC), "a block of 4294967292 bytes after frame 1", 1),
        (NG + struct.pack("<II", 4, 0xFFFFFFFC), "the file is cut short after frame 1", 1),
        (NG + struct.pack("<II", 5, 0), "a block of 0 bytes after frame 1", 1),
        (NG + struct.pack("<II", 6, LONGEST_BLOCK + 4), "a block of", 1),
        (NG + enhanced("<", 1, 0, b"x"), "frame 2 names interface 1, which it does not define", 1),
        (NG + section()[:8] + bytes(20), "a section without a byte order after frame 1", 1),
        (NG + enhanced("<", 0, 0, b"frame")[:-4] + bytes(4), "a block whose two lengths differ", 1),
        (section() + enhanced("<", 0, 0, b"x"), "frame 1 names interface 0", 0),
    ],
)
def test_what_came_before_the_damage_counts(content, why, frames):
    found, damage = read(content)
    assert why in damage
    assert len(found) == frames


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 40, b"GIF89a and more", gzip.compress(b"a log of pings", mtime=0), b"\x1f\x8b\x08"]
)
def test_what_is_no_capture(content):
    with pytest.raises(ToolError, match="the capture cannot be read"):
        CaptureFile(content)


class Endless(io.RawIOBase):
    """Zeros, as they come out of a small compressed file."""

    def __init__(self, first):
        self.first = first

    def readable(self):
        return True

    def read(self, size=-1):
        found, self.first = self.first[:size], self.first[size:]
        return found + bytes(size - len(found))


def test_a_bomb_ends_in_bounded_memory():
    tracemalloc.start()
    with pytest.raises(ToolError, match="more than a GiB"):
        list(CaptureFile(Endless(NG + struct.pack("<II", 4, 0xFFFFFFFC))))
    assert tracemalloc.get_traced_memory()[1] < 2 << 20
    tracemalloc.stop()
    assert MOST_BYTES == 1 << 30


@pytest.mark.parametrize(
    "record",
    [struct.pack("<IIII", 1, 0, 0, 0), struct.pack("<III", 0x0BAD, 12, 12)],
    ids=["frames without bytes", "blocks of another kind"],
)
def test_a_bomb_of_many_small_records_ends(monkeypatch, record):
    """Of a GiB of 16 bytes each, a gzip file has a MB, and reading them takes minutes."""
    monkeypatch.setattr(capture_file, "MOST_RECORDS", 1000)
    first = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) if len(record) == 16 else NG
    assert len(list(CaptureFile(first + 900 * record))) in {1, 900}
    with pytest.raises(ToolError, match=r"more than 1,000 frames and blocks.*editcap"):
        list(CaptureFile(first + 1100 * record))
