"""A test's comparisons are judged from as many boots as they need."""

import pytest

from slownet.judge.claim import about
from slownet.judge.measured import Measured
from slownet.judge.records.comparisons import Comparisons, compared_in, looks, pooled
from slownet.theory.stats import DECIDING, Summary, from_moments

EXACT = Summary(20.0, 20.0, 20.0, 5, None, DECIDING)


def boot(mean, half=4.0):
    """Return what one boot found, with the interval within it."""
    return Summary(mean, mean - half, mean + half, 5, 4, DECIDING)


def measured(mean, half=4.0):
    return Measured("rtt_ms", boot(mean, half))


def test_one_boot_is_as_it_was():
    assert pooled([boot(20.0)], DECIDING) == boot(20.0)


def test_the_means_of_boots_are_the_units():
    found = pooled([boot(19.0), boot(20.0), boot(21.0), boot(20.0)], DECIDING)
    assert found == from_moments(20.0, (2 / 3) ** 0.5, 4, DECIDING)


def test_boots_that_agree_are_exact_from_four_on():
    assert pooled([boot(20.0)] * 4, DECIDING).half_width == 0
    assert pooled([boot(20.0)] * 3, DECIDING) == boot(20.0), "that three agree may be luck"


def run(test, means, boots=None):
    """Run a test until it needs no other boot; return whether it passed in the last one, and how often it ran."""
    comparisons, passed = Comparisons(boots), None
    values = iter(means)
    with compared_in(comparisons):
        while True:
            comparisons.begin()
            passed = test(next(values))
            if not (comparisons.goes_on and (comparisons.holds or not passed)):
                return passed, comparisons.boot


def is_about_20(mean):
    return measured(mean) == about(20, within=0.1)


@pytest.mark.parametrize(
    ("test", "means", "passed", "boots"),
    [
        (lambda mean: measured(mean, 0.1) == about(20, within=0.1), [20.0], True, 1),
        (lambda mean: measured(mean, 0.1) == about(20, within=0.1), [30.0], False, 1),  # refuted: not run again
        (is_about_20, [20.0, 20.1, 19.9, 20.0], True, 4),
        (is_about_20, [20.0] * 4, True, 4),
        (is_about_20, [23.0, 23.1, 22.9, 23.0], False, 4),
        (is_about_20, [20.0, 24.0, 16.0, 20.0, 20.0, 20.1, 19.9, 20.0, 20.0, 20.0], False, 10),  # stays open
        (lambda mean: measured(mean) != about(20, within=0.1), [23.0, 23.1, 22.9, 23.0], True, 4),
        (lambda mean: measured(mean) < 22, [20.0, 20.1, 19.9, 20.0], True, 4),
        (lambda mean: measured(mean) > 22, [20.0, 20.1, 19.9, 20.0], False, 4),
        (lambda mean: measured(mean) <= 22, [20.0, 20.1, 19.9, 20.0], True, 4),
        (lambda mean: measured(mean) >= 19, [20.0, 20.1, 19.9, 20.0], True, 4),
    ],
)
def test_only_a_comparison_that_is_open_takes_another_boot(test, means, passed, boots):
    assert run(test, means) == (passed, boots)


def test_a_stated_number_of_boots_is_judged_once():
    """Each boot's numbers are narrow, and another boot's are others: only all of them together say something."""

    def narrow(mean):
        return measured(mean, 0.01) == about(20, within=0.1)

    assert run(narrow, [20.0]) == (True, 1)
    assert run(narrow, [20.0, 26.0, 14.0, 23.0, 17.0], boots=5) == (False, 5)
    assert run(narrow, [20.0, 20.2, 19.8, 20.1, 19.9], boots=5) == (True, 5)


def test_what_is_decided_stays_so_while_a_later_comparison_is_open():
    def both(mean):
        return measured(20.0, 0.1) == about(20, within=0.1) and is_about_20(mean)

    assert run(both, [20.0, 20.1, 19.9, 20.0]) == (True, 4)


def test_a_comparison_that_some_boots_did_not_reach_is_open():
    comparisons = Comparisons(2)
    comparisons.begin()
    comparisons.begin()
    assert not comparisons.take("rtt_ms ==", EXACT).known


def test_all_looks_after_the_first_share_one_error_rate():
    for most in (10, 30):
        comparisons = Comparisons(most=most)
        for mean in (20.0, 20.1, 19.9, 20.0):
            comparisons.begin()
            found = comparisons.take("rtt_ms ==", boot(mean))
        assert (1 - found.confidence) * (len(looks(most)) - 1) == pytest.approx(1 - DECIDING)


@pytest.mark.parametrize("most", [1, 2, 4, 5, 10, 12, 30, 100])
def test_the_most_boots_are_the_last_look(most):
    assert looks(most)[-1] == most
    assert sorted(set(looks(most))) == list(looks(most))
    comparisons = Comparisons(most=most)
    for number in range(1, most + 1):
        comparisons.begin()
        comparisons.take("rtt_ms ==", boot(20.0))
        comparisons.judged(boot(20.0), is_open=True)
        assert comparisons.goes_on == (number < most)


def test_the_text_says_how_many_boots_judge():
    expected = about(20, within=0.1)
    comparisons = Comparisons(4)
    with compared_in(comparisons):
        for mean in (20.0, 20.1, 19.9, 20.0):
            comparisons.begin()
            assert measured(mean) == expected
    assert "99 % interval of 4 boots; the last one 20.00 against 20.00 expected" in str(expected)
