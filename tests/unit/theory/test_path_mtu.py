"""When TCP's probing begins, by the sums of its timers."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.path_mtu import probing_begins_ms


def test_probing_begins_after_a_probe_and_four_timeouts():
    # A probe after 82 ms, in a tick of 4; timeouts of 240 in slots of 4, 480, 960 and 1920 in slots of 32. The last two begin
    # with a slot and are whole slots long, so they are late by one each.
    assert probing_begins_ms(40) == (3756, 3832)
    assert 84 + 244 + 484 + 992 + 1952 == 3756


@pytest.mark.parametrize(
    ("rtt_ms", "least", "most"),
    [
        (10, 24 + 15 * 212, 24 + 15 * 212 + 4 + 4 + 3 * 32),  # 14 timeouts of 212 ms are 2968, and late enough for 3000
        (300, 604 + 7 * 900, 604 + 7 * 904 + 3 * 32 + 256),  # a timeout is three round trips, and the third ends after 5400
        (600, 1204 + 3 * 1800, 1204 + 3 * 1804 + 32 + 2 * 256),  # the second ends after 3600
        (1, 4 + 31 * 204, 8 + 31 * 204 + 4 + 3 * 32 + 256),  # one more: 14 timeouts of 204 ms are 2856
    ],
)
def test_the_number_of_timeouts_follows_from_their_length(rtt_ms, least, most):
    low, high = probing_begins_ms(rtt_ms)
    assert least <= low <= high <= most


def test_what_was_measured_lies_within():
    """From the SYN to the first byte, on the lab's kernel: two round trips are for the handshake and the first flight."""
    for rtt_ms, measured in ((10, 3309), (300, 7617)):
        low, high = probing_begins_ms(rtt_ms)
        assert low <= measured - 2 * rtt_ms <= high


def test_where_the_timers_slots_decide_both_are_possible():
    low, high = probing_begins_ms(5)
    assert high > 2 * low


@pytest.mark.parametrize("rtt_ms", [0, -1, 1000])
def test_a_round_trip_takes_time_but_less_than_the_handshakes_timeout(rtt_ms):
    with pytest.raises(SlownetError, match=f"rtt_ms is {rtt_ms}, in probing_begins_ms: give more than 0, and less than"):
        probing_begins_ms(rtt_ms)
