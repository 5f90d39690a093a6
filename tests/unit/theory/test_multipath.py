"""The longest stall of a connection that loses one of its paths."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.multipath import longest_stall_ms


def test_a_stall_has_a_probe_two_timeouts_and_a_round_trip():
    # 2 x 80 + 2, 280 and 560, each with the slot that the kernel keeps it in, and 40
    assert longest_stall_ms(40) == (162 + 4) + (280 + 32) + (560 + 32) + 40


def test_a_probe_for_a_lone_segment_waits_for_a_delayed_ack_but_no_longer_than_a_timeout():
    assert longest_stall_ms(2) == 2 * (242 + 4) + (484 + 32) + 2
    assert longest_stall_ms(40, every_ms=30) == 2 * (280 + 32) + (560 + 32) + 40


def test_a_young_connection_still_has_the_variance_of_its_handshake():
    timeout = 640 + 200 + 1000 * 0.75  # of 600 ms, after five round trips
    assert longest_stall_ms(600, after_ms=3000) == (1282 + 32) + (timeout + 32) + (2 * timeout + 256) + 600
    assert longest_stall_ms(600, after_ms=600) > longest_stall_ms(600, after_ms=3000) > longest_stall_ms(600)
    assert longest_stall_ms(40, after_ms=3000) == longest_stall_ms(40)


@pytest.mark.parametrize("given", [{"rtt_ms": 0}, {"rtt_ms": 1, "every_ms": 0}, {"rtt_ms": 1, "after_ms": -1}])
def test_a_time_is_above_0(given):
    with pytest.raises(SlownetError, match=r"(rtt|every|after)_ms is (0|-1), in longest_stall_ms: give more than 0"):
        longest_stall_ms(**given)
