import math
import random
import statistics

import numpy as np
import pytest

from slownet.model.errors import SlownetError
from slownet.theory.stats import (
    median,
    needed,
    of_groups,
    outliers,
    percentile,
    printed,
    proportion,
    settling,
    warm_up,
)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval(hits, n, low, high):
    """Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3."""
    found = proportion(hits, n)
    assert found.mean == hits / n
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_all_lost_is_the_mirror_of_nothing_lost():
    assert proportion(20, 20).low == pytest.approx(1 - 0.1611251580528194)
    assert proportion(20, 20).high == 1.0
    for hits, n in ((-1, 20), (21, 20), (0, 0)):
        with pytest.raises(SlownetError, match=f"{hits} of {n}, as a proportion"):
            proportion(hits, n)


@pytest.mark.parametrize(("n", "low", "high"), [(6, 1, 6), (11, 2, 10), (20, 6, 15)])
def test_the_medians_interval_stands_where_the_tables_say(n, low, high):
    """Ranks of the 95 % interval of a median, as in the tables of nonparametric statistics (binomial, p = 1/2)."""
    found = median([float(rank) for rank in range(n, 0, -1)])
    assert (found.low, found.mean, found.high) == (low, (n + 1) / 2, high)


def test_percentiles_match_scipys():
    from scipy import stats

    values = np.random.default_rng(7).exponential(size=600)
    for percent in (50, 90, 95, 99):
        low, high = stats.quantile_test(values, p=percent / 100).confidence_interval(0.95)
        found = percentile(values.tolist(), percent)
        assert (found.low, found.high) == (low, high)
        assert found.mean == pytest.approx(np.percentile(values, percent))


def test_too_few_values_for_a_percentile():
    assert [needed(50), needed(90), needed(99), needed(1), needed(99, 0.99)] == [6, 36, 368, 368, 528]
    with pytest.raises(SlownetError) as caught:
        percentile([1.0] * 100, 99)
    assert str(caught.value) == "100 values for a percentile of 99: its 95 % interval needs 368 or more"
    assert percentile([1.0] * 368, 99).half_width == 0
    with pytest.raises(SlownetError, match="percentile 100 is not between 0 and 100"):
        percentile([1.0] * 100, 100)


P95 = {"mean": 190.0, "sd": None, "n": 200, "percent": 95, "of": "time"}


def test_a_printed_percentile_has_the_interval_of_the_values():
    values = [float(each) for each in np.random.default_rng(5).permutation(200)]
    ours, theirs = printed(P95, {"time": {"values": values}}), percentile(values, 95)
    assert (ours.mean, ours.low, ours.high) == (190.0, theirs.low, theirs.high)
    each_alone = {"time": {"steps": [[value, count] for count, value in enumerate(sorted(values), 1)]}}
    assert printed(P95, each_alone) == ours
    tens = {"time": {"steps": [[each + 9.0, each + 10] for each in range(0, 200, 10)]}}
    coarse = printed(P95, tens)  # a value within a step may be as low as the step before
    assert (coarse.low, coarse.high) == (theirs.low // 10 * 10 - 1, theirs.high // 10 * 10 + 9)
    assert printed(P95 | {"mean": 150.0}, tens).low == 150.0


@pytest.mark.parametrize("others", [{}, {"time": {}}, {"time": {"values": [1.0] * 50}}])
def test_a_printed_percentile_without_enough_values_has_no_interval(others):
    assert not printed(P95, others).known
    assert not printed({"mean": 9.0, "sd": None, "n": 200}, {"time": {"values": [1.0] * 200}}).known


def test_a_warm_up_ends_where_the_level_is_reached():
    noise = np.random.default_rng(3).normal(0, 0.2, 200)
    warming = [10 + 20 * math.exp(-at / 8) + noise[at] for at in range(200)]
    assert 20 <= warm_up(warming) <= 60
    warming[150] = 500
    assert 20 <= warm_up(warming) <= 60
    assert warm_up([30.0] * 10 + [10.0] * 90) == 10
    assert warm_up([10.0] * 100) == 0
    assert warm_up([30.0] + [10.0] * 18) == 0  # too few values


@pytest.mark.parametrize("level", [0.0, 1e6])
def test_errors_of_all_cuts_are_those_of_each_one(level):
    rng = random.Random(5)
    means = [level + rng.gauss(0, 1) + 30 * math.exp(-number / 7) for number in range(80)]
    for cut, found in enumerate(settling._marginal_errors(means)):
        rest = means[cut:]
        assert found == pytest.approx(statistics.pvariance(rest) / len(rest), rel=1e-7, abs=1e-12)


def test_a_constant_rest_has_no_error_at_all():
    assert settling._marginal_errors([5.0, 0.1, 0.1, 0.1])[1:] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("n", "most"), [(50, 0.02), (100, 0.002), (49, 0.0)])
@pytest.mark.parametrize("skewed", [False, True])
def test_what_only_varies_has_no_warm_up(n, most, skewed):
    """In fewer than 2 % of series of 50 values; with half of the error as limit it would be 9 to 11 %."""
    rng = np.random.default_rng(4)
    series = rng.lognormal(0, 1, (2000, n)) if skewed else rng.normal(10, 1, (2000, n))
    assert sum(warm_up(each) > 0 for each in series.tolist()) <= most * 2000


def test_a_warm_up_of_few_values_is_seen_where_it_is_clear():
    rng = np.random.default_rng(6)
    warm = [[30.0] * 5 + each for each in rng.normal(10, 1, (200, 45)).tolist()]
    assert sum(warm_up(each) >= 5 for each in warm) > 0.9 * 200


def test_outliers_are_far_out():
    assert outliers([10.0, 11.0, 12.0, 11.0, 10.0, 30.0, 11.0]) == (5,)
    assert outliers([10.0, 11.0, 12.0, 13.0, 14.0, 15.0]) == ()
    assert outliers([1.0, 1.0, 1.0, 9.0]) == ()
    assert outliers([1.0] * 9 + [1.1]) == (9,)


def test_small_groups_join_the_next():
    values = [float(each) for each in range(27)]  # at least three values per batch
    assert of_groups(values, [3] * 9) == [1.0 + 3 * each for each in range(9)]
    assert of_groups(values, [1, 2, 2, 1, 5, 4, 3, 3, 3, 3]) == [1, 4, 8, 12.5, 16, 19, 22, 25]
    assert of_groups(values, [9, 9, 9]) == []
