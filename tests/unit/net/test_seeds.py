"""No two blocks, boots, directions or links of a run use the same random stream."""

import pytest

from slownet.links.conditions.link import Condition
from slownet.links.conditions.schedule import Schedule, change
from slownet.net import plan
from slownet.net.seeds import APART, ASKED, FREE, STRIDE, Seeds
from slownet.runner.job import Job

LOSSY = Condition.parse(loss="1%", seed=1)
UNSEEDED = Condition.parse(loss="1%")


def told(condition):
    """Return netem's seeds for both directions, as in tc's commands."""
    words = [plan.layers(condition, way)[0].words for way in ("up", "down")]
    return [int(each[each.index("seed") + 1]) for each in words]


def stream(seed):
    """Return the 32 bits of a seed that the kernel keeps to start its generator (prandom_seed_state)."""
    return (seed >> 32 ^ seed << 10 ^ seed) & 0xFFFFFFFF


def test_the_first_block_takes_what_was_asked_and_each_further_one_a_stride_more():
    assert ASKED.of(LOSSY) is not UNSEEDED
    assert [Seeds(turn).of(LOSSY).seed for turn in (0, 1, 2)] == [1, 1 + STRIDE, 1 + 2 * STRIDE]
    job = Job([], boot=3, blocks=2)
    assert [job.turn(block) for block in (1, 2)] == [4, 5]
    assert Job([], boot=1, blocks=4).turn(1) == 0


def test_no_stream_is_used_twice_over_30_boots_both_directions_and_a_schedule():
    steps = Schedule.parse({f"{second}s": change(rate=f"{second}Mbit") for second in range(1, 400)})
    again = Schedule.parse({"1s": {"loss": "5%", "seed": 1}, "2s": {"loss": "6%", "seed": 1}, "3s": {"loss": "1%"}})
    for boots, schedule in ((30, steps), (30, again)):
        used = []
        for boot in range(1, boots + 1):
            for block in (1, 2):
                seeds = Seeds(Job([], boot, 2).turn(block), FREE)
                before = seeds.of(LOSSY)
                states = [state.condition for state in schedule.states(before, seeds.of)]
                used += [seed for condition in (before, *states) if condition.seed is not None for seed in told(condition)]
        assert len(used) >= 60 * 4 * 2
        assert len(set(map(stream, used))) == len(set(used)) == len(used)


def test_links_without_a_seed_have_streams_of_their_own_where_the_cpu_is_free():
    used = [seed for turn in range(60) for link in range(40) for seed in told(Seeds(turn, FREE).of(UNSEEDED, link))]
    assert used[:4] == [FREE, FREE + 1, FREE + APART, FREE + APART + 1]
    assert len(set(map(stream, used))) == len(used)
    assert not set(used) & {seed for turn in range(60) for asked in range(1000) for seed in (asked + turn * STRIDE,)}


def test_where_the_cpu_costs_the_kernel_takes_a_number_of_its_own():
    assert Seeds(3).of(UNSEEDED).seed is None
    assert Seeds(3).of(LOSSY).seed == 3 * STRIDE + 1


@pytest.mark.parametrize(
    "fields", [{"rtt": "10ms"}, {"loss": "100%"}, {"loss": "1% 25%"}, {"rtt": "20ms", "jitter": "2ms", "correlation": "25%"}]
)
def test_a_seed_of_the_frameworks_goes_only_where_netem_takes_one_and_something_is_drawn(fields):
    assert Seeds(0, FREE).of(Condition.parse(**fields)).seed is None


def test_the_largest_seed_stays_one():
    largest = Condition.parse(loss="1%", seed=2**63 - 2)
    assert Seeds(0).of(largest) == largest
    assert Seeds(1).of(largest).seed == STRIDE - 1


@pytest.mark.parametrize(
    ("fields", "random"),
    [
        ({}, False),
        ({"rtt": "10ms", "rate": "2Mbit"}, False),
        ({"loss": "1%"}, True),
        ({"loss_down": "2% in bursts of 8"}, True),
        ({"loss": "100%"}, False),
        ({"delay": "5ms", "jitter": "1ms"}, True),
        ({"duplicate": "1%"}, True),
        ({"duplicate": "100%"}, False),
        ({"corrupt": "1%"}, True),
        ({"delay": "5ms", "reorder": "25%"}, True),
        ({"rate": "2Mbit", "aqm": "red"}, True),
        ({"rate": "2Mbit", "aqm": "pie"}, True),
        ({"rate": "2Mbit", "aqm": "fq_codel"}, True),  # which flows share a queue
        ({"rate": "2Mbit", "queue": "9 packets"}, False),
        ({"seed": 4}, False),
    ],
)
def test_what_is_left_to_chance(fields, random):
    assert Condition.parse(**fields).random is random
