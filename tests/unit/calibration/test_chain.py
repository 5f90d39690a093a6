import numpy as np
import pytest

from slownet.calibration.judge import Chain
from slownet.links.conditions.impairment import Chance, GilbertElliott, Markov
from slownet.model.errors import ConditionError

BURSTS = GilbertElliott.bursts(0.05, 8)
ELLIOTT = GilbertElliott(0.01, 0.1, 0.7, 0.001)
FOUR = Markov(0.01, 0.2, 0.3, 0.05, 0.02)


def test_independent_losses_are_binomial():
    mean, sd = Chain.of(Chance(0.1)).share(10_000)
    assert mean == pytest.approx(0.1)
    assert sd == pytest.approx((0.1 * 0.9 / 10_000) ** 0.5)
    assert Chain.of(Chance(0.1)).run(10_000)[0] == pytest.approx(1 / 0.9)


def test_two_states_have_the_known_variance():
    mean, sd = Chain.of(BURSTS).share(20_000)
    assert mean == pytest.approx(0.05)
    # The variance of a two-state chain is that of independent losses times (2 - p - r) / (p + r).
    assert sd == pytest.approx((0.05 * 0.95 / 20_000 * (2 - BURSTS.p - BURSTS.r) / (BURSTS.p + BURSTS.r)) ** 0.5)
    assert Chain.of(BURSTS).run(20_000)[0] == pytest.approx(8)


@pytest.mark.parametrize("model", [ELLIOTT, FOUR], ids=str)
def test_means_are_those_of_the_model(model):
    assert Chain.of(model).share(1000)[0] == pytest.approx(model.mean)


def test_bursts_are_geometric_only_if_their_end_does_not_depend_on_the_past():
    assert Chain.of(Chance(0.3)).burst_end == pytest.approx(0.7)
    assert Chain.of(BURSTS).burst_end == pytest.approx(1 / 8)
    assert Chain.of(Markov(0.01, 0.3)).burst_end == pytest.approx(0.3)
    assert Chain.of(ELLIOTT).burst_end is None
    assert Chain.of(FOUR).burst_end is None


def test_correlated_losses_are_not_a_chain():
    with pytest.raises(ConditionError, match="cannot be judged as a Markov chain"):
        Chain.of(Chance(0.1, 0.25))


@pytest.mark.parametrize("model", [BURSTS, ELLIOTT, FOUR], ids=str)
def test_means_and_deviations_are_those_of_a_simulated_chain(model):
    chain, count, times = Chain.of(model), 4000, 600
    lost = walks(chain, count, times)
    begins = lost & ~np.roll(lost, 1, axis=1)
    begins[:, 0] = lost[:, 0]
    shares, runs = lost.mean(axis=1), lost.sum(axis=1) / begins.sum(axis=1)
    for found, (mean, sd) in ((shares, chain.share(count)), (runs, chain.run(count))):
        assert abs(found.mean() - mean) < 4 * sd / times**0.5
        assert found.std(ddof=1) == pytest.approx(sd, rel=0.12)  # the simulation's own error is 3 %


def walks(chain, count, times):
    """Simulate `times` chains of `count` packets, all from the first state; return which packets are lost."""
    draw, edges, loss = np.random.default_rng(1), np.cumsum(chain.transitions, axis=1), np.array(chain.loss)
    edges[:, -1] = 1.0
    state, lost = np.zeros(times, dtype=int), np.empty((times, count), dtype=bool)
    for packet in range(count):
        state = (draw.random(times)[:, None] >= edges[state]).sum(axis=1)
        lost[:, packet] = draw.random(times) < loss[state]
    return lost
