"""The longest stall of a connection that loses one of its paths."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.multipath import longest_stall_ms


def test_a_stall_has_a_probe_two_timeouts_and_a_round_trip():
    # 2 x 80, 280 and 560, each with the slot that the kernel keeps it in, and 40
    assert longest_stall_ms(40) == (160 + 4) + (280 + 32) + (560 + 32) + 40


def test_a_round_trip_takes_time():
    with pytest.raises(SlownetError, match="rtt_ms is 0, in longest_stall_ms: give more than 0"):
        longest_stall_ms(0)
