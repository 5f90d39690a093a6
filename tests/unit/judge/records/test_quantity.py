"""How numbers are written with their intervals."""

import pytest

from slownet.judge.records.quantity import not_below_zero, quantity
from slownet.report.text import with_interval
from slownet.theory.stats import Summary

WIDE = Summary(21.27, -11.77, 54.31, 3)


@pytest.mark.parametrize(
    ("metric", "text"),
    [("time_ms", "21 (0 to 54) ms"), ("page_s", "21 (0 to 54) s"), ("stalls", "21 (-12 to 54)")],
)
def test_the_interval_of_a_time_begins_at_0_or_later(metric, text):
    found = quantity(WIDE, metric)
    assert found.replace("21.3", "21").replace("54.3", "54").replace("-11.8", "-12").replace("0.0 ", "0 ") == text


def test_a_difference_may_be_below_0():
    assert "(-11" in quantity(WIDE, "time_ms", signed=True)
    assert not_below_zero(Summary(-1.0, -2.0, 0.5, 3), "time_ms").low == -2.0


def test_a_time_beside_its_interval_is_given_by_the_ends_where_those_are_not_alike():
    assert with_interval(not_below_zero(WIDE, "time_ms")) == "21.27 (0 to 54.31)"
    assert with_interval(Summary(51.83, 51.75, 51.91, 3)) == "51.83 \u00b1 0.08"
