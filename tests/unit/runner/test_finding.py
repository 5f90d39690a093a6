"""How often a run is repeated so that a difference of some size is found between it and another one like it."""

import random

import pytest

from slownet.judge.records.charging import Terms
from slownet.judge.records.result import gather
from slownet.model.errors import ExperimentError
from slownet.runner import finding, sampling
from slownet.runner.rule import Rule, read_rule
from slownet.trials.field.compare import compare

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


def test_the_margin_of_counted_instructions_is_narrower_unless_it_is_given():
    one, other = run_of([80.0] * 3), run_of([80.8] * 3, started="10:00")
    assert compare(one, other, None).outcome.word == "worse"
    assert compare(one, other, 0.05).outcome.word == "equal"
    time = {"experiment": "page", "clock": "virtual", "tdf": 1.0, "cpu": "time"}
    assert compare(run_of([80.0] * 3, time), run_of([80.0] * 3, time, "10:00"), None).within == 0.05
