"""When TCP's probing begins, by the sums of its timers."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.path_mtu import probing_begins_ms


def test_probing_begins_after_a_probe_and_four_timeouts():
    # 2 x 40, then 240 + 480 + 960 + 1920; three seconds after the first of these retransmissions is before the last timeout
    assert probing_begins_ms(40) == (3680, 3680 + 4 + 4 + 3 * 32)


@pytest.mark.parametrize(
    ("rtt_ms", "expected"), [(1, 2 + 201 * 31), (14, 28 + 214 * 31), (15, 30 + 215 * 15), (300, 600 + 3500)]
)
def test_a_short_round_trip_needs_one_more_timeout(rtt_ms, expected):
    assert probing_begins_ms(rtt_ms)[0] == expected


@pytest.mark.parametrize("rtt_ms", [0, -1])
def test_a_round_trip_takes_time(rtt_ms):
    with pytest.raises(SlownetError, match=f"rtt_ms is {rtt_ms}, in probing_begins_ms: give more than 0"):
        probing_begins_ms(rtt_ms)
