"""How busy a link is by the length of its queue, by theory."""

import math
import random

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.buffers import busy_apart, busy_in_step, rule


def test_the_rule_is_one_over_the_root():
    assert [rule(n) for n in (1, 4, 16)] == [1, 1 / 2, 1 / 4]


def test_without_a_queue_three_quarters_and_with_a_pipe_all():
    assert [busy_in_step(queue) for queue in (0, 1, 2)] == [0.75, 1, 1]


@pytest.mark.parametrize("queue", [0.1, 0.25, 0.5, 0.9])
def test_busy_in_step_is_the_sawtooth_counted_by_round_trips(queue):
    pipe, carried, taken = 10_000, 0.0, 0.0
    for window in range(round(pipe * (1 + queue) / 2), round(pipe * (1 + queue))):
        carried, taken = carried + window, taken + max(window, pipe)
    assert carried / taken == pytest.approx(busy_in_step(queue), abs=1e-3)


@pytest.mark.parametrize(("queue", "connections"), [(0.25, 16), (0.5, 4), (0.1, 100)])
def test_busy_apart_is_how_often_the_sum_of_windows_stays_within_half_a_queue(queue, connections):
    draw, hits, mean = random.Random(1), 0, (1 + queue) / connections
    for _ in range(20_000):
        total = math.fsum(draw.uniform(2 / 3 * mean, 4 / 3 * mean) for _ in range(connections))
        hits += abs(total - 1 - queue) < queue / 2
    assert hits / 20_000 == pytest.approx(busy_apart(queue, connections), abs=0.02)


@pytest.mark.parametrize(
    "wrong", [lambda: rule(0), lambda: busy_in_step(-0.1), lambda: busy_apart(-1, 4), lambda: busy_apart(1, 0)]
)
def test_no_theory_for_less_than_nothing(wrong):
    with pytest.raises(SlownetError, match="give"):
        wrong()
