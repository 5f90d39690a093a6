"""Tests of theoretical rates against published numbers."""

import math
import random

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.throughput import (
    aimd,
    cubic_in_renos_region,
    limited_by_queue,
    limited_by_rate,
    mathis,
    padhye,
    reno_friendly,
    timeouts_rule,
    window_segments,
)

# loss, RTT, Mbit/s by Mathis and by Padhye (b = 1, first timeout RTT + 0.2 s)
KNOWN = [
    (0.001, 0.100, 4.49, 4.46),
    (0.01, 0.100, 1.42, 1.33),
    (0.05, 0.100, 0.63, 0.46),
    (0.001, 0.020, 22.4, 21.9),
    (0.01, 0.020, 7.09, 5.68),
    (0.05, 0.020, 3.17, 1.36),
]


@pytest.mark.parametrize(("loss", "rtt", "by_mathis", "by_padhye"), KNOWN)
def test_known_rates(loss, rtt, by_mathis, by_padhye):
    assert mathis(loss, rtt) / 1e6 == pytest.approx(by_mathis, rel=0.01)
    assert padhye(loss, rtt) / 1e6 == pytest.approx(by_padhye, rel=0.012)


def test_mathis_is_exact_where_it_can_be_done_by_hand():
    assert mathis(0.015, 0.1, mss=1250) == pytest.approx(1e6)  # a window of 10 segments
    assert mathis(0.03, 0.1, mss=1250, acked=2) == pytest.approx(5e5)
    assert window_segments(0.015) == pytest.approx(10)


def constant(rate, loss):
    return rate * 0.1 / 8 / 1448 * math.sqrt(loss)


def test_losses_by_chance_leave_a_little_more_than_even_ones():
    assert constant(aimd(0.01, 0.1), 0.01) == pytest.approx(1.309, abs=0.001)  # Ott, Kemperman and Mathis: 1.3098
    assert constant(mathis(0.01, 0.1), 0.01) == pytest.approx(1.225, abs=0.001)
    assert cubic_in_renos_region(0.01, 0.1) / aimd(0.01, 0.1) == pytest.approx(0.973, abs=0.001)


@pytest.mark.parametrize(("increase", "keeps"), [(1.0, 0.5), (0.53, 0.7)])
def test_the_formula_is_that_of_a_window_which_is_played_through(increase, keeps):
    """A simulated window at a loss of 1 in 100,000 delivers the rate of the formula, in packets per round trip."""
    chance, loss, window, packets, trips = random.Random(1), 1e-5, 300.0, 0.0, 0.0
    for _ in range(20_000):
        lot = chance.expovariate(loss)
        grown = math.sqrt(window * window + 2 * increase * lot)
        packets, trips, window = packets + lot, trips + (grown - window) / increase, keeps * grown
    assert packets / trips * math.sqrt(loss) == pytest.approx(constant(aimd(loss, 0.1, 1448, increase, keeps), loss), rel=0.02)


def test_timeouts_take_over_with_loss():
    assert [timeouts_rule(loss) for loss in (0.001, 0.01, 0.05, 0.10)] == [False, False, True, True]
    assert padhye(0.10, 0.1) < 0.6 * mathis(0.10, 0.1)
    assert padhye(0.10, 0.1, rto=1.0) < padhye(0.10, 0.1)


def test_cubic_is_like_reno_on_short_paths():
    assert reno_friendly(0.001, 0.1)
    assert not reno_friendly(0.0001, 0.1)
    assert reno_friendly(0.0001, 0.02)


def test_the_articles_numbers():
    assert limited_by_queue(1000, 0.1) / 8 / 2**20 == pytest.approx(13.81, abs=0.005)  # MiB/s, the article's wget: 13.5
    assert limited_by_rate(2e6) / 8 / 1024 == pytest.approx(233.5, abs=0.05)  # KiB/s, the article's wget: 233


@pytest.mark.parametrize(("loss", "rtt"), [(0, 0.1), (1, 0.1), (-0.1, 0.1), (0.1, 0)])
def test_what_theory_says_nothing_about(loss, rtt):
    for theory in (mathis, padhye, aimd):
        with pytest.raises(SlownetError, match="give"):
            theory(loss, rtt)
