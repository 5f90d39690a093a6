"""Tests of sums, products and quotients of measured means against hand-computed formulas and a simulation."""

import doctest
import importlib
import math

import numpy as np
import pytest

from slownet.model.errors import SlownetError
from slownet.theory.stats import Summary, difference, from_error, from_moments, ratio, summarize, t_quantile

ONE, OTHER = from_moments(10.0, 0.3, 25), from_moments(6.0, 0.2, 25)
EXACT = Summary(4.0, 4.0, 4.0, 1)
UNKNOWN = from_moments(5.0, None, 1)


def of(cells, summary=ONE):
    return Summary(summary.mean, summary.low, summary.high, summary.n, summary.df, summary.confidence, frozenset(cells))


def test_the_examples():
    done = doctest.testmod(importlib.import_module("slownet.theory.stats.estimate"), optionflags=doctest.ELLIPSIS)
    assert (done.attempted > 0, done.failed) == (True, 0)


def test_exact_numbers_move_and_scale():
    assert ONE + 2 == 2 + ONE == ONE.plus(2)
    assert ONE.plus(-2) == ONE - 2
    assert ONE.scaled(-1).plus(2) == 2 - ONE
    assert 3 * ONE == ONE * 3 == ONE.scaled(3)
    assert ONE.scaled(0.25) == ONE / 4
    assert ONE.scaled(-1) == -ONE
    assert (8 / EXACT).mean == 2.0
    assert sum([ONE, 2, 3]) == ONE.plus(5)
    assert np.float64(2.0) * ONE == ONE.scaled(2)
    assert np.float64(2.0) + ONE == ONE + np.int64(2) == ONE.plus(2)


def test_independent_means_add_by_welch():
    both = ONE + OTHER
    error = math.hypot(0.06, 0.04)
    df = error**4 / (0.06**4 / 24 + 0.04**4 / 24)
    assert both.mean == 16.0
    assert both.df_or_default == pytest.approx(df)
    assert both.half_width == pytest.approx(t_quantile(df) * error)
    assert difference(ONE, OTHER) == (ONE - OTHER)
    assert ratio(ONE, OTHER) == (ONE / OTHER)
    assert (ONE + EXACT).half_width == pytest.approx(ONE.half_width)


def test_a_product_is_the_ratio_to_the_reciprocal():
    assert ONE.scaled(4) == ONE * EXACT
    both = ONE * OTHER
    assert both.mean == 60.0
    relative = math.hypot(ONE.half_width / 10, OTHER.half_width / 6)
    assert both.half_width == pytest.approx(60 * relative, rel=0.01)
    assert (8 / ONE).low == pytest.approx(8 / ONE.high)
    across = from_moments(0.0, 1.0, 25)  # its interval contains 0
    assert (across * ONE).known
    assert (ONE * across).mean == 0.0
    assert not (across * across).known
    assert not (1 / across).known


def test_what_is_not_known_stays_so():
    for found in (ONE + UNKNOWN, UNKNOWN - ONE, ONE * UNKNOWN, ONE / UNKNOWN, UNKNOWN + 1, 2 * UNKNOWN, 1 / UNKNOWN):
        assert not found.known
    assert (UNKNOWN + ONE).mean == 15.0


def test_means_of_the_same_cell_are_as_dependent_as_can_be():
    one, same, another = of("a"), of("a", OTHER), of("b", OTHER)
    assert (one + same).half_width == pytest.approx(ONE.half_width + OTHER.half_width)
    assert (one - same).half_width == pytest.approx(ONE.half_width + OTHER.half_width)
    assert (one + one) == one.scaled(2)
    assert (one + another) == ONE + OTHER
    assert (one / same).high == pytest.approx(ONE.high / OTHER.low)
    assert (one / same).low == pytest.approx(ONE.low / OTHER.high)
    assert (one / another) == ONE / OTHER
    assert (one * same).high == pytest.approx(ONE.high * OTHER.high)
    assert (one + another).sources == frozenset("ab")
    assert ((one + another) - one).half_width > (ONE + OTHER).half_width  # that `one` cancels out is not known
    assert (3 * one.at_confidence(0.99) + 1).sources == frozenset("a")
    assert ratio(one, same, shared=0.001) == ratio(ONE, OTHER, shared=0.001)  # their common part is given


@pytest.mark.parametrize("number", [None, True, "3", float("nan"), float("inf")])
def test_nonsense_is_one_line(number):
    for attempt in (lambda: ONE + number, lambda: number * ONE, lambda: ONE / number):
        with pytest.raises(SlownetError, match="in a calculation with a measured number: give a finite number or a Summary"):
            attempt()
    with pytest.raises(SlownetError, match="divided by 0"):
        _ = ONE / 0


@pytest.mark.parametrize("correlation", [-1.0, 0.0, 1.0])
def test_intervals_of_sums_and_products_hold_the_truth(correlation):
    """10 values each of two means: correlated or anticorrelated in the same cell, or independent in two cells."""
    rng = np.random.default_rng(1)
    cells = ("a", "a") if correlation else ("a", "b")
    held = dict.fromkeys(("sum", "difference", "product", "ratio"), 0)
    runs = 2000
    for _ in range(runs):
        noise = rng.normal(0, 1, (2, 10))
        second = correlation * noise[0] + math.sqrt(1 - correlation**2) * noise[1]
        one, other = of(cells[0], summarize(list(10 + noise[0]))), of(cells[1], summarize(list(6 + second)))
        found = {
            "sum": (one + other, 16),
            "difference": (one - other, 4),
            "product": (one * other, 60),
            "ratio": (one / other, 10 / 6),
        }
        for name, (summary, truth) in found.items():
            held[name] += summary.low <= truth <= summary.high
    least = {name: count / runs for name, count in held.items()}
    assert min(least.values()) > 0.94  # 0.95 less two standard errors of 2000 runs, 0.01
    if not correlation:
        assert max(least.values()) < 0.98  # the interval of a ratio, with t of 9 degrees of freedom, is slightly too wide


def test_from_error_is_what_a_sum_rests_on():
    assert from_error(8.0, 0.0, 1, 1) == (EXACT + EXACT)
