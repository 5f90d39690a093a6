"""How often a run is repeated so that a difference of some size is found between it and another one like it."""

import random

import pytest

from slownet.comparison.compare import compare
from slownet.judge.records.charging import Terms
from slownet.judge.records.result import gather
from slownet.model.errors import ExperimentError
from slownet.runner import finding, sampling
from slownet.runner.rule import Rule, read_rule

EXACT = {"experiment": "page", "clock": "exact", "cpu": "instructions", "own_programs": True}
PART = 0.01


def run_of(means, facts=None, started="9:00"):
    """A run of one cell, with a boot for each mean."""
    samples = [
        {
            "experiment": "page", "cell": {"rtt": "0ms"}, "condition": {"rtt_ms": 0.0}, "index": boot, "boot": boot + 1,
            "status": "ok", "random": False, "metrics": {"time_ms": {"mean": mean, "sd": 0.01, "n": 50}},
        }
        for boot, mean in enumerate(means)
    ]  # fmt: skip
    return gather(samples, (facts or EXACT) | {"started": started})


def decide(run):
    return sampling.decide(run, (), {}, Rule(find=PART), 10.0, 2.0)


def test_the_option_is_a_part_and_records_keep_it():
    rule = read_rule("1%", "30")
    assert (rule.repeat, rule.find, rule.to_json()["repeat"]) == (None, PART, "1%")
    assert Rule.from_json(rule.to_json()) == rule
    assert Rule.from_json(Rule(repeat=3).to_json()) == Rule(repeat=3)


@pytest.mark.parametrize("text", ["0%", "100%", "%", "-1%", "one%", "0.00001%", "nan%"])
def test_what_is_no_part_is_one_line(text):
    with pytest.raises(ExperimentError, match="invalid number of repetitions") as error:
        read_rule(text, "30")
    assert "such as 1%" in error.value.fix


def test_the_first_look_is_as_early_as_it_may_be():
    rule = Rule(find=PART)
    assert sampling.first_boots(rule, Terms.of(EXACT), claims=False) == 3
    assert sampling.first_boots(rule, Terms.of({"clock": "virtual", "tdf": "inf", "cpu": "free"}), claims=True) == 1
    assert sampling.first_boots(rule, Terms.of({"clock": "virtual", "tdf": 1.0, "cpu": "time"}), claims=True) == 5


def test_three_boots_with_the_same_digits_are_enough():
    found = decide(run_of([80.3] * 3))
    assert not found.cells
    assert "a difference of 1 % would be found" in found.why


def test_boots_that_differ_are_five_at_least_and_as_many_as_their_spread_takes():
    assert decide(run_of([80.30, 80.31, 80.29])).boots == 2
    assert not decide(run_of([80.30, 80.31, 80.29, 80.32, 80.28])).cells
    wide = [80.3, 80.9, 79.7, 80.6, 80.0]
    assert decide(run_of(wide)).boots > 5


def test_what_a_number_of_repetitions_finds_is_said():
    assert finding.reached(run_of([80.3, 80.9, 79.7, 80.6, 80.0]), PART).startswith("a difference of 3 % would")


def test_a_difference_of_that_size_is_found_and_none_is_found_where_there_is_none():
    """Two runs, each repeated as planned, with a spread that takes more than the least number of repetitions."""
    chance = random.Random(7)

    def measured(mean, started):
        boots = [chance.gauss(mean, 0.002 * mean) for _ in range(3)]
        while (following := decide(run_of(boots, started=started))).cells:
            boots += [chance.gauss(mean, 0.002 * mean) for _ in range(following.boots)]
        return run_of(boots, started=started)

    pairs = 200
    slower = [compare(measured(80.0, "9:00"), measured(80.8, "10:00"), None).outcome.word for _ in range(pairs)]
    same = [compare(measured(80.0, "9:00"), measured(80.0, "10:00"), None).outcome.word for _ in range(pairs)]
    assert slower.count("worse") >= 0.97 * pairs
    assert same.count("worse") + same.count("better") <= 0.01 * pairs
    assert same.count("equal") >= 0.97 * pairs


FREE = {"experiment": "page", "clock": "virtual", "tdf": "inf", "cpu": "free", "own_programs": True}
WORK = {"experiment": "page", "clock": "virtual", "tdf": 1.0, "cpu": "work", "own_programs": True}
TIME = {"experiment": "page", "clock": "virtual", "tdf": 1.0, "cpu": "time", "own_programs": True}
DEFAULT = Rule()


def repeated(draw, facts, started="9:00", rule=DEFAULT, claims=False):
    """Return the run that a rule makes of boots whose means are drawn, with what it says of itself."""
    boots = [draw() for _ in range(sampling.first_boots(rule, Terms.of(facts), claims))]
    while (found := sampling.decide(run_of(boots, facts, started), (), {}, rule, 10.0, 2.0)).boots:
        boots += [draw() for _ in range(found.boots)]
    finds = {} if found.finds is None else {"finds": found.finds}
    return run_of(boots, facts | {"sampling": {"why": found.why, **finds}}, started)


