"""Reasons that a verdict may have, each from the smallest run that gives it.

Those that depend on several boots or several claims are tested with these: `test_sampling`, `test_family`.
"""

from dataclasses import replace
from pathlib import Path

from slownet.judge.claim import bound, judge_all, law, not_, not_judged, predicted, ratio, slowed
from slownet.judge.measured import Measured
from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.judgement import Judgement, Reason
from slownet.judge.records.result import RunData
from slownet.model.errors import TooFewError
from slownet.theory.stats import Summary

TIME = "time_per_request_ms"
NEAR, FAR = {"rtt": "0ms"}, {"rtt": "10ms"}
FREE = Terms(Charging.FREE)


def sure(mean):
    return Summary(mean, mean, mean, 9)


def cell(label, summary, terms=FREE, boots=3, **sample):
    samples = tuple({"cell": label, "status": "ok", "boot": boot, **sample} for boot in range(1, boots + 1))
    return Cell(label, {"rtt_ms": float(label["rtt"].removesuffix("ms"))}, samples, {TIME: summary}, terms=terms)


def run_of(near, far, **more):
    cells = (cell(NEAR, near, **more), cell(FAR, far, **more))
    return RunData(Path("runs/x"), "client_delay", {"clock": "virtual", "tdf": "inf"}, cells)


def law_run(*times, half=0.0, **more):
    cells = [
        cell({"rtt": f"{rtt}ms"}, Summary(time, time - half, time + half, 9), **more)
        for rtt, time in zip((0, 10, 40), times, strict=True)
    ]
    return RunData(Path("runs/x"), "client_delay", {"clock": "real"}, tuple(cells))


AT_MOST = bound(TIME, FAR, at_most=50.0)


def judged(mean, low, high, claim=AT_MOST, **more):
    return claim.judge(run_of(sure(10.0), Summary(mean, low, high, 9), **more))


def test_an_interval_against_a_margin():
    assert judged(45.0, 44.0, 46.0).reason == Reason.INSIDE
    assert judged(55.0, 54.0, 56.0).reason == Reason.OUTSIDE
    assert judged(50.0, 49.0, 51.0).reason == Reason.ACROSS


def test_the_opposite_of_a_claim_has_the_opposite_reason():
    assert judged(45.0, 44.0, 46.0, not_(AT_MOST)).reason == Reason.OUTSIDE
    assert judged(55.0, 54.0, 56.0, not_(AT_MOST)).reason == Reason.INSIDE
    assert judged(50.0, 49.0, 51.0, not_(AT_MOST)).reason == Reason.ACROSS


def test_one_value_has_no_interval():
    assert judged(45.0, float("-inf"), float("inf")).reason == Reason.NO_INTERVAL


def test_a_margin_without_width():
    assert judged(45.0, 44.0, 46.0, predicted(TIME, FAR, expected=45.0, within=0)).reason == Reason.NO_WIDTH


def test_a_cell_that_failed():
    run = run_of(sure(10.0), sure(45.0))
    failed = replace(run.cells[1], samples=({"cell": FAR, "status": "failed", "error": "ab: no answer"},), metrics={})
    assert AT_MOST.judge(replace(run, cells=(run.cells[0], failed))).reason == Reason.CELL_FAILED


def test_a_cell_that_was_not_measured():
    run = run_of(sure(10.0), sure(45.0))
    (found,) = judge_all([AT_MOST], replace(run, cells=run.cells[:1]), cannot=lambda *why: not_judged(*why, run, [NEAR, FAR]))
    assert found.reason == Reason.NOT_MEASURED


def test_a_ratio_to_a_time_that_means_nothing():
    assert ratio(TIME, FAR, at_least=3).judge(run_of(sure(0.006), sure(10.0))).reason == Reason.NO_BASE


def test_a_law_that_is_bent():
    assert law(TIME, round_trips=4).judge(law_run(10.0, 55.0, 170.0, half=0.1)).reason == Reason.BENT


def test_processors_that_woke_late():
    late = law_run(9.0, 55.0, 193.0, half=0.05, terms=Terms(Charging.REAL), late=0.1)
    assert law(TIME, round_trips=4).judge(late).reason == Reason.LATE


def test_an_expectation_whose_error_is_lost():
    claim = predicted(TIME, FAR, expected=lambda run: run.at(NEAR).summary(TIME).mean + 20)
    assert claim.judge(run_of(Summary(10.0, 9.9, 10.1, 9), sure(30.0))).reason == Reason.ERROR_LOST


class Few:
    """A custom kind of claim that has too few values."""

    def judge(self, run, siblings):
        raise TooFewError("3 values", "p99", "measure more")


def test_a_percentile_of_too_few_values():
    (found,) = judge_all([Few()], run_of(sure(10.0), sure(45.0)))
    assert found.reason == Reason.FEW_VALUES


def test_a_test_of_pytest_has_the_same_reasons():
    near = Measured(TIME, sure(10.0))
    expected = slowed(near, round_trips=4, rtt="10ms")
    assert expected.judge(Measured(TIME, sure(50.0))).reason == Reason.INSIDE
    assert expected.judge(Measured(TIME, sure(60.0))).reason == Reason.OUTSIDE


def test_a_reason_stays_in_the_record_and_older_records_have_none():
    found = judged(45.0, 44.0, 46.0)
    assert Judgement.from_json(found.to_json()).reason == "inside"
    older = {name: value for name, value in found.to_json().items() if name != "reason"}
    assert Judgement.from_json(older).reason == ""
    assert all(each.meaning.endswith(".") for each in Reason)
