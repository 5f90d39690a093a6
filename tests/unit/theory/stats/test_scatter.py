import math

import pytest

from slownet.theory.stats import Scatter, t_quantile


def test_without_noise_it_is_all_of_the_residuals():
    four = Scatter(squares=8.0, noise=0.0, within=9, share=2, df=2)
    assert four.between == pytest.approx(math.sqrt(8 / (2 * math.log(2))))  # the median of chi squared is 2 ln 2
    assert four.at_least == pytest.approx(2)
    assert (four.f, four.p) == (math.inf, 0)
    assert four.half_width(0.25, 0, 0.95) == pytest.approx(4.302653 * 2 * 0.5)  # the usual t interval
    assert Scatter(0, 0, 9, 2, 2).half_width(0.25, 0, 0.95) == 0


def test_the_noise_is_taken_out():
    """Squares of 10, of which 2 are noise; the 99 % quantile of F with 2 and 2 degrees of freedom is 99.0."""
    points = Scatter(squares=10.0, noise=2.0, within=2, share=2, df=2)
    assert points.f == 5
    assert points.p == pytest.approx(1 / 6)  # the tail of F with 2 and 2 degrees of freedom is 1 / (1 + f)
    assert points.between == pytest.approx(math.sqrt((10 / math.log(2) - 2) / 2))
    assert points.at_least == 0
    sure = Scatter(squares=10.0, noise=0.02, within=2, share=2, df=2)
    assert sure.at_least == pytest.approx((math.sqrt(10) - math.sqrt(0.02 * 99)) / math.sqrt(2))


def test_points_nearer_to_the_line_than_half_of_straight_ones_have_their_own_errors():
    near = Scatter(squares=1.3, noise=2.0, within=1e9, share=2, df=2)
    assert near.between == 0
    assert near.half_width(0.25, 0.7, 0.95) == 0.7
    exceeds = Scatter(squares=1.5, noise=2.0, within=1e9, share=2, df=2)
    joined = math.hypot(0.7, t_quantile(2) * exceeds.between / 2)
    assert exceeds.half_width(0.25, 0.7, 0.95) == pytest.approx(joined)
    assert 0.7 < joined < t_quantile(2) * math.sqrt(1.5 / 2) / 2


def test_two_points_tell_nothing_of_it():
    two = Scatter(squares=0.0, noise=2.0, within=9, share=0.0, df=0)
    assert (two.between, two.at_least, two.half_width(1, 0.3, 0.95)) == (0, 0, 0.3)
    assert math.isnan(two.p)


def test_points_without_errors_of_their_own():
    unknown = Scatter(squares=8.0, noise=None, within=0, share=2, df=2)
    assert math.isnan(unknown.f)
    assert math.isnan(unknown.p)
    assert unknown.at_least == 0
    assert unknown.half_width(0.25, 0, 0.95) == pytest.approx(4.302653)
