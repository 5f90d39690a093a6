import math

import pytest

from slownet.comparison.row import DIFFERS, EQUIVALENT, INCONCLUSIVE, compared, margin
from slownet.model.errors import ExperimentError
from slownet.theory.stats import Summary, from_moments


def verdict(first, second, within=0.05):
    return compared("rtt 0ms", "time_ms", first, second, within).verdict


def test_the_interval_of_the_difference_decides():
    base = from_moments(100.0, 4.0, 100)
    # Each mean has a standard error of 0.4, their difference 0.566; t for 99 % and 198 degrees of freedom is 2.601: +-1.47.
    assert verdict(base, from_moments(103.4, 4.0, 100)) == EQUIVALENT
    assert verdict(base, from_moments(103.6, 4.0, 100)) == INCONCLUSIVE
    assert verdict(base, from_moments(106.4, 4.0, 100)) == INCONCLUSIVE
    assert verdict(base, from_moments(106.6, 4.0, 100)) == DIFFERS
    assert verdict(base, from_moments(93.4, 4.0, 100)) == DIFFERS
    assert verdict(base, from_moments(93.4, 4.0, 100), 0.10) == EQUIVALENT


@pytest.mark.parametrize("mean", [100.0, 94.0, 95.1, 97.0, 103.0, 104.9, 105.1, 105.5, 106.0, 110.0])
@pytest.mark.parametrize("sd", [0.0, 0.2, 4.0])
def test_a_number_and_its_reciprocal_have_the_same_verdict(mean, sd):
    """1.052 times the time was worse by more than 5 %, and 0.951 times the rate equal within 5 %."""

    def rate(time):
        return from_moments(1000 / time.mean, sd * 1000 / time.mean**2, 100)

    first, second = from_moments(100.0, sd, 100), from_moments(mean, sd, 100)
    assert verdict(first, second) == verdict(rate(first), rate(second)) == verdict(second, first)


def test_by_how_much():
    row = compared("rtt 0ms", "time_ms", from_moments(100.0, 4.0, 100), from_moments(110.0, 4.0, 100), 0.05)
    assert (row.ratio.mean, row.difference.mean) == (pytest.approx(1.1), pytest.approx(10.0))
    assert row.difference.half_width == pytest.approx(2.601 * 0.4 * math.sqrt(2), rel=1e-3)
    assert row.p == pytest.approx(1.0)
    assert row.to_json()["difference"]["mean"] == pytest.approx(10.0)


def test_values_without_variance_are_compared_exactly():
    exact = Summary(40.0, 40.0, 40.0, 100)
    assert verdict(exact, Summary(41.9, 41.9, 41.9, 100)) == EQUIVALENT
    assert verdict(exact, Summary(42.1, 42.1, 42.1, 100)) == DIFFERS
    zero = Summary(0.0, 0.0, 0.0, 100)
    assert (verdict(zero, zero), verdict(zero, exact)) == (EQUIVALENT, DIFFERS)


def test_one_value_decides_nothing():
    assert verdict(from_moments(100.0, None, 1), from_moments(100.0, 4.0, 100)) == INCONCLUSIVE
    assert verdict(from_moments(100.0, None, 1), from_moments(900.0, 4.0, 100)) == INCONCLUSIVE


@pytest.mark.parametrize(
    ("text", "said"),
    [("0", "within is 0, in the comparison: write a fraction"), ("1", "write 0.01 for 1 %"), ("5", "write 0.05 for 5 %"),
     ("5%", "within is '5%', in the comparison: write a fraction, such as 0.05 for 5 %"), ("nan", "within is nan")],
)  # fmt: skip
def test_a_margin_is_that_of_claims_and_has_some_width(text, said):
    with pytest.raises(ExperimentError, match=said):
        margin(text)
    assert margin("0.025") == 0.025
