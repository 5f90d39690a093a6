"""More points where a verdict flips or a metric bends, and criteria."""

import pytest

from slownet.judge.records.result import gather
from slownet.model.errors import SlownetError, SweepError
from slownet.model.sample import cell_in_words
from slownet.sweep import refine
from slownet.sweep.refine import Criterion, Flip, Refinement

FACTORS = {"loss": ("0%", "1%"), "rtt": ("0ms", "100ms", "200ms")}
CELLS = [{"loss": loss, "rtt": rtt} for loss in FACTORS["loss"] for rtt in FACTORS["rtt"]]


def bisected(cells, holds, step="rtt:1ms"):
    """Refine until nothing is added; return the flips and the number of cells that were measured."""
    refinement, cells = Refinement.read(step, FACTORS), list(cells)
    while True:
        verdicts = {cell_in_words(cell): holds(cell) for cell in cells}
        added = refine.at_flips(refinement, cells, verdicts)
        assert not {cell_in_words(each) for each in added} & verdicts.keys()
        if not added:
            return refine.flips(refinement, cells, verdicts), len(cells)
        cells += added


def number(cell):
    return float(cell["rtt"].removesuffix("ms"))


def test_a_flip_is_bisected_to_the_step_for_each_value_of_the_others():
    limits = {"0%": 137.5, "1%": 42.0}
    found, measured = bisected(CELLS, lambda cell: "supported" if number(cell) <= limits[cell["loss"]] else "refuted")
    assert found == [
        Flip("rtt", {"loss": "0%"}, "137ms", "138ms", "supported"), Flip("rtt", {"loss": "1%"}, "42ms", "43ms", "supported"),
    ]  # fmt: skip
    assert measured <= 6 + 2 * 7
    assert str(found[1]) == "met up to rtt 42ms, not at 43ms (loss 1%)"


def test_a_finer_step_may_be_a_fraction():
    found, _ = bisected(CELLS, lambda cell: "refuted" if number(cell) < 42.03 else "supported", "rtt:0.01ms")
    assert [(each.low, each.high, each.below) for each in found] == [("42.02ms", "42.03ms", "refuted")] * 2
    assert str(found[0]) == "met from rtt 42.03ms, not at 42.02ms (loss 0%)"


def test_what_stays_undecided_is_inside_the_interval():
    def verdict(cell):
        return "supported" if number(cell) < 40 else "refuted" if number(cell) > 44 else "inconclusive"

    found, _ = bisected(CELLS, verdict)
    assert [(each.low, each.high) for each in found] == [("39ms", "45ms")] * 2


def test_without_a_flip_nothing_is_added():
    assert bisected(CELLS, lambda cell: "supported") == ([], 6)


def test_a_bend_gets_points_on_both_sides_and_a_straight_line_none():
    refinement = Refinement.read("rtt:10ms", FACTORS)
    straight = {cell_in_words(cell): 2 * number(cell) for cell in CELLS}
    assert refine.at_bends(refinement, CELLS, straight) == []
    bent = straight | {"loss 1%, rtt 100ms": 20.0}
    assert refine.at_bends(refinement, CELLS, bent) == [{"loss": "1%", "rtt": "50ms"}, {"loss": "1%", "rtt": "150ms"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rt:1ms", "no factor 'rt'"),
        ("rtt", "unclear step"),
        ("rtt:0ms", "unclear step"),
        ("rtt:1", "cannot be refined"),
        ("rtt:1%", "cannot be refined"),
        ("name:1ms", "cannot be refined"),
    ],
)
def test_what_cannot_be_refined_is_one_line(text, said):
    with pytest.raises(SweepError, match=said):
        Refinement.read(text, {**FACTORS, "name": ("LTE", "GEO")})


def run_of(*means):
    samples = [
        {"cell": {"rtt": f"{mean}ms"}, "status": "ok", "boot": 1, "block": 1,
         "metrics": {"time_ms": {"mean": mean, "sd": 0.0, "n": 30, "values": [mean] * 30}}}
        for mean in means
    ]  # fmt: skip
    return gather(samples, {"clock": "virtual", "tdf": "inf", "cpu": "free"})


@pytest.mark.parametrize("text", ["time_ms<=30", "time_ms < 30ms", "p50 time_ms<30"])
def test_each_cell_meets_a_criterion_or_not(text):
    found = {title: each.verdict for title, each in Criterion.read(text).judge(run_of(20.0, 40.0)).items()}
    assert found == {"rtt 20.0ms": "supported", "rtt 40.0ms": "refuted"}


def test_a_criterion_may_be_a_lower_limit():
    found = Criterion.read("time_ms>30").judge(run_of(20.0, 40.0))
    assert [each.verdict for each in found.values()] == ["refuted", "supported"]


@pytest.mark.parametrize("text", ["", "time_ms", "time_ms=3", "<3", "p101 time_ms<3", "time_ms<3furlongs"])
def test_an_unclear_criterion_is_one_line(text):
    with pytest.raises(SlownetError) as error:
        Criterion.read(text)
    assert "\n" not in str(error.value)


def test_a_criterion_of_no_metric_names_the_nearest():
    with pytest.raises(SlownetError, match="time_ms"):
        Criterion.read("time_m<3").judge(run_of(1.0))
