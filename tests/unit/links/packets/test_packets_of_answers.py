"""Which answers each packet carries, in captures from a lab in which one packet of the third object was lost (nginx 1.26)."""

from pathlib import Path

import pytest

from slownet.links.packets.responses import answered, in_records, numbered
from slownet.links.packets.tls import Piece
from slownet.model.errors import ToolError
from slownet.model.protocol_names import QUIC, TCP
from slownet.theory.head_of_line import held_back

DATA = Path(__file__).parent / "data"
LOST = {TCP: 8, QUIC: 7}
"""The index of the lost packet; the client's capture has it too, since it was dropped behind."""


def read(name, transport):
    (found,) = answered(DATA / f"{name}.pcap", DATA / f"{name}.keys", transport)
    return found.seen.application, [sorted(each) for each in found.carried]


def test_over_http_2_each_answer_has_a_packet_and_the_lost_one_comes_again():
    application, carried = read("lost-h2", TCP)
    assert application == "h2"
    # SYN, ACK, the handshake, two tickets; then settings with the first frame of the first answer
    assert carried == [[]] * 5 + [[0], [0], [1], [2], [3], [4], [5], [2]] + [[]] * 3


def test_over_http_3_each_answer_has_two_packets_and_the_lost_one_comes_again():
    application, carried = read("lost-h3", QUIC)
    assert application == "h3"
    assert carried[:15] == [[]] * 3 + [[each // 2] for each in range(12)]
    assert carried[15:] == [[], [], [2], [2], [], [], []]


@pytest.mark.parametrize(("name", "transport", "expected"), [("lost-h2", TCP, {2, 3, 4, 5}), ("lost-h3", QUIC, {2})])
def test_what_waits_for_the_lost_packet(name, transport, expected):
    carried = read(name, transport)[1]
    assert held_back(carried, LOST[transport], transport=transport) == expected


def test_without_keys_there_is_one_line(tmp_path):
    with pytest.raises(ToolError, match="cannot be read without keys"):
        answered(DATA / "lost-h2.pcap", tmp_path / "none", TCP)


def frame(kind, stream, length):
    return length.to_bytes(3) + bytes([kind, 0]) + stream.to_bytes(4) + bytes(length)


def test_a_record_has_the_answers_of_all_frames_in_it_and_of_one_that_goes_on():
    settings, headers, data, last = frame(4, 0, 12), frame(1, 1, 30), frame(0, 1, 100), frame(0, 3, 50)
    contents = [settings, headers + data[:20], data[20:] + last[:9], last[9:], frame(8, 0, 4)]
    pieces = [Piece(100 * number, 100 * number + 80, each) for number, each in enumerate(contents)]
    assert [streams for _, streams in in_records(pieces)] == [set(), {1}, {1, 3}, {3}, set()]


def test_answers_are_numbered_as_they_begin():
    assert numbered([{8}, {0, 4}, set(), {8, 4}]) == ({0}, {1, 2}, frozenset(), {0, 2})
