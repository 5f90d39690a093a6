"""Tests of the shared error rate of an experiment's claims, and of claims about cells that were not measured."""

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

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
    more_round_trips,
    not_,
    not_judged,
    predicted,
    published_times,
    ratio,
)
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData, gather
from slownet.judge.records.statement import TEXT
from slownet.model.errors import ExperimentError, SlownetError
from slownet.runner import sampling
from slownet.theory.stats import DECIDING, Summary, summarize

TIME = "time_per_request_ms"
MANY = 23
BOOTS = 6


def labelled(number):
    return {"pattern": str(number)}


def run_of(summaries):
    cells = tuple(Cell(labelled(at), labelled(at), ({"status": "ok"},), {"ms": each}) for at, each in enumerate(summaries))
    return RunData(Path("runs/x"), "many", {}, cells, confidence=DECIDING)


def drawn(rng, truths, sd=0.1, common=0.0):
    """Draw a run of BOOTS boots, whose cells share some of their noise."""
    together = rng.normal(0, common, BOOTS)
    return run_of([summarize(list(truth + together + rng.normal(0, sd, BOOTS)), DECIDING) for truth in truths])


ON_THE_EDGE = [
    bound("ms", labelled(at), at_most=10.0) if at % 2 else bound("ms", labelled(at), at_least=10.0) for at in range(MANY)
]


def wrongly_refuted(judge, runs=600, **noise):
    """Return the fraction of runs that refute a claim though all claims hold: each true value lies on its claim's limit."""
    rng = np.random.default_rng(1)
    return sum("refuted" in [each.verdict for each in judge(drawn(rng, [10.0] * MANY, **noise))] for _ in range(runs)) / runs


@pytest.mark.parametrize("common", [0.0, 0.3])
def test_a_run_in_which_all_holds_refutes_one_of_its_claims_in_at_most_one_percent(common):
    assert wrongly_refuted(lambda run: judge_all(ON_THE_EDGE, run), common=common) <= 0.01
    if not common:
        alone = wrongly_refuted(lambda run: [each.judge(run) for each in ON_THE_EDGE], runs=500)
        assert alone > 0.07  # 1 - 0.995 ** 23 is 0.109


def test_claims_with_truth_inside_are_refuted_less_often_still():
    rng = np.random.default_rng(2)
    claims = [bound("ms", labelled(at), at_least=9.9, at_most=10.1) for at in range(MANY)]
    refuted = sum("refuted" in [each.verdict for each in judge_all(claims, drawn(rng, [10.08] * MANY))] for _ in range(500))
    assert refuted <= 1


def test_a_claim_that_does_not_hold_is_refuted_among_many():
    rng = np.random.default_rng(3)
    truths = [9.0, *[10.0 + (-1) ** at for at in range(1, MANY)]]  # all but the first hold by a wide margin
    counted = Counter(judge_all(ON_THE_EDGE, drawn(rng, truths))[0].verdict for _ in range(200))
    assert counted["refuted"] >= 190


def test_those_refuted_leave_the_others_more():
    """The second of three claims is refuted at 99.5 % (t = 3.69 with 9 degrees of freedom), but not at 99.67 %."""
    by_t = [Summary(10.0 + t * 0.1, 10.0, 20.0, 10, 9, 0.9) for t in (8.0, 3.8, 1.0)]
    means = [Summary(each.mean, each.mean - 0.1 * 1.833113, each.mean + 0.1 * 1.833113, 10, 9, 0.9) for each in by_t]
    run = run_of([each.at_confidence(DECIDING) for each in means])
    claims = [bound("ms", labelled(at), at_most=10.0) for at in range(3)]
    assert [each.judge(run).verdict for each in claims] == ["refuted", "refuted", "inconclusive"]
    found = judge_all(claims, run)
    assert [each.verdict for each in found] == ["refuted", "refuted", "inconclusive"]
    assert [each.confidence for each in found] == pytest.approx([1 - 0.01 / 3, 1 - 0.01 / 2, 0.99])
    alike = judge_all([claims[1], claims[2], claims[2]], run)
    assert [each.verdict for each in alike] == ["inconclusive"] * 3
    assert alike[0].text.endswith("(not yet refuted at the confidence that 3 claims together require)")
    assert alike[0].reason == "among others"
    assert alike[0].low < 10.0  # the interval shown is the one that decides
    assert judge_all([claims[1]], run)[0].verdict == "refuted"


