"""Noise alone hardly ever decides against the truth: 1,000 simulated runs."""

from dataclasses import replace

import pytest

from slownet.claim import bound, law
from slownet.sweep import rates
from slownet.sweep.rates import METRIC, Noise, World, straight, verdicts
from slownet.sweep.sampling import Rule

RUNS = 1000


@pytest.mark.parametrize(("kind", "noise"), [("law", "rough"), ("ratio", "one boot"), ("bound", "rough")])
def test_verdicts_are_wrong_in_fewer_than_one_percent(kind, noise):
    """`make bench` prints them for every kind and every noise."""
    ((refuted, supported),) = rates.wrong(RUNS, Rule(budget_s=50), [kind], [noise]).values()
    assert refuted < 0.01
    assert supported < 0.01


def test_a_calm_machine_decides():
    calm = Noise(between=0.01, within=0.05)
    assert verdicts(law(METRIC, 4), World(straight(4), calm), 100, Rule()) == {"supported": 100}
    assert verdicts(law(METRIC, 4), World(straight(4.4), calm), 100, Rule()) == {"refuted": 100}


def test_a_truth_on_the_very_edge_is_decided_by_no_noise():
    """Where half of all decisions would go either way, at most 1 % of runs decide wrongly: the looks share that."""
    edge = World({0.0: 50.0, 10.0: 60.0}, Noise(between=0.03, within=0.05))
    found = verdicts(bound(METRIC, below=60), edge, RUNS, Rule(budget_s=60))
    assert found["refuted"] < 0.01 * RUNS


def test_laws_whose_cells_are_off_the_line():
    """By about as much as keeps the claim open for good; `make bench` has less and more."""
    bent = World({}, Noise(between=0.005, within=0.05), bend_ms=2)
    true, edge, off = (verdicts(law(METRIC, 4), replace(bent, times=straight(k, 40)), 80, Rule()) for k in (4, 4.2, 4.4))
    assert max(true["refuted"], off["supported"], edge["refuted"]) <= 1
    assert true["supported"] > 20
    assert off["refuted"] > 20


def test_the_same_seed_gives_the_same():
    world = World(straight(4), Noise(between=0.1, within=0.3))
    once, again, other = (verdicts(law(METRIC, 4), world, 20, Rule(budget_s=60), seed) for seed in (1, 1, 2))
    assert once == again
    assert sum(other.values()) == 20
