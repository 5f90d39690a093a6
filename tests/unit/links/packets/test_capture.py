"""Captures made by tcpdump in a lab, read with scapy and compared with the program's writes."""

from pathlib import Path

import pytest

from slownet.links.packets.capture import ACK, FIN, SYN, Segment, departures, read
from slownet.model.errors import ToolError
from slownet.net.strace import parse

DATA = Path(__file__).parent / "data"
TRACE = Path(__file__).parents[2] / "tools" / "data" / "strace-write-write-read.txt"


def test_segments_are_relative_to_the_connections_start():
    segments = read(DATA / "write-write-read.pcap")
    assert segments[:3] == [
        Segment(segments[0].ns, True, SYN, -1, segments[0].acknowledged, 0),
        Segment(segments[0].ns, False, SYN | ACK, -1, 0, 0),
        Segment(segments[0].ns, True, ACK, 0, 0, 0),
    ]
    sent = [each for each in segments if each.outward and each.length]
    assert [(each.sequence, each.length) for each in sent][:4] == [(0, 128), (128, 35), (163, 128), (291, 35)]
    assert sum(bool(each.flags & FIN) for each in segments) == 2


def test_a_capture_is_read_from_bytes_as_from_a_file():
    path = DATA / "nodelay.pcap"
    assert read(path.read_bytes()) == read(path)


def test_the_second_segment_leaves_after_the_acknowledgement():
    writes = [(call.ns, call.result) for call in parse(TRACE.read_text()) if call.name == "sendto"]
    found = departures(writes, read(DATA / "write-write-read.pcap"))
    assert [each.end for each in found] == [128, 163, 291, 326, 454, 489, 617, 652]
    held = [each for each in found if each.held_ms > 1]
    assert [each.end for each in held] == [326, 489, 652]  # not the first pair: its ACK was quick
    for each in held:
        assert 40 <= each.held_ms <= 48
        assert 0 <= each.left - each.acked < 20_000
    assert all(each.held_ms < 0.1 for each in found if each not in held)


def test_nodelay_holds_nothing_back():
    segments = read(DATA / "nodelay.pcap")
    pairs = [each for each in segments if each.outward and each.length]
    assert [each.length for each in pairs] == [128, 35] * 4
    assert max(second.ns - first.ns for first, second in zip(pairs[::2], pairs[1::2], strict=True)) < 50_000


def test_bytes_that_never_left_are_left_out():
    segments = read(DATA / "nodelay.pcap")
    assert len(departures([(0, 128), (0, 35), (0, 100_000)], segments)) == 2


@pytest.mark.parametrize("content", [b"", b"no capture at all, but long enough to be a header"])
def test_what_is_no_capture_is_one_line(content: bytes, tmp_path: Path):
    path = tmp_path / "wire.pcap"
    path.write_bytes(content)
    with pytest.raises(ToolError, match=r"the capture cannot be read.*wire\.pcap"):
        read(path)


def test_a_capture_that_came_too_late_says_so():
    whole = (DATA / "nodelay.pcap").read_bytes()
    with pytest.raises(ToolError, match="no connection starts in 0 TCP packets"):
        read(whole[:24])