def test_what_does_not_vary_is_refuted_at_any_confidence():
    run = run_of([Summary(10.001, 10.001, 10.001, 1)] * MANY)
    assert {each.verdict for each in judge_all(ON_THE_EDGE[1::2], run)} == {"refuted"}
    assert {each.verdict for each in judge_all(ON_THE_EDGE[::2], run)} == {"supported"}


@pytest.mark.parametrize(
    "claim",
    [
        bound("ms", at_most=10.0),
        follows("ms", lambda condition: 10.0, at_least=0.5, at_most=1.0, because="", name="no more than theory says"),
        all_of(*(bound("ms", labelled(at), at_most=10.0) for at in range(MANY))),
        not_(all_of(not_(bound("ms", at_most=10.0)))),
    ],
)
def test_the_parts_of_one_claim_share_their_error_too(claim):
    rng = np.random.default_rng(4)
    runs = 600
    assert sum(claim.judge(drawn(rng, [10.0] * MANY)).verdict == "refuted" for _ in range(runs)) / runs <= 0.01


def test_support_of_all_parts_takes_no_surer_intervals():
    """A single part that does not hold is supported in at most 1 % of runs; if all hold, the correction costs nothing."""
    rng = np.random.default_rng(5)
    claim = bound("ms", at_most=10.0)
    off = sum(claim.judge(drawn(rng, [10.0] + [9.0] * (MANY - 1))).verdict == "supported" for _ in range(1000))
    assert off / 1000 <= 0.01
    run = drawn(rng, [9.5] * MANY)
    assert claim.judge(run).verdict == "supported"
    assert bound("ms", at_most=10.0).judge(run).confidence == DECIDING


def test_mistakes_are_raised_unless_somebody_takes_them():
    run = run_of([Summary(10.0, 10.0, 10.0, 1)])
    claims = [bound("ms", labelled(7), at_most=3), bound("ms", labelled(0), at_most=3)]
    with pytest.raises(ExperimentError, match="no cell at pattern 7"):
        judge_all(claims, run)
    found = judge_all(claims, run, cannot=lambda claim, error: not_judged(claim, error, run))
    assert [each.verdict for each in found] == ["not judged", "refuted"]


# Claims about cells that were not measured


def partly(*rtts, metrics=None):
    samples = [
        {
            "cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "status": "ok",
            "metrics": metrics or {TIME: {"mean": 10.0 + 4 * rtt, "sd": 0.0, "n": 9}},
        }
        for rtt in rtts
    ]  # fmt: skip
    return gather(samples, {"experiment": "database_delay"})


OWN = [{"rtt": "0ms"}, {"rtt": "10ms"}, {"rtt": "40ms"}]


FAR, NEAR = {"rtt": "10ms"}, {"rtt": "0ms"}
WITHIN, ALL = ", within 5 %", "rtt 0ms, rtt 10ms and rtt 40ms were not measured"
ONE, BOTH = "rtt 10ms was not measured", "rtt 10ms and rtt 40ms were not measured"


