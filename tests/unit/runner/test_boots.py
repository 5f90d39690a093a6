"""The order of cells within a boot, and the effect of drift on a law measured in that order."""

import math
from types import SimpleNamespace

import pytest

from slownet.hypotheses.experiment import experiment
from slownet.lab.run.clock import INF, Clock
from slownet.model.errors import ExperimentError
from slownet.runner.job import Boot, blocks_of, passes, read
from slownet.theory.law import fit
from slownet.theory.stats import from_moments
from slownet.topologies import ClientWebDb

DELAYS = (0, 10, 40, 120)
CELLS = [{"rtt": f"{rtt}ms"} for rtt in DELAYS]
A, B, C = ({"rtt": text} for text in ("0ms", "10ms", "40ms"))


def test_forwards_and_backwards_in_turn_and_every_second_boot_begins_backwards():
    assert passes([A, B, C], 1, boot=1) == [A, B, C]
    assert passes([A, B, C], 1, boot=2) == [C, B, A]
    assert passes([A, B, C], 2, boot=1) == [A, B, C, C, B, A]
    assert passes([A, B, C], 2, boot=2) == [C, B, A, A, B, C]
    assert passes([A, B], 3, boot=1) == [A, B, B, A, A, B]
    assert passes([], 2, boot=1) == []


def test_a_boot_knows_the_block_of_each_of_its_places():
    boot = Boot(2, first=8, places=6, blocks=2)
    assert [boot.block(index) for index in range(8, 14)] == [1, 1, 1, 2, 2, 2]
    assert [index in boot for index in (7, 8, 13, 14)] == [False, True, True, False]
    assert boot.to_json() == {"boot": 2, "first": 8, "places": 6, "blocks": 2}
    assert read({"boots": [boot.to_json() | {"lab": 1, "processor": 0}], "planned": []}) == [boot]


@pytest.mark.parametrize(
    ("clock", "stated", "blocks"),
    [
        (Clock("real"), None, 2),
        (Clock("virtual", 4), None, 2),
        (Clock("virtual", INF), None, 1),
        (Clock("virtual", 4), 1, 1),
        (Clock("virtual", INF), 4, 4),
        (Clock("exact"), None, 1),
        (Clock("exact"), 4, 1),
    ],
)
def test_where_something_varies_within_a_boot_it_is_gone_through_twice(clock, stated, blocks):
    assert blocks_of(SimpleNamespace(blocks=stated), clock) == blocks


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True, math.nan])
def test_a_number_of_blocks_that_is_none_is_one_line(wrong):
    with pytest.raises(ExperimentError, match=r"blocks is .*, @experiment: write a whole number from 1"):
        experiment(topology=ClientWebDb, vary={"rtt": ["0ms"]}, blocks=wrong)


def measured(blocks, boot, drift, lasts):
    """Return {delay: mean over its blocks} for T = 9 + 4 d, where each elapsed millisecond adds ``drift`` to the measured
    times.

    lasts: requests per block; the clock advances by the time of each. (The drift is small compared with the times, so that a
    cell takes equally long in each of its blocks.)
    """
    now, times = 0.0, {rtt: [] for rtt in DELAYS}
    for cell in passes(CELLS, blocks, boot):
        rtt = int(cell["rtt"][:-2])
        takes = (9 + 4 * rtt) * lasts
        times[rtt].append(9 + 4 * rtt + drift * (now + takes / 2))
        now += takes
    return {rtt: math.fsum(each) / len(each) for rtt, each in times.items()}


def k_of(times):
    return fit((float(rtt), from_moments(mean, 0.1, 100)) for rtt, mean in times.items()).k.mean


@pytest.mark.parametrize("drift", [1e-4, -1e-4, 5e-4])
def test_a_linear_drift_does_not_become_k(drift):
    """A measured case: T - 4 d fell from 62.9 to 48.9 ms over one run in rising order, which gave a significant k of 3.889."""
    once = k_of(measured(1, 1, drift, lasts=100))
    assert abs(once - 4) > 50 * abs(drift) > 0  # in rising order drift does bias k
    for boot in (1, 2):
        for blocks in (2, 4):
            assert k_of(measured(blocks, boot, drift, lasts=100 // blocks)) == pytest.approx(4, abs=1e-9)
    # With an odd number of passes, two boots together cancel the drift as well.
    first, second = (measured(3, boot, drift, lasts=33) for boot in (1, 2))
    assert abs(k_of(first) - 4) > 10 * abs(drift)
    assert k_of({rtt: (first[rtt] + second[rtt]) / 2 for rtt in DELAYS}) == pytest.approx(4, abs=1e-9)
