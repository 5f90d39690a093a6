"""Which share each connection gets of a bottleneck, by theory."""

import math

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.shares import (
    bbr_in_long_queue,
    cubic_beside_bbr_in_short_queue,
    cubic_between_losses,
    dctcp_beside_cubic,
    jain,
)


def test_the_index_is_the_part_of_those_who_share():
    assert [jain(rates) for rates in ([5], [1, 1, 1], [1, 0], [3, 3, 0, 0])] == [1, 1, 0.5, 0.5]
    assert jain([1, 2]) == pytest.approx(0.9)


@pytest.mark.parametrize("rates", [[], [0, 0], [1, -1]])
def test_nothing_is_not_shared(rates):
    with pytest.raises(SlownetError, match="no index of fairness"):
        jain(rates)


@pytest.mark.parametrize("rounds", [5, 8, 50])
def test_cubic_between_losses_is_its_sawtooth_counted_by_round_trips(rounds):
    window, seen = 100.0, []
    for number in range(200 * rounds):
        seen.append(window)
        window = 0.7 * window if number % rounds == rounds - 1 else window + 0.9 / 1.7
    # A round trip with a loss adds nothing: one of `rounds`.
    assert math.fsum(seen[-rounds:]) / rounds == pytest.approx(cubic_between_losses(rounds), rel=1.5 / rounds)


def test_beside_bbr_in_a_short_queue_cubics_window_does_not_grow_with_the_pipe():
    assert cubic_beside_bbr_in_short_queue(50) * 50 == pytest.approx(cubic_beside_bbr_in_short_queue(100) * 100)
    assert cubic_beside_bbr_in_short_queue(5) == 1


def test_bbrs_window_is_twice_what_it_measures_beside_cubics():
    queue, pipe, rtt = 200, 50, 0.1
    least, largest = bbr_in_long_queue(queue, pipe, rtt)
    sends = 1 - (0.2 + 0.1 + 0.4) / 10
    for part, k in ((1 - least / sends, 0.7), (_of_the_mean(largest / sends), 1)):
        window = (1 - part) * (pipe + queue)
        assert window == pytest.approx(2 * (1 - part) * (k * part * (pipe + queue) + 4))
    assert least < largest


def _of_the_mean(share):
    """Return p of the share (1 - p) / (1 - p + 0.85 p)."""
    return (1 - share) / (1 - share + 0.85 * share)


def test_dctcps_share_solves_both_sawtooths():
    share = dctcp_beside_cubic(40, 10)
    rounds = next(n / 1000 for n in range(1, 10**5) if 2 * (n / 1000) ** 2 + 0.9 / 1.7 / 0.3 * n / 1000 >= 50)
    # Each mean is half way between the peak and what is left of it.
    own, other = 2 * rounds**2 * (1 - 1 / rounds / 4), cubic_between_losses(rounds)
    assert share == pytest.approx(own / (own + other), rel=1e-3)
    assert dctcp_beside_cubic(400, 10) > share


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: cubic_between_losses(0), "rounds is 0, in cubic_between_losses"),
        (lambda: cubic_beside_bbr_in_short_queue(-1), "pipe is -1"),
        (lambda: bbr_in_long_queue(200, 50, 0), "rtt is 0"),
        (lambda: bbr_in_long_queue(50, 50, 0.1), "a queue of 50 is too short to limit BBR's window"),
        (lambda: dctcp_beside_cubic(50, 0), "threshold is 0"),
        (lambda: dctcp_beside_cubic(math.nan, 10), "pipe is nan"),
    ],
)
def test_what_no_theory_covers_is_one_line(wrong, message):
    with pytest.raises(SlownetError, match=message):
        wrong()
