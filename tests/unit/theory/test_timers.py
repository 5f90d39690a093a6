"""The kernel's timers: their slots, and the first timeout of a connection."""

import pytest

from slownet.theory.timers import fires_at, late_ms, ticks, timeout_ms


def test_long_timers_are_kept_in_coarse_slots():
    assert [late_ms(each) for each in (248, 252, 1000, 2012, 2016, 32_000, 64_000)] == [4, 32, 32, 32, 256, 2048, 2048]


def test_a_timer_fires_at_the_begin_of_the_next_slot():
    assert fires_at(1000, 62) == 1063  # slots of a tick
    assert fires_at(1000, 64) == 1072  # slots of eight: 1064 is the begin of one, so it is the next
    assert [fires_at(now, 100) - now for now in range(1000, 1008)] == [104, 103, 102, 101, 108, 107, 106, 105]
    assert fires_at(0, 504) == 512


def test_one_that_is_set_in_a_timer_has_one_tick_less_before_it():
    assert (fires_at(0, 63), fires_at(0, 63, in_timer=False)) == (64, 64)
    assert (fires_at(1, 63), fires_at(1, 63, in_timer=False)) == (65, 72)


@pytest.mark.parametrize(("rtt_ms", "expected"), [(1, 201), (99, 299), (100, 300), (101, 303), (600, 1800)])
def test_a_timeout_is_a_round_trip_and_at_least_200_ms_or_two_more(rtt_ms, expected):
    assert timeout_ms(rtt_ms) == expected


def test_ticks_are_rounded_up():
    assert [ticks(each) for each in (4, 4.1, 210, 212)] == [1, 2, 53, 53]