@pytest.mark.parametrize(
    ("claim", "measured", "name", "why"),
    [
        (constant_round_trips(TIME), [25], f"the same round trips at 10ms and 40ms{WITHIN}", ALL),
        (constant_round_trips(TIME), [0, 40], f"the same round trips at 10ms and 40ms{WITHIN}", ONE),
        (law(TIME, round_trips=4), [25], f"4 round trips per operation{WITHIN}", f"{ALL}; only one delay was measured, 25 ms"),
        (
            more_round_trips(TIME, at_least=5, of="x", otherwise=4), [40], "at least 5 times the round trips of x",
            "rtt 0ms and rtt 10ms were not measured; only one delay was measured, 40 ms",
        ),
        (ratio(TIME, FAR, expected=5), [0, 40], f"{TIME} at rtt 10ms is 5 times the one at rtt 0ms{WITHIN}", ONE),
        (equal(TIME, {"rtt": "40ms"}, of=FAR), [40], f"{TIME} at rtt 40ms equals the one at rtt 10ms{WITHIN}", ONE),
        (bound(TIME, FAR, at_most=3), [0], f"{TIME} at most 3 at rtt 10ms", ONE),
        (bound(TIME, FAR, at_least="3ms", at_most=4), [0], f"{TIME} 3ms to 4 at rtt 10ms", ONE),
        (ratio(TIME, FAR, of=NEAR, at_most=3, name="n"), [0], "n", ONE),
        (grows(TIME), [0], f"{TIME} grows along rtt_ms", f"{BOTH}; no trend from 1 value of rtt_ms"),
        (
            published_times(TIME, t0_ms=12, times_ms={"10ms": 52}), [0],
            f"the published times follow from the published 12 ms{WITHIN}",
            f"{BOTH}; only one delay was measured, 0 ms",
        ),
        (
            predicted(TIME, NEAR, expected=lambda run: run.at(FAR).summary(TIME)), [0],
            f"{TIME} as predicted at rtt 0ms{WITHIN}", BOTH,
        ),
        (
            all_of(bound(TIME, FAR, at_most=9), bound(TIME, NEAR, at_most=9)), [0],
            f"{TIME} at most 9 at rtt 10ms and {TIME} at most 9 at rtt 0ms", ONE,
        ),
    ],
)  # fmt: skip
def test_it_says_what_was_not_measured(claim, measured, name, why):
    run = partly(*measured)
    with pytest.raises(SlownetError) as caught:
        claim.judge(run)
    found = not_judged(claim, caught.value, run, OWN)
    assert (found.verdict, found.name, found.text) == ("not judged", name, why)
    assert (found.measured, found.low, found.high) == (None, None, None)
    assert not found


def test_what_was_measured_besides_is_judged():
    assert [each.verdict for each in judge_all([law(TIME, round_trips=4), bound(TIME, at_most=200)], partly(0, 25))] == [
        "supported"
    ] * 2


@dataclass(frozen=True)
class mine:  # noqa: N801
    """A custom kind of claim that does not name its cells."""

    metric: str
    at: dict

    def judge(self, run, siblings=None):
        cell = run.at(self.at)
        value = cell.summary(self.metric).mean
        return decide(run, "mine", lambda: Summary(value, value, value, 1), (None, 3.0), cells=(cell,))


def test_a_kind_of_ones_own_is_named_by_its_fields_where_it_cannot_say_more():
    run = partly(0)
    claim = mine(TIME, {"rtt": "10ms"})
    with pytest.raises(SlownetError) as caught:
        claim.judge(run)
    found = not_judged(claim, caught.value, run, OWN)
    assert found.name == "mine: metric time_per_request_ms, at rtt 10ms"
    assert found.text == "no cell at rtt 10ms, in experiment database_delay: the cells are rtt 0ms"


@dataclass(frozen=True)
class tail:  # noqa: N801
    """A custom kind of claim about a percentile."""

    metric: str

    def judge(self, run, siblings=None):
        (cell,) = run.cells
        return decide(run, "tail", lambda: cell.percentile(self.metric, 99, run.confidence), (None, 60.0))


def test_too_few_values_for_a_kind_of_ones_own_leave_it_open():
    values = [float(each) for each in range(100)]
    run = partly(0, metrics={TIME: {"mean": 49.5, "sd": 29.0, "n": 100, "values": values}})
    (found,) = judge_all([tail(TIME)], run)
    assert found.verdict == "inconclusive"
    assert found.text == f"100 values for a percentile of 99, {TIME} in cell rtt 0ms: its 95 % interval needs 368 or more"
    assert found.to_json()["measured"] is None
    assert sampling.decide(run, [tail(TIME)], {}, sampling.Rule(), 1.0, 1.0).cells == ({"rtt": "0ms"},)


def test_an_interval_that_is_not_known_is_not_printed():
    found = Judgement(
        "three round trips", "inconclusive", 3.0, 3.0, -math.inf, math.inf, (2.85, 3.15), (TEXT(text="3.00 measured"),)
    )
    assert str(found) == "inconclusive: three round trips: 3.00 measured"
