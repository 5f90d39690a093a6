"""Tests that == and != of measured numbers need a margin."""

# ruff: noqa: SIM300, SIM201, B015  # the order of the operands is what these tests are about

import operator
from decimal import Decimal

import numpy as np
import pytest

from slownet.judge.claim import about
from slownet.judge.measured import Measured
from slownet.model.errors import ExperimentError
from slownet.theory.stats import from_moments

NEAR = Measured("time_ms", from_moments(11.8, 0.1, 100))
FAR = Measured("time_ms", from_moments(51.8, 0.1, 100))
PLAIN = [51.8, 51, True, np.float64(51.8), np.int64(51), Decimal("51.8"), "51.8ms"]


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
@pytest.mark.parametrize("other", [FAR, NEAR, FAR.summary, pytest.approx(51.8), *PLAIN], ids=repr)
def test_a_number_without_a_margin_is_a_mistake_on_either_side(compare, other):
    for left, right in ((FAR, other), (other, FAR)):
        with pytest.raises(ExperimentError) as caught:
            compare(left, right)
        assert "without a margin: write about(" in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1


def test_the_line_shows_what_to_write():
    with pytest.raises(ExperimentError) as caught:
        NEAR != FAR
    assert str(caught.value) == (
        "time_ms is compared with time_ms without a margin: write about(..., within=0.05) on the right of == or !=, "
        "from slownet"
    )
    with pytest.raises(ExperimentError, match=r"write about\('52ms', within=0.05\)"):
        FAR == "52ms"


def test_an_expectation_has_one_on_either_side():
    assert FAR == about("52ms")
    assert about("52ms") == FAR
    assert FAR != about(NEAR)
    assert not FAR == about(NEAR)


def test_what_is_no_number_is_not_one():
    assert FAR != None  # noqa: E711
    assert FAR != ["51.8"]
    assert FAR in [None, FAR]


def test_order_with_numpys_numbers_stays():
    assert np.float64(11.0) < FAR
    assert FAR > np.float64(11.0)
    assert not np.float64(60.0) < FAR
