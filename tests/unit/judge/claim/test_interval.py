"""How a number with its interval is written."""

import pytest

from slownet.judge.records.quantity import interval
from slownet.theory.stats.estimate import Summary


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (4.02, 3.98, 4.06, "4.02 (3.98 to 4.06)"),
        (4.0, 3.9999, 4.0001, "4.00"),
        (-0.0001, -0.0049, 0.0049, "0.00"),
        (-0.004, -0.02, 0.012, "0.00 (-0.02 to 0.01)"),
    ],
)
def test_an_interval_is_written_with_two_decimals_and_zero_has_no_sign(mean, low, high, text):
    assert interval(Summary(mean, low, high, 10)) == text
