import math

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.stats import Summary, difference, differs, equivalent, from_moments, ratio, t_quantile, welch

OLD = from_moments(20.14458, 6.41470, 249)
NEW = from_moments(30.48101, 6.10771, 79)


def test_ratio_has_fiellers_interval():
    quotient = ratio(Summary(10, 9, 11, 7), Summary(5, 4, 6, 9))
    assert (quotient.mean, quotient.n) == (2.0, 7)
    assert quotient.low == pytest.approx((50 - math.sqrt(124)) / 24)
    assert quotient.high == pytest.approx((50 + math.sqrt(124)) / 24)


def test_ratio_over_an_exact_value_only_scales():
    quotient = ratio(Summary(10, 9, 11, 7), Summary(4, 4, 4, 9))
    assert (quotient.low, quotient.high) == (pytest.approx(2.25), pytest.approx(2.75))


def test_ratio_is_exact_without_variance():
    quotient = ratio(Summary(51.825, 51.825, 51.825, 3), Summary(12.323, 12.323, 12.323, 3))
    assert quotient == Summary(51.825 / 12.323, 51.825 / 12.323, 51.825 / 12.323, 3)


def test_what_both_share_narrows_the_ratio():
    quotient = ratio(Summary(10, 9, 11, 7), Summary(5, 4, 6, 9), shared=0.25)
    assert quotient.low == pytest.approx((49.75 - math.sqrt(99.0625)) / 24)
    assert quotient.high == pytest.approx((49.75 + math.sqrt(99.0625)) / 24)


def test_ratio_over_what_may_be_zero_is_not_known():
    assert not ratio(Summary(10, 9, 11, 7), Summary(1, -1, 3, 7)).known
    assert math.isnan(ratio(Summary(10, 10, 10, 7), Summary(0, 0, 0, 7)).mean)
    assert not ratio(Summary(10, 10, 10, 7), Summary(2, -math.inf, math.inf, 1)).known


def test_welch_on_the_cars_of_nist():
    """NIST/SEMATECH e-Handbook, 1.3.5.3 (AUTO83B.DAT), unequal variances: T = -12.94627 with 136.8750 degrees."""
    test = differs(OLD, NEW)
    assert (test.t, test.df) == (pytest.approx(-12.94627, abs=1e-5), pytest.approx(136.8750, abs=1e-4))
    assert test.p < 1e-15
    gap = difference(OLD, NEW)
    assert gap.mean == pytest.approx(-10.33643)
    assert gap.half_width == pytest.approx(10.33643 / 12.94627 * t_quantile(136.875), rel=1e-6)
    assert differs(OLD, NEW, by=gap.low).p == pytest.approx(0.05)


def test_equivalence_of_the_organic_food():
    """Lakens, "Equivalence tests", 2017 (Moery and Calin-Jageman's study 2): t(182) = -2.69, p = 0.004."""
    control, organic = from_moments(5.25, 0.95, 95), from_moments(5.22, 0.83, 89)
    margin = 0.43 * math.sqrt((0.95**2 + 0.83**2) / 2)
    test = equivalent(control, organic, -margin, margin)
    assert (test.t, test.df) == (pytest.approx(-2.69, abs=0.005), pytest.approx(181.13, abs=0.01))
    assert test.p == pytest.approx(0.004, abs=0.0005)
    assert differs(control, organic).p == pytest.approx(0.82, abs=0.005)  # TOSTER: t = 0.23, p = 0.82


def test_equivalence_is_the_interval_of_twice_the_error_inside_the_margin():
    gap = difference(OLD, NEW).at_confidence(0.90)
    assert equivalent(OLD, NEW, gap.low, 0.0).p == pytest.approx(0.05)
    assert equivalent(OLD, NEW, -100.0, gap.high).p == pytest.approx(0.05)


def test_without_variance_a_difference_is_one():
    one, other = from_moments(51.8, 0.0, 100), from_moments(51.9, 0.0, 100)
    assert (differs(one, other).p, differs(one, one).p) == (0.0, 1.0)
    assert equivalent(one, other, -0.2, 0.2).p == 0.0
    assert equivalent(one, other, -0.05, 0.05).p == 1.0
    assert difference(one, other).half_width == 0.0


def test_what_has_no_spread_known_cannot_be_tested():
    single = from_moments(51.8, None, 1)
    assert not difference(single, OLD).known
    with pytest.raises(SlownetError, match="a test needs the intervals of both measurements: measure at least twice"):
        differs(single, OLD)
    with pytest.raises(SlownetError, match="a margin from 1 to 1, in a test of equivalence"):
        equivalent(OLD, NEW, 1, 1)


def test_exact_parts_add_nothing_to_a_sum():
    assert welch((0.5, 7), (0.0, 1)) == (0.5, pytest.approx(7))
    assert welch((0.0, 3), (0.0, 9)) == (0.0, 9)
    assert welch((3.0, 10), (4.0, 10)) == (5.0, pytest.approx(625 / (8.1 + 25.6)))
