"""Tests that a judgement has its claim's kind, metric and parameters as fields, so that nobody parses its text."""

import inspect
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from slownet.hypotheses.predictions import KINDS
from slownet.judge import claim
from slownet.judge.claim import (
    all_of,
    bound,
    constant_round_trips,
    equal,
    expected_round_trips,
    follows,
    grows,
    judge_all,
    law,
    not_,
    predicted,
    ratio,
    slowed,
)
from slownet.judge.measured import Measured
from slownet.judge.records import judgement as verdicts
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import gather
from slownet.report.comparison import lines
from slownet.theory.stats import Summary, from_moments

TIME, RATE = "time_per_request_ms", "requests_per_second"
NEAR, FAR = {"rtt": "0ms"}, {"rtt": "10ms"}
LINE = {"0ms": 10.0, "10ms": 50.0, "40ms": 170.0}


def run_of(times=LINE, **facts):
    samples = [
        {
            "cell": {"rtt": rtt}, "condition": {"rtt_ms": float(rtt.removesuffix("ms"))}, "status": "ok",
            "metrics": {TIME: {"mean": time, "sd": 0.0, "n": 9}, RATE: {"mean": 1000 / time, "sd": 0.0, "n": 9}},
        }
        for rtt, time in times.items()
    ]  # fmt: skip
    return gather(samples, {"experiment": "pages", "clock": "virtual", "tdf": "inf", **facts})


