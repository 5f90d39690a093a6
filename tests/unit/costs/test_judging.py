"""Round trips from times at four delays, and what is made of them."""

import pytest

from slownet.costs.entry import Operation
from slownet.costs.judging import PAIRS, RTTS, cost

ASKED = Operation("connect", "new", 6.0, earlier={"7.4.0": 4.0})


def times(trips, constant=0.02, more=lambda rtt: 0.0):
    return {rtt: constant + trips * rtt / 1000 + more(rtt) for rtt in RTTS}


def test_the_pairs_share_no_delay():
    assert len({rtt for pair in PAIRS for rtt in pair}) == 4
    assert sorted(RTTS) == sorted({rtt for pair in PAIRS for rtt in pair})


@pytest.mark.parametrize("trips", [0, 1, 6, 120])
def test_k_is_the_slope_whatever_else_takes_time(trips):
    found = cost(Operation("a", "next", trips), "", times(trips, constant=3.0))
    assert found.trips == pytest.approx(trips)
    assert found.spread == pytest.approx(0, abs=1e-9)
    assert found.verdict == "as expected"


@pytest.mark.parametrize(
    ("trips", "version", "verdict", "says"),
    [
        (6.0, "8.1.0", "as expected", "6.00"),
        (6.04, "8.1.0", "as expected", "6.04"),
        (4.0, "8.1.0", "differs", "4.00, 6 expected"),
        (4.0, "7.4.0", "as expected", "4.00"),
        (6.0, "7.4.0", "differs", "6.00, 4 expected"),
        (5.5, "8.1.0", "not whole", "5.50 is not a whole number"),
        (6.1, "8.1.0", "not whole", "6.10 is not a whole number"),
    ],
)
def test_a_number_is_compared_with_that_of_its_version(trips, version, verdict, says):
    found = cost(ASKED, version, times(trips))
    assert found.verdict == verdict
    assert found.sentence.startswith(says)


def test_a_number_that_theory_says_is_a_fraction_is_as_expected():
    assert cost(Operation("a", "next", 1.5), "", times(1.5)).verdict == "as expected"


def test_a_program_that_polls_takes_steps_instead_of_a_line():
    def until_the_next_poll(rtt):
        return -(6 * rtt / 1000) % 0.5

    found = cost(ASKED, "8.1.0", times(6, more=until_the_next_poll))
    assert found.verdict == "varies"
    assert "polls" in found.sentence


def test_random_round_trips_show_their_spread():
    found = cost(ASKED, "8.1.0", {100: 0.6, 170: 1.02, 310: 1.86, 400: 2.86})
    assert (found.verdict, round(found.spread, 3)) == ("varies", 2.0)
    assert found.sentence.startswith("6.00 to 8.00")
