"""Noise alone rarely leads to a wrong verdict. `make trust` covers all kinds and noises with more runs."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binomtest

from slownet.judge.claim import bound, law
from slownet.judge.records.charging import Charging
from slownet.runner.rule import Rule

sys.path.insert(0, str(Path(__file__).parents[2]))
from trust import rates
from trust.rates import METRIC, Noise, World, on_the_margin, power, straight, verdicts

RUNS = 100


def is_at_most(rate, allowed):
    """Return whether that many of RUNS are compatible with the allowed rate (exact binomial test, 1 %)."""
    return binomtest(round(rate * RUNS), RUNS, allowed, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize(
    ("kind", "noise"),
    [("law", "CPU time, 10 ms of it"), ("equal", "rough"), ("bound", "heavy tails"), ("ratio", "unknown programs")],
)
def test_wrong_verdicts_are_fewer_than_one_percent(kind, noise):
    ((refuted, supported),) = rates.wrong(RUNS, kinds=[kind], noises=[noise]).values()
    assert is_at_most(refuted, 0.01)
    assert is_at_most(supported, 0.01)


@pytest.mark.parametrize(
    ("kind", "noise"), [("equal", "calm"), ("bound", "CPU time"), ("ratio", "seeds"), ("equal", "random programs")]
)
def test_a_truth_on_the_very_margin_is_decided_by_noise_in_one_percent_at_most(kind, noise):
    assert is_at_most(on_the_margin(RUNS, kind, noise), 0.01)


def test_a_measured_waver_that_were_not_there_would_be_seen():
    """Checks that this file can fail: if boots differ five times as much as assumed, verdicts on one boot are wrong."""
    worse = World({0: 50, 10: 52.5}, Noise(between=0.015, within=0.05), Charging.WORK)
    found = verdicts(rates.CASES["equal"].claim, worse, RUNS)
    assert not is_at_most((found["supported"] + found["refuted"]) / RUNS, 0.01)


def test_true_claims_are_decided_within_thirty_repetitions():
    """Noise of five percent in both cells and a margin of five: none of 200 was decided when later looks had smaller shares."""
    noisy = World({0: 50, 10: 50}, Noise(between=0.05, within=0.05, tail="normal"))
    found = verdicts(rates.CASES["equal"].claim, noisy, 120)
    assert found["supported"] > 0.45 * 120
    assert found["refuted"] == 0
    calm, work, free = (power(40, "equal", noise) for noise in ("calm", "counted work", "CPU time, 10 ms of it"))
    assert calm.supported == calm.refuted == work.supported == work.refuted == 1
    assert work.boots < 1.1
    assert calm.boots < 9
    assert free.supported > 0.9


def test_a_calm_machine_decides():
    calm = Noise(between=0.01, within=0.05)
    assert verdicts(law(METRIC, round_trips=4), World(straight(4), calm), 100) == {"supported": 100, "refuted": 0}
    assert verdicts(law(METRIC, round_trips=4), World(straight(4.4), calm), 100) == {"supported": 0, "refuted": 100}


def test_what_wall_time_ends_is_no_more_often_wrong():
    edge = World({0.0: 50.0, 10.0: 60.0}, Noise(between=0.03, within=0.05))
    found = verdicts(bound(METRIC, at_most=60), edge, RUNS, Rule(budget_s=50))
    assert is_at_most((found["refuted"] + found["supported"]) / RUNS, 0.01)


def test_laws_whose_cells_are_off_the_line():
    """Curvature of about the size that keeps the claim open; `make bench` also tests smaller and larger ones."""
    bent = World({}, Noise(between=0.005, within=0.05), bend_ms=2)
    true, edge, off = (verdicts(law(METRIC, round_trips=4), replace(bent, times=straight(k, 40)), 60) for k in (4, 4.2, 4.4))
    assert max(true["refuted"], off["supported"], edge["refuted"]) <= 1
    assert true["supported"] > 15
    assert off["refuted"] > 15


def test_a_row_of_the_table():
    (row,) = rates.rows(10, kinds=["equal"], noises=["counted work"])
    assert len(row) == len(rates.HEADER)
    assert row == ("equal", "counted work", "0.0%", "0.0%", row[4], "100.0%", "1.0")


def test_the_same_seed_gives_the_same():
    world = World(straight(4), Noise(between=0.1, within=0.3))
    once, again, other = (verdicts(law(METRIC, round_trips=4), world, 20, Rule(most=6), seed) for seed in (1, 1, 2))
    assert once == again
    assert sum(other.values()) == 20
