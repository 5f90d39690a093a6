"""Which answers wait for a lost packet, and for how long."""

import pytest

from slownet.model.errors import SlownetError
from slownet.model.protocol_names import QUIC, TCP
from slownet.theory.head_of_line import THRESHOLD, held_back, repaired_after_ms

APART = [{}, {0}, {0}, {1}, {1}, {2}, {2}]
SHARED = [{0}, {0, 1}, {1, 2}, {2}]


@pytest.mark.parametrize(
    ("carried", "lost", "over_tcp", "over_quic"),
    [
        (APART, 1, {0, 1, 2}, {0}),
        (APART, 4, {1, 2}, {1}),
        (APART, 6, {2}, {2}),
        (APART, 0, {0, 1, 2}, set()),  # a packet of the handshake or of settings
        (SHARED, 1, {0, 1, 2}, {0, 1}),
        (SHARED, 3, {2}, {2}),
    ],
)
def test_tcp_holds_back_all_behind_and_quic_what_was_in_the_packet(carried, lost, over_tcp, over_quic):
    assert held_back(carried, lost, transport=TCP) == over_tcp
    assert held_back(carried, lost, transport=QUIC) == over_quic


def test_a_repair_takes_one_round_trip_if_enough_packets_show_the_loss():
    assert repaired_after_ms(40, followers=THRESHOLD) == 40
    with pytest.raises(SlownetError, match=r"2 packets follow the lost one, so a timer repairs it, in .*: give 3"):
        repaired_after_ms(40, followers=2)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: held_back(APART, 7, transport=TCP), "lost is 7, of 7 packets, in held_back: give the index"),
        (lambda: held_back(APART, -1, transport=TCP), "lost is -1"),
        (lambda: held_back(APART, 0, transport="SCTP"), "no transport 'SCTP', in held_back: give TCP or QUIC"),
        (lambda: repaired_after_ms(0, followers=9), "rtt_ms is 0, in repaired_after_ms: give more than 0"),
    ],
)
def test_what_cannot_be_is_one_line(call, says):
    with pytest.raises(SlownetError, match=says):
        call()
