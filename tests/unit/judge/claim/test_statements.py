"""What judging says is data: each finding has a code and numbers, from which its words follow; other rooms have the words."""

import ast
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from slownet import judge
from slownet.judge.claim import (
    all_of,
    bound,
    constant_round_trips,
    decide,
    equal,
    follows,
    grows,
    judge_all,
    law,
    monotone,
    more_round_trips,
    no_worse_than,
    not_judged,
    predicted,
    published_times,
    ratio,
    round_trips_between,
    slowed,
)
from slownet.judge.claim.base import MEASURED, NO_INTERVAL
from slownet.judge.claim.family import NOT_MEASURED
from slownet.judge.measured import Measured
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import gather
from slownet.judge.records.statement import text_of
from slownet.theory.stats import Summary, from_moments

TIME = "time_per_request_ms"
NEAR, FAR = {"rtt": "0ms"}, {"rtt": "10ms"}
TIMES = {"0ms": 12.0, "10ms": 52.0, "40ms": 172.0}
UNSURE = Summary(1.0, float("-inf"), float("inf"), 1)


def sample(rtt, mean, sd, boot, **more):
    return {
        "cell": {"rtt": rtt}, "condition": {"rtt_ms": float(rtt.removesuffix("ms"))}, "status": "ok", "boot": boot,
        "metrics": {TIME: {"mean": mean, "sd": sd, "n": 100}}, "verified_rtt_ms": float(rtt.removesuffix("ms")), **more,
    }  # fmt: skip


def run_of(sd=0.0, boots=4, clock="virtual", **more):
    facts = {"experiment": "client_delay", "clock": clock} | ({"tdf": "inf"} if clock == "virtual" else {})
    samples = [
        sample(rtt, mean + sd * boot / 3, sd, boot, index=boot, **more)
        for boot in range(1, boots + 1)
        for rtt, mean in TIMES.items()
    ]
    return gather(samples, facts)


CLAIMS = [
    law(TIME, round_trips=4),
    law(TIME, round_trips=lambda run: 4.0),
    constant_round_trips(TIME),
    more_round_trips(TIME, at_least=5, of="database_delay", otherwise=0.5),
    more_round_trips(TIME, at_least=5, of="database_delay"),
    published_times(TIME, t0_ms=12.3, times_ms={"10ms": 51.8}),
    predicted(TIME, FAR, expected=52.0, because="four round trips"),
    predicted(TIME, FAR, expected=lambda run: run.at(NEAR).summary(TIME) + 40),
    predicted(TIME, FAR, expected=lambda run: run.at(NEAR).summary(TIME).mean + 40),
    round_trips_between(TIME, FAR, of=NEAR, because="four round trips", expected=4),
    follows(TIME, lambda at: 12 + 4 * at["rtt_ms"], at_least=0.9, at_most=1.1, because="the law", name="the law holds"),
    ratio(TIME, FAR, published=4.2),
    ratio(TIME, FAR, at_least=3),
    equal(TIME, FAR),
    no_worse_than(TIME, FAR),
    bound(TIME, at_most="500ms", because="a limit"),
    bound(TIME, FAR, at_most="50ms"),
    grows(TIME),
    monotone(TIME, falling=True),
    all_of(law(TIME, round_trips=4), bound(TIME, at_most=40)),
]


@pytest.mark.parametrize("run", [run_of(), run_of(sd=3.0), run_of(sd=3.0, clock="real"), run_of(boots=1, sd=1.0, clock="real")])
@pytest.mark.parametrize("claim", CLAIMS, ids=[f"{type(each).__name__} {number}" for number, each in enumerate(CLAIMS)])
def test_a_text_follows_from_the_findings_also_of_a_record(claim, run):
    (found,) = judge_all([claim], run)
    again = Judgement.from_json(json.loads(json.dumps(found.to_json())))
    assert found.findings
    assert text_of(found.findings) == text_of(again.findings) == again.text == found.text
    assert again.findings == found.findings


