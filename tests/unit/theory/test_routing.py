"""How long routing protocols take to notice a failure, in exact numbers."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory import routing
from slownet.theory.routing import Interval


def test_ospf_waits_for_its_dead_interval_less_the_age_of_a_hello():
    assert routing.ospf() == Interval(30_000, 40_000)
    assert routing.ospf(hello_s=1, dead_s=4) == Interval(3_000, 4_000)


def test_bfd_waits_for_three_packets():
    assert routing.bfd() == Interval(600, 900)
    assert routing.bfd(interval_ms=50, multiplier=5) == Interval(200, 250)


def test_bgp_waits_for_its_hold_time_less_the_age_of_a_keepalive():
    assert routing.bgp() == Interval(120_000, 180_000)
    assert routing.bgp(hold_s=9) == Interval(6_000, 9_000)
    assert routing.bgp(hold_s=240, jitter=0.25) == Interval(100_000, 240_000)  # BIRD


def test_rip_waits_for_its_timeout_and_the_next_update_of_another_neighbour():
    assert routing.rip() == Interval(143_000, 217_000)
    assert routing.rip(update_s=5, timeout_s=15, jitter_s=1) == Interval(9_000, 21_000)


def test_what_is_left_of_an_advertisement_interval():
    assert routing.news(30, 5) == Interval(17_500, 25_000)
    assert routing.news(30, 5, jitter=0) == Interval(25_000, 25_000)
    assert routing.news(0, 5) == Interval(0, 0)
    assert routing.news(30, 25) == Interval(0, 5_000)


def test_an_interval_whose_end_is_later():
    assert Interval(1, 2).later(3) == Interval(1, 5)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (
            lambda: routing.ospf(10, 10),
            "10000 ms of silence between messages 10000 ms apart, in ospf: give dead_s above hello_s",
        ),
        (lambda: routing.bfd(300, 1), "300 ms of silence between messages 300 ms apart, in bfd: give an interval above 0"),
        (lambda: routing.bgp(0), "0 ms of silence between messages 0 ms apart, in bgp: give hold_s above 0"),
        (lambda: routing.bgp(180, 1), "jitter is 1, in bgp: give 0 to below 1"),
        (lambda: routing.rip(30, 30), "30000 ms of silence between messages 37000 ms apart, in rip: give timeout_s above"),
        (lambda: routing.news(-1, 0), "mrai_s is -1, since_s 0, jitter 0.25, in news: give 0 or more"),
    ],
)
def test_what_makes_no_sense_is_one_line(wrong, line):
    with pytest.raises(SlownetError) as caught:
        wrong()
    assert caught.value.line.startswith(line)
