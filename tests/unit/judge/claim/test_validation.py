"""Tests that an invalid claim is refused when it is made, by one line that says what, where and how to fix it."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from slownet.judge.claim import (
    about,
    all_of,
    any_of,
    bound,
    constant_round_trips,
    equal,
    follows,
    grows,
    law,
    monotone,
    more_round_trips,
    no_worse_than,
    not_,
    predicted,
    published_times,
    ratio,
    round_trips_between,
    slowed,
)
from slownet.judge.records.result import gather
from slownet.model import importing
from slownet.model.errors import ExperimentError, SlownetError, UnitError

TIME, RATE = "time_ms", "requests_per_second"
AT, OTHER = {"rtt": "10ms"}, {"rtt": "0ms"}
NAN, INF = float("nan"), float("inf")

MARGINS = {
    "law": lambda within: law(TIME, round_trips=4, within=within),
    "constant_round_trips": lambda within: constant_round_trips(TIME, within=within),
    "published_times": lambda within: published_times(TIME, t0_ms=12.3, times_ms={"10ms": 52}, within=within),
    "ratio": lambda within: ratio(TIME, AT, expected=4, within=within),
    "equal": lambda within: equal(TIME, AT, within=within),
    "no_worse_than": lambda within: no_worse_than(TIME, AT, within=within),
    "monotone": lambda within: monotone(TIME, within=within),
    "predicted": lambda within: predicted(TIME, AT, expected=4, within=within),
    "round_trips_between": lambda within: round_trips_between(TIME, AT, of=OTHER, because="", expected=4, within=within),
    "slowed": lambda within: slowed(11.8, round_trips=4, rtt="10ms", within=within),
    "about": lambda within: about("52ms", within=within),
}


@pytest.mark.parametrize("kind", MARGINS)
@pytest.mark.parametrize(
    ("within", "said"),
    [
        (5, "within is 5, a margin of 500 %, in "),
        (5, "write 0.05 for 5 %"),
        (1, "write 0.01 for 1 %"),
        (2.5, "write 0.025 for 2.5 %"),
        (100, "write a fraction, such as 0.05 for 5 %"),
        (-0.05, "within is -0.05, in "),
        (NAN, "within is nan, in "),
        (INF, "within is inf, in "),
        ("5%", "within is '5%', in "),
        (None, "within is None, in "),
        (True, "within is True, in "),
    ],
)
def test_a_margin_is_a_part_of_one(kind, within, said):
    with pytest.raises(ExperimentError) as caught:
        MARGINS[kind](within)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("kind", MARGINS)
@pytest.mark.parametrize("within", [0, 0.05, 0.999, np.float64(0.05), np.float32(0.5)])
def test_these_are_margins(kind, within):
    MARGINS[kind](within)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: law(TIME, round_trips=0), "round_trips is 0, in law of time_ms: give a number above 0"),
        (lambda: law(TIME, round_trips=-4), "round_trips is -4, in law of time_ms: give a number above 0"),
        (lambda: law(TIME, round_trips=NAN), "round_trips is nan, in law of time_ms: write a finite number"),
        (lambda: law(TIME, round_trips="4"), "round_trips is '4', in law of time_ms: write a finite number"),
        (lambda: bound(TIME, AT, at_most=INF), "at_most is inf, in bound of time_ms: write a finite number"),
        (lambda: bound(TIME, AT, at_least=NAN), "at_least is nan"),
        (lambda: bound(TIME, at_least=60, at_most=40), "at_least 60 is more than at_most 40, in bound of time_ms: "),
        (lambda: bound(TIME, at_least="0.1s", at_most="40ms"), "at_least 0.1s is more than at_most 40ms"),
        (
            lambda: bound(TIME),
            "a range with neither at_least nor at_most, in bound of time_ms: give at_least=, at_most= or both",
        ),
        (lambda: bound(TIME, at_most="3 lightyears"), "unknown unit"),
        (lambda: bound("mbit_per_s", at_least="300ms"), "'300ms' for mbit_per_s: give a plain number in the metric's unit"),
        (lambda: bound(RATE, at_most="300ms"), "'300ms' for requests_per_second: give a plain number in the metric's unit"),
        (lambda: bound(TIME, at_most=3, percentile=0), "percentile is 0, in bound of time_ms: write a number between 0 "),
        (lambda: bound(TIME, at_most=3, percentile=100), "percentile is 100"),
        (lambda: bound(TIME, at_most=3, percentile=-1), "percentile is -1"),
        (lambda: bound(TIME, at_most=3, percentile=NAN), "percentile is nan"),
        (lambda: ratio(TIME, AT, at_least=3, at_most=2), "at_least 3 is more than at_most 2, in ratio of time_ms: "),
        (
            lambda: ratio(TIME, AT, of=OTHER, at_least=3, at_most=2, name="the cure"),
            "at_least 3 is more than at_most 2, in 'the cure': ",
        ),
        (lambda: ratio(TIME, AT, of=OTHER, at_least=-1), "at_least is -1, in ratio of time_ms: give 0 or more"),
        (lambda: ratio(TIME, AT, expected=4, at_most=3), "a ratio of time_ms with a number and limits: give either expected="),
        (
            lambda: follows(TIME, len, at_least=2, at_most=1, because="", name="Mathis"),
            "at_least 2 is more than at_most 1, in 'Mathis'",
        ),
        (lambda: ratio(TIME, AT), "a ratio of time_ms with no number: give either expected= or published="),
        (lambda: ratio(TIME, AT, expected=4, published=4), "a ratio of time_ms with two numbers"),
        (lambda: ratio(TIME, AT, expected=0), "expected is 0, in ratio of time_ms: give a number above 0"),
        (lambda: ratio(TIME, AT, published=INF), "published is inf"),
        (lambda: predicted(TIME, AT, expected=0.0), "expected is 0, in predicted of time_ms: give a number above 0"),
        (lambda: predicted(TIME, AT, expected=None), "expected is None"),
        (lambda: round_trips_between(TIME, AT, of=OTHER, because=""), "round trips with neither expected nor at_most"),
        (
            lambda: round_trips_between(TIME, AT, of=OTHER, because="", expected=4, at_most=5),
            "round trips with both expected and at_most",
        ),
        (lambda: round_trips_between(TIME, AT, of=OTHER, because="", expected=-4), "expected is -4"),
        (lambda: round_trips_between(TIME, AT, of=OTHER, because="", at_most=NAN), "at_most is nan"),
        (
            lambda: more_round_trips(TIME, at_least=0, of="x"),
            "at_least is 0, in more_round_trips of time_ms: give a number above 0",
        ),
        (lambda: more_round_trips(TIME, at_least=5, of="x", otherwise=0), "otherwise is 0"),
        (
            lambda: published_times(TIME, t0_ms=-1, times_ms={"10ms": 52}),
            "t0_ms is -1, in published_times of time_ms: give 0 or more",
        ),
        (lambda: published_times(TIME, t0_ms=12, times_ms={}), "published_times of time_ms without a time: give times_ms="),
        (lambda: published_times(TIME, t0_ms=12, times_ms={"10ms": 0}), "times_ms is 0"),
        (lambda: published_times(TIME, t0_ms=12, times_ms={"10": 52}), "duration '10' has no unit"),
        (lambda: constant_round_trips(TIME, at=("10ms", "10ms")), "compares 10ms with itself: name two delays"),
        (lambda: constant_round_trips(TIME, at=("10ms",)), "1 delays, in constant_round_trips of time_ms: name two"),
        (lambda: constant_round_trips(TIME, at=(10, 40)), 'at is 10, in constant_round_trips of time_ms: write a duration'),
        (lambda: no_worse_than(TIME, AT, better="more"), "better is 'more', in no_worse_than of time_ms: write lower"),
        (lambda: slowed(11.8, round_trips=0, rtt="10ms"), "round_trips is 0, in slowed: give a number above 0"),
        (lambda: slowed(-1, round_trips=4, rtt="10ms"), "near is -1, in slowed: give 0 or more"),
        (lambda: slowed(NAN, round_trips=4, rtt="10ms"), "near is nan"),
        (lambda: slowed(11.8, round_trips=4, rtt="10"), "has no unit"),
        (lambda: about(INF), "about is inf"),
        (lambda: about("52"), "has no unit"),
        (lambda: all_of(), "a composed claim without parts"),
        (lambda: all_of(grows(TIME), 3), 'claim 2 is 3, in a composed claim: write a claim, such as law('),
        (lambda: not_([grows(TIME)]), "claim 1 is a list, in not_: give each claim by itself"),
        (lambda: any_of(grows), "claim 1 is the class grows, in a composed claim"),
        (lambda: bound(TIME, "10ms", at_most=3), "at is '10ms', in bound of time_ms: write conditions"),
        (lambda: ratio(TIME, {10: "10ms"}, expected=3), "at is {10: '10ms'}, in ratio of time_ms: write conditions"),
        (lambda: law(TIME, round_trips=4, along=""), "along is '', in law of time_ms: write the name of a condition"),
        (lambda: law(TIME, round_trips=lambda: 4), "the function of round_trips takes other arguments, in law of time_ms"),
        (lambda: law(TIME, round_trips=10**400), "round_trips is 1000"),
        (lambda: published_times(TIME, t0_ms=12, times_ms=[52]), "times_ms is [52], in published_times of time_ms: write {"),
        (
            lambda: follows(TIME, lambda: 3, at_least=0, at_most=1, because="", name="as computed"),
            "the function of theory takes other arguments, in 'as computed': write lambda condition: ...",
        ),
    ],
)  # fmt: skip
def test_numbers_that_make_no_sense(make, said):
    with pytest.raises((ExperimentError, UnitError)) as caught:
        make()
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


KINDS = {
    law: {"round_trips": 1}, constant_round_trips: {}, more_round_trips: {"at_least": 1, "of": "x", "otherwise": 1},
    published_times: {"t0_ms": 1, "times_ms": {"10ms": 11}}, ratio: {"at": AT, "expected": 2}, equal: {"at": AT},
    no_worse_than: {"at": AT}, bound: {"at": AT, "at_most": 9}, grows: {}, monotone: {}, predicted: {"at": AT, "expected": 10},
    round_trips_between: {"at": AT, "of": OTHER, "because": "", "expected": 1},
    follows: {"theory": lambda condition: 1, "at_least": 0, "at_most": 9, "because": "", "name": "theory"},
}  # fmt: skip
ANYTHING = [
    None, 5, -1, 0.05, True, "", "x", "10ms", b"x", [], ["10ms"], (), ("0ms",), ("0ms", "0ms"), {}, AT, {"rtt": 10},
    {"rtt": None}, {5: 5}, NAN, INF, 1j, 10**400, object(), lambda: 1, lambda run: 3.0, lambda run: "x",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_no_value_of_a_field_is_refused_when_the_claim_is_made_or_judged_as_it_stands(kind):
    """Never is it found by an error of slownet's own after everything has been measured."""
    cells = [{"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "status": "ok"} for rtt in (0, 10, 40)]
    metrics = [{TIME: {"mean": mean, "sd": 0.0, "n": 9}} for mean in (1.0, 11.0, 41.0)]
    run = gather([cell | {"metrics": one} for cell, one in zip(cells, metrics, strict=True)], {"experiment": "mine"})
    judged = 0
    for field in inspect.signature(kind).parameters:
        for value in ANYTHING:
            try:
                found = kind(**{"metric": TIME, **KINDS[kind], field: value}).judge(run)
            except SlownetError:
                continue
            assert json.dumps(found.to_json())
            judged += 1
    assert judged


def test_a_range_of_one_number_is_one():
    bound("stalls", AT, at_least=99, at_most=99)
    bound(TIME, at_least="40ms", at_most=40)
    ratio(TIME, AT, of=OTHER, at_least=0, at_most=0)


@pytest.mark.parametrize("relative", [False, True])
def test_a_file_with_such_a_claim_says_its_line(tmp_path, monkeypatch, relative):
    monkeypatch.chdir(tmp_path)
    path = Path("mine.py") if relative else tmp_path / "mine.py"
    path.write_text('from slownet.judge.claim import law\n\nclaims = [\n    law("time_ms", round_trips=4, within=5),\n]\n')
    with pytest.raises(ExperimentError) as caught:
        importing.file(path, "")
    assert str(caught.value) == "within is 5, a margin of 500 %, in law of time_ms, mine.py:4: write 0.05 for 5 %"
    path.write_text('from slownet.judge.claim import published_times\n\npublished_times("a_ms", t0_ms=1, times_ms={"10": 2})\n')
    with pytest.raises(UnitError, match=r"duration '10' has no unit, mine\.py:3: write it like 10ms"):
        importing.file(path, "")
