"""The smallest difference that a comparison could have found, with numbers chosen for it."""

import pytest

from slownet.comparison import runs
from slownet.comparison.row import compared, missing
from slownet.judge.records.charging import Charging
from slownet.theory.stats import Summary, from_moments

ALIKE = from_moments(100, 0, 10)


def row(first, second, within=0.05):
    return compared("rtt 0ms", "time_ms", first, second, within)


def test_of_numbers_that_do_not_vary_it_is_the_margin():
    assert runs.smallest(row(ALIKE, ALIKE)) == pytest.approx((0.05, 0))
    said = runs.note([row(ALIKE, ALIKE)], 0.05, {Charging.EXACT})
    assert said == (
        "any difference of 5.0 % or more would have been found (in time_ms at rtt 0ms, the margin); to find smaller ones: "
        "a smaller margin"
    )


def test_what_varies_makes_it_greater_and_a_difference_beyond_it_is_one():
    wide = from_moments(100, 20, 10)
    size, varies = runs.smallest(row(wide, wide))
    assert varies > 0.2
    assert size == pytest.approx(1.05 * (1 + varies) - 1)
    narrow = from_moments(100, 1, 10)
    size, _ = runs.smallest(row(narrow, narrow))
    assert row(narrow, from_moments(100 * (1 + size) * 1.02, 1, 10)).verdict == "differs"
    assert row(narrow, from_moments(100 * (1 + size) * 0.98, 1, 10)).verdict != "differs"


@pytest.mark.parametrize(
    ("charged", "way"),
    [({Charging.TIME}, runs.COUNT), ({Charging.REAL, Charging.EXACT}, runs.COUNT), ({Charging.WORK}, runs.REPEAT),
     ({Charging.EXACT}, runs.REPEAT), (set(), runs.MORE)],
)  # fmt: skip
def test_what_finds_smaller_ones_depends_on_the_clock(charged, way):
    wide = from_moments(100, 20, 10)
    assert runs.note([row(ALIKE, ALIKE), row(wide, wide)], 0.05, charged).endswith(way)


def test_rows_without_intervals_are_excepted():
    lone = Summary(100, float("-inf"), float("inf"), 1, float("nan"))
    blind = compared("rtt 9ms", "p99_ms", lone, ALIKE, 0.05)
    said = "the margin), but none in p99_ms at rtt 9ms, for lack of an interval; to find"
    assert said in runs.note([row(ALIKE, ALIKE), blind, missing("rtt 0ms", "", "failed")], 0.05, {Charging.EXACT})
    more = runs.note([row(ALIKE, ALIKE), blind, blind], 0.05, {Charging.EXACT})
    assert "but none in p99_ms at rtt 9ms and 1 more, for lack of an interval" in more


def test_rows_without_intervals_say_nothing():
    lone = Summary(100, float("-inf"), float("inf"), 1, float("nan"))
    assert runs.note([missing("rtt 0ms", "", "failed")], 0.05, set()) == ""
    assert runs.note([row(lone, lone)], 0.05, set()) == ""
    assert runs.note([row(lone, lone)], 0.05, {Charging.FREE}) == ""


def test_where_the_speed_of_a_machine_counts_another_clock_is_named_although_nothing_has_an_interval():
    lone = Summary(100, float("-inf"), float("inf"), 1, float("nan"))
    for clock in (Charging.TIME, Charging.REAL):
        assert runs.note([row(lone, lone)], 0.05, {clock}).endswith(f"for lack of an interval; to find any: {runs.COUNT}")
