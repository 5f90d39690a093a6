"""wrk2's plan against what the real program printed: the counts of its README's example, and of tests in a lab."""

import pytest

from slownet.tools.wrk import LOST_S, SENT_LATE_S, Plan, Stall, latencies, percentile

IDLE = Stall(rtt=0.001)
BOUNDS = (0.0, SENT_LATE_S)


def test_a_thread_calibrates_itself_5_ms_longer_for_each_of_its_connections():
    assert Plan(1000, 11, 64, threads=1).calibrated_s == pytest.approx(10.32)
    assert Plan(2000, 30, 100, threads=2).calibrated_s == pytest.approx(10.25)


def test_connections_begin_5_ms_apart_or_after_the_second_that_the_event_loop_lost():
    plan = Plan(1000, 11, 64, threads=1)
    assert plan.starts()[:3] == [0, 0.005, 0.01]
    assert plan.mean_start() == pytest.approx(0.1575)
    assert plan.starts(lost=True) == [LOST_S] * 64
    assert Plan(1000, 11, 600, threads=2).mean_start(losing=1) == pytest.approx(
        (0.7475 + sum(Plan(9, 9, 300, 1).starts(lost=True)) / 300) / 2
    )
    assert Plan(9, 9, 300, threads=1).starts(lost=True)[-1] == pytest.approx(1.495)


def test_the_counts_are_those_of_the_real_program():
    assert len(latencies(Plan(2000, 30, 100, threads=2), IDLE, sent_late=0)[0]) == 39_500  # README of wrk2, example 1
    stalled = latencies(Plan(100, 211, 50, threads=1), Stall(0.001, after=110.2, seconds=100), sent_late=0)
    assert [len(each) for each in stalled] == [20_050, 20_050]  # measured in a lab, with 21,101 requests


def test_more_connections_than_threads_can_share_are_left_out():
    assert Plan(100, 30, 10, threads=4).of_thread == 2
    assert Plan(100, 30, 10, threads=4).interval_s == pytest.approx(0.08)


def test_what_an_idle_server_shows_is_a_round_trip_and_the_rounding_of_timers():
    """The real program shows 1.06 to 2.9 ms over 1 ms; when it sent the request, it does not show."""
    soonest, latest = (latencies(Plan(100, 30, 50, threads=1), IDLE, sent_late=late) for late in BOUNDS)
    assert (soonest[0][0], latest[0][-1]) == pytest.approx((0.001, 0.003))
    assert soonest[1] == pytest.approx(latest[1])
    assert soonest[1][-1] == pytest.approx(0.001)


@pytest.mark.parametrize("late", BOUNDS)
def test_the_thought_experiment(late):
    """The real program printed a mean of 24.955 s, 49.807 s at 75 % and 99.9996 s at most."""
    corrected, uncorrected = latencies(Plan(100, 211, 50, threads=1), Stall(0.001, after=110.2, seconds=100), sent_late=late)
    assert sum(corrected) / len(corrected) == pytest.approx(24.955, abs=0.01)
    assert percentile(corrected, 75) == pytest.approx(49.807, abs=0.02)
    assert corrected[-1] == pytest.approx(99.9996, abs=0.003)
    assert percentile(corrected, 45) == pytest.approx(0.001 + late)
    assert percentile(uncorrected, 99) == pytest.approx(0.001)
    assert uncorrected[-1] > 99


def test_after_a_pause_a_connection_catches_up_as_fast_as_answers_come():
    """Ten requests a second of one connection; one answer takes 1 s longer: those that were due meanwhile follow."""
    (corrected, _) = latencies(Plan(10, 14, 1, threads=1), Stall(0.01, after=12.0, seconds=1.0), sent_late=0)
    late = sorted((each for each in corrected if each > 0.011), reverse=True)
    assert late == pytest.approx([1.005 - 0.09 * n for n in range(len(late))], abs=0.012)
    assert len(late) == 12


@pytest.mark.parametrize(
    ("requests", "rate", "longest", "began"),
    [
        (113_791, 20_497, 4.462005, 1.0),  # an overload; its event loop had lost its first second
        (111_742, 19_184, 4.189917, 1.0),
        (111_742, 19_184, 4.189917 + 0.8425, 0.1575),
        (11 * 19_184, 19_184, 0.02, 0.0),  # older versions let all connections begin at once
        (int(10.84 * 19_184), 19_184, 0.003, 0.1575),
    ],
)
def test_when_connections_began_follows_from_what_is_printed(requests, rate, longest, began):
    assert Plan(rate, 11, 64, threads=1).started(requests, 11.0, longest) == pytest.approx(began)


def test_a_stalled_server_does_not_look_as_if_connections_had_begun_late():
    plan = Plan(100, 211, 50, threads=1)
    assert plan.started(21_101, 211, 0.0029) == pytest.approx(0.1225)
    assert plan.started(21_101, 211, 99.9996) == 0.0
