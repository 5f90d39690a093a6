"""Tests of what random loss leaves to CUBIC and BBR, against numbers computed by hand and windows that are played through."""

import math
import random

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.loss_tolerance import LINUX_SEND_BUFFER, OF_A_SEGMENT, bbr, cubic, cubic_evenly, limit, pauses
from slownet.theory.throughput import cubic_in_renos_region

RTT, RATE = 0.1, 1e8
PIPE = RATE * RTT / 8 / 1514  # 825.6 segments


def test_the_limit_is_the_payload_that_arrives():
    assert limit(0.05, RATE) == pytest.approx(0.95 * 1e8 * 1448 / 1514)


def test_cubic_with_even_losses_is_the_rfcs_formula():
    # RFC 9438, section 5: a mean window of 1.054 (RTT / p)^(3/4), here of 1.054 * 1000^(3/4) = 187.4 segments
    assert cubic_evenly(1e-4, RTT) == pytest.approx(1.054 * 1000**0.75 * 1448 * 8 / RTT, rel=0.001)


def played(loss, rtt, top, losses=4000):
    """Play CUBIC's window through, a step of a sixteenth of a round trip at a time; return segments per second."""
    chance, step, window, aim_before = random.Random(1), rtt / 16, 10.0, 0.0
    seconds = segments = 0.0
    for _ in range(losses):
        aim, start = (0.85 * window if window < aim_before else window), 0.7 * window
        aim_before, wait = aim, ((aim - start) / 0.4) ** (1 / 3)
        at, seen = 0.0, math.inf
        while at < seen:
            since = max(0.0, at - rtt)
            curve = aim + 0.4 * (since - wait) ** 3 if since else start
            window = min(top, max(start, curve, start + 9 / 17 * since / rtt))
            if seen == math.inf and chance.random() > (1 - loss) ** (window / 16):
                seen = at + rtt
            segments += window / 16
            at += step
        seconds += at
    return segments / seconds


@pytest.mark.parametrize(("loss", "rtt"), [(1e-4, 0.1), (1e-3, 0.1), (1e-2, 0.1), (1e-3, 0.02)])
def test_the_markov_chain_is_that_of_a_window_which_is_played_through(loss, rtt):
    wide = 1e9
    found = cubic(loss, rtt, wide) / (1 - loss) / 8 / 1448
    assert found == pytest.approx(played(loss, rtt, top=2 * wide * rtt / 8 / 1514), rel=0.04)


def test_over_short_paths_cubic_follows_renos_line():
    assert cubic(1e-3, 0.01, RATE) == pytest.approx(cubic_in_renos_region(1e-3, 0.01), rel=0.05)


def test_a_link_limits_cubic_and_a_queue_helps_it():
    payload = limit(1e-6, RATE)
    assert 0.98 * payload < cubic(1e-6, RTT, RATE) <= payload
    assert cubic(1e-6, RTT, RATE, queue=0.0) < 0.95 * payload


def test_bbr_leaves_one_percent():
    assert bbr(0.05, RTT, RATE) == pytest.approx(limit(0.05, RATE) * 0.99)


def test_a_paced_sender_pauses_where_its_buffer_is_full():
    # Without losses a segment stays for a round trip: half a pipe is left half of the rate.
    assert pauses(1e-9, 0.5, PIPE) == pytest.approx(0.5, abs=0.001)
    assert pauses(1e-9, 1.1, PIPE) == pytest.approx(1, abs=0.001)
    # With few segments in flight most rounds have no loss; with thousands nearly each one has a segment that is lost twice.
    assert pauses(0.1, 2, 5) > pauses(0.1, 2, 500)
    assert pauses(0.1, 6, PIPE) == pytest.approx(1, abs=0.01)


def test_linuxs_send_buffer_holds_two_pipes():
    room = LINUX_SEND_BUFFER / (1448 + OF_A_SEGMENT) / PIPE
    assert room == pytest.approx(2.11, abs=0.01)
    assert bbr(0.05, RTT, RATE, LINUX_SEND_BUFFER) == pytest.approx(bbr(0.05, RTT, RATE) * pauses(0.05, room, PIPE))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: cubic(0, RTT, RATE), "loss of 0"),
        (lambda: cubic(0.1, 0, RATE), "rtt is 0"),
        (lambda: cubic(0.1, RTT, -1), "rate is -1"),
        (lambda: cubic_evenly(1, RTT), "loss of 1"),
        (lambda: bbr(0.2, RTT, RATE), "at most 0.19"),
        (lambda: bbr(0.1, RTT, RATE, 0), "buffer is 0"),
        (lambda: pauses(0.1, 0, 10), "room is 0"),
        (lambda: limit(2, RATE), "loss of 2"),
    ],
)
def test_a_number_out_of_range_is_named(call, named):
    with pytest.raises(SlownetError, match=named):
        call()


def test_without_overhead_more_segments_fit_and_bbr_pauses_less():
    full, merged = (bbr(0.1, RTT, RATE, LINUX_SEND_BUFFER, each) for each in (OF_A_SEGMENT, 0))
    assert full < merged < 1.43 * full
    assert merged == pytest.approx(bbr(0.1, RTT, RATE) * pauses(0.1, LINUX_SEND_BUFFER / 1448 / PIPE, PIPE))