@pytest.mark.parametrize(("facts", "boots"), [(FREE, 4), (EXACT, 3), (FREE | {"own_programs": False}, 1), (WORK, 3), (TIME, 1)])
def test_a_run_without_claims_has_the_boots_that_comparing_it_takes(facts, boots):
    assert repeated(lambda: 7.277, facts).repetitions == boots


@pytest.mark.parametrize("facts", [FREE, EXACT, FREE | {"own_programs": False}])
@pytest.mark.parametrize(
    ("times", "word", "status"),
    [(1.0, "equal", 0), (1.04, "worse", 1), (1.01, "worse", 1), (0.96, "better", 0), (1.006, "worse", 1), (1.004, "equal", 0)],
)
def test_where_nothing_varies_every_comparison_is_decided(facts, times, word, status):
    """7.277 ms against 7.277 and against 4 % more was open on the exact clock and with free CPU: one boot each."""
    first, second = (repeated(lambda mean=mean: mean, facts, at) for mean, at in ((7.277, "9:00"), (7.277 * times, "10:00")))
    found = compare(first, second, None)
    assert (found.outcome.word, found.status, found.within) == (word, status, 0.005)


@pytest.mark.parametrize("facts", [FREE, EXACT])
@pytest.mark.parametrize(("spread", "part", "finds"), [(0.0005, 0.01, 0.01), (0.002, 0.1, 0.1), (0.01, 0.1, 0.1)])
def test_what_a_run_says_it_finds_is_found_and_nothing_is_found_between_two_that_are_alike(facts, spread, part, finds):
    """The error of two runs that are alike is 1 % at most, the power of what a run was repeated for 99 %: 100 pairs each."""
    chance = random.Random(11)

    def pair(times):
        means = ((80.0, "9:00"), (80.0 * times, "10:00"))
        return (repeated(lambda mean=mean: chance.gauss(mean, spread * mean), facts, at) for mean, at in means)

    pairs = [(*pair(1 + part), *pair(1.0)) for _ in range(100)]
    assert {run.facts["sampling"]["finds"] for each in pairs for run in each} <= {0.01, finds}
    slower = [compare(one, other, None).outcome.word for one, other, *_ in pairs]
    same = [compare(one, other, None).outcome.word for *_, one, other in pairs]
    assert slower.count("worse") >= 0.97 * len(pairs)
    assert same.count("equal") >= 0.97 * len(pairs)
    assert same.count("worse") + same.count("better") <= 0.01 * len(pairs)


def test_a_run_that_no_budget_makes_comparable_ends_and_says_what_it_would_take():
    chance = random.Random(3)
    run = repeated(lambda: chance.gauss(80.0, 16.0), FREE)
    assert run.repetitions == 5
    assert "10 % would take about " in run.facts["sampling"]["why"]


def test_a_number_of_repetitions_that_is_asked_for_is_what_is_made():
    assert repeated(lambda: 7.277, FREE, rule=Rule(repeat=1)).repetitions == 1
    assert repeated(lambda: 7.277, EXACT, rule=Rule(repeat=2)).repetitions == 2
    assert repeated(lambda: 7.277, FREE, rule=Rule(most=2)).repetitions == 2


def test_what_was_asked_for_is_the_margin_and_never_more_than_the_usual_one():
    runs = {
        part: [repeated(lambda: 80.0, FREE, at, Rule(find=part)) for at in ("9:00", "10:00")] for part in (0.002, 0.02, 0.5)
    }
    assert [compare(*pair, None).within for pair in runs.values()] == [0.001, 0.01, 0.05]
    assert compare(runs[0.02][0], runs[0.5][1], None).within == 0.05
    assert compare(runs[0.02][0], repeated(lambda: 80.0, EXACT), None).within == 0.05  # other clocks


def test_what_timers_make_of_a_time_with_free_cpu_is_no_difference():
    one, other, more = (repeated(lambda mean=mean: mean, FREE, at) for mean, at in ((0.105, "9"), (0.121, "10"), (0.145, "11")))
    assert compare(one, other, None).outcome.word == "equal"
    assert compare(one, more, None).outcome.word == "worse"


def test_the_margin_of_counted_instructions_is_narrower_unless_it_is_given():
    one, other = run_of([80.0] * 3), run_of([80.8] * 3, started="10:00")
    assert compare(one, other, None).outcome.word == "worse"
    assert compare(one, other, 0.05).outcome.word == "equal"
    time = {"experiment": "page", "clock": "virtual", "tdf": 1.0, "cpu": "time"}
    assert compare(run_of([80.0] * 3, time), run_of([80.0] * 3, time, "10:00"), None).within == 0.05
