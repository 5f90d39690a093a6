"""Streams of pieces in any order, and the frames of QUIC packets."""

import pytest

from slownet.links.packets.capture import ACK, SYN, Segment
from slownet.links.packets.quic import Crypto, Data, frames
from slownet.links.packets.seen import messages
from slownet.links.packets.tls import Stream, stream
from slownet.model.errors import ToolError


def test_a_piece_counts_from_when_all_before_it_is_there():
    found = Stream()
    for offset, data, ns in ((0, b"ab", 10), (4, b"ef", 20), (2, b"cd", 30), (0, b"abcd", 40), (6, b"g", 50)):
        found.add(offset, data, ns)
    assert bytes(found.data) == b"abcdefg"
    assert [found.arrived(position) for position in (0, 1, 2, 5, 6)] == [10, 10, 30, 30, 50]


def test_pieces_that_overlap_are_taken_once():
    found = Stream()
    found.add(3, b"de", 1)
    found.add(3, b"d", 2)
    found.add(1, b"bcd", 3)
    found.add(0, b"ab", 4)
    assert bytes(found.data) == b"abcde"


def test_data_in_a_syn_comes_first():
    sent = [
        Segment(5, True, SYN, -1, 0, 2, b"GE"),
        Segment(6, False, SYN | ACK, -1, 2, 0),
        Segment(9, True, ACK, 2, 0, 1, b"T"),
    ]
    found = stream(sent, True)
    assert bytes(found.data) == b"GET"
    assert (found.arrived(0), found.arrived(2)) == (5, 9)


def test_frames_that_carry_nothing_are_passed_over():
    payload = bytes.fromhex(
        "0000"  # PADDING
        "01"  # PING
        "020a00010305 02"  # ACK with a second range
        "03 02 00 00 01 02 03 04"  # ACK_ECN
        "0700 1005 1a0102030405060708 1e"  # NEW_TOKEN, MAX_DATA, PATH_CHALLENGE, HANDSHAKE_DONE
        "180100 02aabb 000102030405060708090a0b0c0d0e0f"  # NEW_CONNECTION_ID
        "0602 03616263"  # CRYPTO at 2
        "0e 04 05 02 6465"  # STREAM 4 at 5 with its length
        "1c 00 00 01 78"  # CONNECTION_CLOSE
        "08 00 6667"  # STREAM 0 to the packet's end
    )
    assert list(frames(payload)) == [Crypto(2, b"abc"), Data(4, 5, b"de"), Data(0, 0, b"fg")]


def test_an_unknown_frame_is_one_line():
    with pytest.raises(ToolError, match="a QUIC frame of type 0x3f"):
        list(frames(b"\x3f"))


def test_a_message_that_is_not_whole_is_left_out():
    whole = b"\x02\x00\x00\x01x"
    assert messages(whole + b"\x0b\x00\x00\x05abc") == [(2, whole)]