def test_a_law_states_its_numbers():
    (found,) = law(TIME, round_trips=4).judge(run_of()).findings
    assert found.code == "law measured"
    assert found.values["round_trips"].mean == pytest.approx(4)
    assert found.values["expected"].mean == 4


def test_a_bound_states_the_number_of_each_cell():
    found = bound(TIME, at_most=500).judge(run_of())
    (in_turn,) = found.to_json()["findings"]
    numbers = {part[0]["at"]: part[0]["number"]["mean"] for part in in_turn["parts"]}
    assert numbers == {f"rtt {rtt}": pytest.approx(mean) for rtt, mean in TIMES.items()}


def test_what_keeps_a_claim_open_is_a_finding_with_its_number():
    run = run_of()
    found = decide(run, "a page", lambda: UNSURE, (0, 500), expected=2.0)
    assert found.findings == (MEASURED(number=UNSURE, expected=2.0), NO_INTERVAL(repetitions=3))
    assert (found.verdict, found.reason) == ("inconclusive", "no interval")


def test_a_claim_that_was_not_judged_states_its_cells():
    run = run_of()
    claim = bound(TIME, FAR, at_most=50)
    short = replace(run, cells=run.cells[:1])
    labels = [cell.label for cell in run.cells]
    (found,) = judge_all([claim], short, cannot=lambda *why: not_judged(*why, short, labels))
    assert found.findings == (NOT_MEASURED(cells=("rtt 10ms",), error=""),)


def test_an_expectation_of_a_test_states_its_numbers():
    near = Measured(TIME, from_moments(12.0, 0.1, 100))
    found = slowed(near, round_trips=5, rtt="10ms").judge(Measured(TIME, Summary(52.0, 51.9, 52.1, 100)))
    assert [each.code for each in found.findings] == ["ratio found", "compared", "round trips instead"]
    assert found.findings[-1].values == {"round_trips": pytest.approx(4.0), "expected": 5.0}


def test_the_text_of_a_claim_of_ones_own_stays_and_findings_are_added():
    found = decide(run_of(), "mine", lambda: UNSURE, (0, 500), text="my own words")
    assert found.text == "my own words" + text_of(found.findings[1:])
    assert [each.code for each in found.findings] == ["text", "no interval"]


def test_an_unknown_end_of_an_interval_is_null_in_a_record_and_unknown_again():
    found = MEASURED(number=UNSURE, expected=None)
    record = json.loads(json.dumps(Judgement("x", "inconclusive", 1.0, None, None, None, (None, None)).saying(found).to_json()))
    assert record["findings"] == [
        {"code": "measured", "number": {"mean": 1.0, "low": None, "high": None, "n": 1}, "expected": None}
    ]
    (again,) = Judgement.from_json(record).findings
    assert not again.values["number"].known


# ---- words ----


def test_a_text_of_findings_whose_words_are_not_installed_is_the_recorded_one():
    record = law(TIME, round_trips=4).judge(run_of()).to_json()
    record["findings"] = [{"code": "of a package that is not installed", "number": 4}]
    again = Judgement.from_json(json.loads(json.dumps(record)))
    assert again.text == record["text"] != ""
    assert again.to_json()["findings"] == record["findings"]


def test_no_two_phrases_have_the_same_code():
    """Findings of claims, checks and runs are known by their codes, wherever their words are."""
    codes = [
        node.args[0].value
        for path in (Path(judge.__file__).parent).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Phrase"
    ]
    assert len(codes) > 40
    assert len({*codes}) == len(codes)


def test_a_fact_of_a_judgement_is_stored_once():
    """Its text is made of its findings when it is shown, also after more was found."""
    found = law(TIME, round_trips=4).judge(run_of())
    assert "text" not in {each.name for each in fields(found)}
    assert (
        found.adding(NO_INTERVAL(repetitions=3)).text
        == f"{found.text} (its interval is not known: that takes 3 repetitions or more)"
    )
