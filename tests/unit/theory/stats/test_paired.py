"""Numbers that are computed within boots: their coverage, and what they leave out of it."""

import math
import random
from dataclasses import replace

import pytest

from slownet.judge.records.charging import Charging
from slownet.judge.records.result import gather
from slownet.report.view import view
from slownet.theory.law import fit
from slownet.theory.stats import difference, ratio, summarize

DELAYS, T0, K = (0.0, 10.0, 40.0, 120.0), 20.0, 4.0
LEVEL = 0.95
RUNS = 1500


def cells(chance, boots, speed_sd=0.12, own_sd=0.02):
    """What a run measures: boots differ by the speed that all cells share, cells by a little of their own."""
    speeds = [chance.gauss(0, speed_sd) for _ in range(boots)]
    found = []
    for delay in DELAYS:
        values = [T0 * math.exp(speed + chance.gauss(0, own_sd)) + K * delay for speed in speeds]
        made = replace(summarize(values, LEVEL), boots=dict(enumerate(values)))
        found.append(made.positive())
    return found


def share(holds):
    found = list(holds)
    return sum(found) / len(found)


@pytest.mark.parametrize("boots", [3, 4, 9])
def test_intervals_of_slopes_quotients_and_differences_contain_the_truth_as_often_as_they_say(boots):
    chance = random.Random(boots)
    runs = [cells(chance, boots) for _ in range(RUNS)]
    laws = [fit(zip(DELAYS, run, strict=True)).straight().k for run in runs]
    gained = [difference(run[2], run[0]) for run in runs]
    found = {
        "slope": share(k.low <= K <= k.high for k in laws),
        "difference": share(gap.low <= K * 40 <= gap.high for gap in gained),
        "quotient": share(each.low <= 1.3 <= each.high for each in (quotient(chance, boots) for _ in range(RUNS))),
    }
    assert all(0.90 <= each <= 0.98 for each in found.values()), found


def quotient(chance, boots):
    speeds = [chance.gauss(0, 0.12) for _ in range(boots)]
    over, under = ([work * math.exp(speed + chance.gauss(0, 0.02)) for speed in speeds] for work in (26.0, 20.0))
    made = [replace(summarize(values, LEVEL), boots=dict(enumerate(values))).positive() for values in (over, under)]
    return ratio(*made)


def test_the_shared_speed_is_not_in_the_width_of_what_is_compared():
    run = cells(random.Random(1), 6)
    alone = [replace(each, boots={}) for each in run]
    assert fit(zip(DELAYS, run, strict=True)).straight().k.half_width < fit(zip(DELAYS, alone, strict=True)).k.half_width / 4
    assert difference(run[1], run[0]).half_width < difference(alone[1], alone[0]).half_width / 4
    pages = quotient(random.Random(1), 6)
    assert pages.half_width < 0.1


def test_boots_come_with_every_step_of_a_calculation():
    near, far = cells(random.Random(2), 4)[:2]
    trips = (far - near) / 10.0
    assert trips.boots == pytest.approx({boot: (far.boots[boot] - near.boots[boot]) / 10 for boot in near.boots})
    assert (near + 5).boots == pytest.approx({boot: value + 5 for boot, value in near.boots.items()})
    assert ratio(far, far).low == ratio(far, far).high == 1.0


def test_few_or_other_boots_are_not_paired():
    one, other = ([10.0, 12.0], [20.0, 24.5])
    few = [replace(summarize(values), boots=dict(enumerate(values))) for values in (one, other)]
    assert not difference(*few).boots
    apart = [replace(each, boots={(name, boot): value for boot, value in each.boots.items()}) for name, each in enumerate(few)]
    assert not ratio(*apart).boots


def test_cells_with_some_boots_in_common_are_compared_in_these():
    one = replace(summarize([10.0, 11.0, 12.0, 40.0]), boots={0: 10.0, 1: 11.0, 2: 12.0, 3: 40.0})
    other = replace(summarize([20.0, 22.0, 24.0]), boots={0: 20.0, 1: 22.0, 2: 24.0})
    found = ratio(other, one)
    assert (found.mean, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


def sample(rtt, boot, ms, **more):
    record = {"mean": ms, "sd": 0.1, "n": 10} | more
    cell = {"rtt": f"{rtt}ms"}
    about = {"experiment": "page", "cell": cell, "condition": {"rtt_ms": float(rtt)}, "index": 10 * boot + rtt, "boot": boot}
    return about | {"status": "ok", "random": False, "metrics": {"time_ms": record}}


FACTS = {"experiment": "page", "clock": "virtual", "tdf": 1.0, "cpu": "time"}


def run_of(facts, **more):
    speeds = {1: 1.0, 2: 1.3, 3: 0.8}
    return gather(
        [sample(rtt, boot, 20 * speed + 4 * rtt, **more) for boot, speed in speeds.items() for rtt in (0, 10, 40)], facts
    )


def test_cells_of_a_run_are_paired_where_the_cpu_is_charged_by_time():
    run = run_of(FACTS)
    near, far = (run.at({"rtt": rtt}).summary("time_ms") for rtt in ("0ms", "10ms"))
    assert near.low > 0
    gained = far - near
    assert (gained.low, gained.high) == pytest.approx((40.0, 40.0))


@pytest.mark.parametrize("facts", [{"tdf": "inf", "cpu": "free"}, {"cpu": "work"}, {"clock": "exact"}])
def test_they_are_not_where_boots_share_no_speed(facts):
    run = run_of(FACTS | facts)
    assert not run.at({"rtt": "0ms"}).summary("time_ms").boots


def test_rounded_readings_and_cells_of_other_runs_are_not_paired():
    assert not run_of(FACTS, step=10.0).at({"rtt": "0ms"}).summary("time_ms").boots
    one, other = (run_of(FACTS | {"started": started}).at({"rtt": "0ms"}).summary("time_ms") for started in ("9:00", "10:00"))
    assert not difference(one, other).boots
    assert Charging.of(FACTS) is Charging.TIME


def test_a_cell_lies_on_the_line_whatever_the_speed_that_all_cells_share():
    run = run_of(FACTS)
    found = [row.verdict for row in view(run).rows]
    assert found == ["baseline", "supported", "supported"]