STATED = [
    (law(TIME, round_trips=4), "law", TIME, {"round_trips": 4, "within": 0.05, "along": "rtt_ms"}),
    (law(TIME, round_trips=lambda run: 4), "law", TIME, {"within": 0.05, "along": "rtt_ms"}),
    (constant_round_trips(TIME), "constant_round_trips", TIME, {"at": ["10ms", "40ms"], "within": 0.05, "along": "rtt_ms"}),
    (ratio(TIME, FAR, expected=5), "ratio", TIME, {"at": FAR, "expected": 5, "within": 0.05}),
    (ratio(TIME, FAR, of=NEAR, at_most=6), "ratio", TIME, {"at": FAR, "of": NEAR, "within": 0.05, "at_most": 6}),
    (equal(TIME, FAR, within=np.float32(0.5)), "equal", TIME, {"at": FAR, "within": 0.5}),
    (bound(TIME, at_most="300ms"), "bound", TIME, {"at_most": "300ms"}),
    (predicted(TIME, FAR, expected=Fraction(50)), "predicted", TIME, {"at": FAR, "expected": 50.0, "within": 0.05}),
    (grows(RATE, falling=True), "grows", RATE, {"along": "rtt_ms", "falling": True}),
    (
        follows(TIME, lambda condition: 10 + 4 * condition["rtt_ms"], at_least=0.9, at_most=1.1, because="", name="the line"),
        "follows", TIME, {"at_least": 0.9, "at_most": 1.1, "theory": [
            {"cell": {"rtt": f"{rtt}ms"}, "value": 10.0 + 4 * rtt} for rtt in (0, 10, 40)
        ]},
    ),
    (
        all_of(bound(TIME, FAR, at_least=1), not_(grows(RATE))), "all_of", "",
        {"claims": [
            {"kind": "bound", "metric": TIME, "parameters": {"at": FAR, "at_least": 1}},
            {"kind": "not", "metric": "", "parameters": {
                "claims": [{"kind": "grows", "metric": RATE, "parameters": {"along": "rtt_ms", "falling": False}}],
            }},
        ]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("made", "kind", "metric", "parameters"), STATED, ids=[each[1] for each in STATED])
def test_kind_metric_and_parameters_are_fields_and_come_back_from_json(made, kind, metric, parameters):
    found = made.judge(run_of())
    assert (found.kind, found.metric, found.parameters) == (kind, metric, parameters)
    assert Judgement.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found


def test_a_record_without_them_is_read_as_not_known():
    record = law(TIME, round_trips=4).judge(run_of()).to_json()
    for name in ("kind", "metric", "parameters"):
        del record[name]
    found = Judgement.from_json(record)
    assert (found.kind, found.metric, found.parameters, found.verdict) == ("", "", {}, "supported")
    assert expected_round_trips(run_of().judged([found]), TIME) is None


def test_a_claim_that_cannot_be_judged_knows_it_too():
    run = run_of({"0ms": 10.0})
    (found,) = judge_all([ratio(TIME, FAR, of=NEAR, at_most=6)], run, cannot=lambda *why: claim.not_judged(*why, run, [FAR]))
    assert (found.verdict, found.kind, found.metric) == ("not judged", "ratio", TIME)
    assert found.parameters == {"at": FAR, "of": NEAR, "within": 0.05, "at_most": 6}


class half:  # noqa: N801
    """A custom kind of claim that is not a dataclass and does not set kind, metric and parameters."""

    metric = TIME

    def judge(self, run, siblings=None):
        return claim.decide(run, "half", lambda: Summary(0.5, 0.5, 0.5, 1), (None, 1.0))


def test_a_kind_of_ones_own_is_named_where_claims_are_judged_together():
    (found,) = judge_all([half()], run_of())
    assert (found.kind, found.parameters) == ("half", {})


def test_an_expectation_says_what_was_compared():
    expected = slowed(11.8, round_trips=4, rtt="10ms")
    assert Measured(TIME, from_moments(51.8, 0.4, 100)) == expected
    found = expected.judgement
    assert (found.kind, found.metric) == ("slowed", TIME)
    assert found.parameters == {"round_trips": 4, "rtt": "10ms", "within": 0.05}


def test_the_law_of_a_run_is_found_by_its_kind_and_metric_whatever_its_name_says():
    run = run_of()
    stated = law(TIME, round_trips=4).judge(run)
    other = replace(bound(TIME, at_most=300).judge(run), name="4 round trips per operation, within 5 %", expected=300.0)
    refused = not_(law(TIME, round_trips=7)).judge(run)
    judged = run.judged([other, refused, replace(stated, name="what the page costs")])
    assert expected_round_trips(judged, TIME) == 4
    assert expected_round_trips(judged, "waiting_ms") is None
    assert expected_round_trips(run.judged([stated, law(TIME, round_trips=4.1).judge(run)]), TIME) is None


def test_asking_a_judgement_whether_it_holds_does_nothing_else(monkeypatch):
    monkeypatch.setattr(verdicts, "_listeners", [])
    heard = []
    with verdicts.observed_by(heard.append):
        found = law(TIME, round_trips=4).judge(run_of())
        assert found
        assert not law(TIME, round_trips=5).judge(run_of())
        assert heard == []
        assert found.report() is found
    assert heard == [found]


# Theory and verdict in the table of published numbers


def table_of(*claims, times=LINE):
    rows = [{"rtt_ms": float(rtt.removesuffix("ms")), TIME: 11.0, RATE: 20.0} for rtt in times]
    run = run_of(times, published={"metric": TIME, "rows": rows})
    return {(line.condition, line.metric): line for line in lines(run.judged([each.judge(run) for each in claims]))}


def test_equal_numbers_of_two_cells_or_metrics_are_told_apart():
    level = {"0ms": 10.0, "10ms": 10.0, "40ms": 1000 / 10.0}  # at 40 ms a time is what a rate is at the others
    found = table_of(predicted(RATE, FAR, expected=50), predicted(RATE, NEAR, expected=100.0), times=level)
    assert [found["rtt 10ms", RATE].theory, found["rtt 10ms", RATE].verdict] == [50, "refuted"]
    assert [found["rtt 0ms", RATE].theory, found["rtt 0ms", RATE].verdict] == [100, "supported"]
    assert [found["rtt 40ms", RATE].theory, found["rtt 40ms", RATE].verdict] == [None, ""]
    assert found["rtt 10ms", TIME].theory != 50


def test_a_claim_stands_beside_its_number_though_what_it_measured_is_not_that_to_the_last_digit():
    rounded = replace(predicted(RATE, FAR, expected=20).judge(run_of()), measured=20.0001)
    run = run_of(published={"metric": TIME, "rows": [{"rtt_ms": 10.0, RATE: 19.3}]}).judged([rounded])
    (found,) = lines(run)
    assert (found.theory, found.verdict) == (20, "supported")


def test_ratios_and_percentiles_are_no_numbers_of_a_cell():
    found = table_of(ratio(RATE, NEAR, of=FAR, expected=100.0, within=0.9), ratio(RATE, FAR, of=NEAR, at_least=0.1))
    assert {line.theory for (_, metric), line in found.items() if metric == RATE} == {None}
    assert {line.verdict for (_, metric), line in found.items() if metric == RATE} == {""}
    metrics = {RATE: {"mean": 1.0, "sd": 0.0, "n": 400, "values": [1.0] * 400}}
    sample = {"cell": FAR, "condition": {"rtt_ms": 10.0}, "status": "ok", "metrics": metrics}
    run = gather([sample], {"experiment": "x", "published": {"metric": TIME, "rows": [{"rtt_ms": 10.0, RATE: 19.3}]}})
    for limit, verdict in ((bound(RATE, FAR, at_most=2), "supported"), (bound(RATE, FAR, at_most=2, percentile=50), "")):
        (line,) = lines(run.judged([limit.judge(run)]))
        assert (line.verdict, line.theory) == (verdict, None)


# One vocabulary for all kinds of claims


@pytest.mark.parametrize("kind", KINDS.values())
def test_numbers_are_named_and_so_is_everything_behind_the_cell(kind):
    parameters = inspect.signature(kind).parameters.values()
    positional = [each.name for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional in (["metric"], ["metric", "at"])


def test_follows_takes_its_theory_without_a_name_and_its_numbers_with_them():
    with pytest.raises(TypeError, match="positional"):
        follows(TIME, len, 0.9, 1.1, "", "theory")
    with pytest.raises(TypeError, match="positional"):
        slowed(11.8, 4, "10ms")
    with pytest.raises(TypeError, match="positional"):
        claim.about(52, 0.05)


def test_names_of_fields_are_the_same_in_all_kinds():
    fields = {name for kind in (*KINDS.values(), follows) for name in inspect.signature(kind).parameters}
    assert fields == {
        *("metric", "at", "of", "along", "expected", "published", "within", "at_least", "at_most", "because", "name"),
        *("round_trips", "otherwise", "t0_ms", "times_ms", "percentile", "falling", "better", "theory"),
    }


def test_a_baseline_that_is_a_whole_cell_is_that_cell():
    """The baseline need not have the conditions that only the cell has."""
    capacity, over = {"load": "capacity"}, {"load": "over", "tool": "wrk2"}
    both = {**capacity, "tool": "wrk2"}
    rates = [(capacity, 100.0), (over, 50.0), (both, 10.0)]
    samples = [
        {"cell": cell, "condition": {}, "status": "ok", "metrics": {"per_s": {"mean": mean, "sd": 0.0, "n": 9}}}
        for cell, mean in rates
    ]
    run = gather(samples[:2], {"clock": "virtual", "tdf": "inf"})
    assert ratio("per_s", over, of=capacity, expected=0.5).judge(run).measured == 0.5
    assert ratio("per_s", over, of=capacity, expected=0.5).judge(gather(samples, {})).cells == (capacity, over)


def test_a_limit_in_every_cell_and_its_reason():
    found = bound(TIME, at_most=100, because="pages are small").judge(run_of())
    assert (found.name, found.verdict, found.measured) == (f"{TIME} at most 100", "refuted", 170.0)
    assert found.text == "10 ms at rtt 0ms; 50 ms at rtt 10ms; 170 ms at rtt 40ms; pages are small"
    one = bound(TIME, FAR, at_least="40ms", at_most=60, because="pages are small").judge(run_of())
    assert (one.name, one.text) == (f"{TIME} 40ms to 60 at rtt 10ms", "50 ms measured; pages are small")
    assert one.cells == (FAR,)
