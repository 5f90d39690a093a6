"""tshark's time for a long stream is proportional to its length, also if it is no HTTP on HTTP's port."""

import resource
import shutil
import struct

import pytest

from slownet.waits import dissected

FEW, MANY = 14_000, 56_000


def stream(count):
    """Return a capture of segments of 8 bytes that never end a line."""
    content = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)]
    for number in range(count):
        segment = struct.pack("!HHIIBBHHH", 40000, 80, 100 + 8 * number, 500, 5 << 4, 24, 60000, 0, 0) + b"question"
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), number % 65536, 0, 64, 6, 0)
        frame = b"\2" * 12 + b"\x08\x00" + head + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + segment
        content.append(struct.pack("<IIII", 1_700_000_000 + number, 0, len(frame), len(frame)) + frame)
    return b"".join(content)


def cpu(content, folder):
    path = folder / "stream.pcap"
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with path.open("rb") as file:
        list(dissected._dissect(shutil.which("tshark"), file, b""))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_a_long_stream_without_an_end(tmp_path):
    """Four times as many segments take four times as long; twice that would be half of the way to the square."""
    few, many = (cpu(stream(count), tmp_path) for count in (FEW, MANY))
    assert many < 8 * few
