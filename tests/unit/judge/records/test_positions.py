"""A cell whose place in a boot explains its number is named."""

from random import Random

import pytest

from slownet.judge.records.positions import shifts
from slownet.judge.records.result import gather
from slownet.report.view import position_notes

TIME = "time_per_request_ms"


def run_of(*means, metric=TIME, sd=0.01, blocks=1, cell="40ms"):
    """Return a run with these means of a cell, boot by boot; of two blocks, the second one is that of the last place."""
    samples = [
        {
            "cell": {"rtt": cell}, "condition": {"rtt_ms": float(cell[:-2])}, "status": "ok", "random": False, "boot": boot,
            "block": block, "metrics": {metric: {"mean": mean if block == 1 else 280.0, "sd": sd, "n": 20}},
        }
        for boot, mean in enumerate(means, 1) for block in range(1, blocks + 1)
    ]  # fmt: skip
    samples += [{**each, "cell": {"rtt": "0ms"}, "metrics": {metric: {"mean": 0.1, "sd": 0.1, "n": 20}}} for each in samples]
    return gather(samples, {"experiment": "shop", "clock": "virtual", "tdf": "inf", "own_programs": True})


def test_a_cell_that_came_first_in_every_second_boot():
    """psycopg prepares seven statements in the boot's first cell."""
    (found,) = shifts(run_of(294.1, 280.1, 294.1, 280.1))
    assert (found.cell.label, found.metric) == ({"rtt": "40ms"}, TIME)
    assert (found.forwards.mean, found.backwards.mean) == (pytest.approx(294.1), pytest.approx(280.1))
    assert position_notes(run_of(294.1, 280.1, 294.1, 280.1)) == [
        "rtt 40ms: its place in a boot explains time_per_request_ms, 294.1 in boots that go through the cells forwards, 280.1 "
        "backwards: programs keep something from cell to cell, try a larger warm_up"
    ]


def test_where_a_boot_goes_forwards_and_backwards_its_first_pass_tells():
    assert shifts(run_of(294.1, 280.1, 294.1, 280.1, blocks=2))


@pytest.mark.parametrize(
    "means",
    [
        (294.1,), (294.1, 280.1), (294.1, 280.1, 294.1), (280.1, 280.1, 280.1, 280.1), (280.1, 281.1, 280.1, 281.1),
        (294.1, 280.1, 280.1, 294.1), (294.1, 270.1, 281.1, 300.1),
    ],
)  # fmt: skip
def test_no_other_is(means):
    assert shifts(run_of(*means)) == []


def test_readings_of_the_clock_are_no_effect():
    assert shifts(run_of(0.11, 0.07, 0.11, 0.07)) == []
    assert shifts(run_of(0.11, 0.07, 0.11, 0.07, metric="page_s"))
    assert shifts(run_of(11.0, 7.0, 11.0, 7.0, metric="mbit_per_s"))


def test_chance_names_less_than_one_run_of_fifty():
    draw = Random(7)
    named = sum(bool(shifts(run_of(*(draw.gauss(280, 10) for _ in range(6))))) for _ in range(400))
    assert named <= 400 * 0.02
