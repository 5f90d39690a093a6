import json

import pytest

from slownet.judge.claim import (
    all_of,
    any_of,
    bound,
    equal,
    grows,
    law,
    monotone,
    no_worse_than,
    not_,
    ratio,
    round_trips_between,
)
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import gather
from slownet.model.errors import ExperimentError

TIME, RATE = "time_per_request_ms", "requests_per_second"
FACTS = {"experiment": "client_delay", "clock": "virtual", "tdf": "inf"}


def sample(cell, mean, sd=0.0, n=100, **more):
    metrics = {TIME: {"mean": mean, "sd": sd, "n": n} | more, RATE: {"mean": 1000 / mean, "sd": sd / mean, "n": n}}
    condition = {"rtt_ms": float(cell["rtt"].removesuffix("ms"))}
    return {"cell": cell, "condition": condition, "status": "ok", "metrics": metrics, "verified_rtt_ms": condition["rtt_ms"]}


def run_of(times, sd=0.0, **more):
    return gather([sample({"rtt": rtt}, mean, sd, **more) for rtt, mean in times.items()], FACTS)


CLIENT = {"0ms": 12.323, "10ms": 51.825, "40ms": 173.318, "120ms": 491.918}


@pytest.mark.parametrize(
    ("claim", "sd", "verdict"),
    [
        (ratio(TIME, {"rtt": "10ms"}, published=81.15 / 19.30), 0, "supported"),
        (ratio(TIME, {"rtt": "10ms"}, published=81.15 / 19.30), 20, "inconclusive"),
        (ratio(TIME, {"rtt": "10ms"}, expected=5), 0, "refuted"),
        (ratio(TIME, {"rtt": "40ms"}, expected=173.318 / 51.825, within=0, of={"rtt": "10ms"}), 0, "supported"),
        (ratio(RATE, {"rtt": "0.01s"}, expected=0.238), 0, "supported"),
        (equal(TIME, {"rtt": "10ms"}), 0, "refuted"),
        (equal(TIME, {"rtt": "40ms"}, of={"rtt": "120ms"}, within=0.7), 0, "supported"),
        (no_worse_than(TIME, {"rtt": "10ms"}, of={"rtt": "40ms"}), 0, "supported"),
        (no_worse_than(TIME, {"rtt": "10ms"}), 0, "refuted"),
        (no_worse_than(RATE, {"rtt": "10ms"}, within=0.762, better="higher"), 10, "inconclusive"),
        (no_worse_than(RATE, {"rtt": "0ms"}, of={"rtt": "10ms"}, better="higher"), 0, "supported"),
        (no_worse_than(RATE, {"rtt": "10ms"}, better="higher"), 0, "refuted"),
        (bound(TIME, at_most="500ms"), 0, "supported"),
        (bound(TIME, at_most=490), 0, "refuted"),
        (bound(TIME, at_most=492), 5, "inconclusive"),
        (bound(TIME, at_most="180ms", at={"rtt": "40ms"}), 0, "supported"),
        (bound(TIME, at_least=12, at_most=492), 0, "supported"),
        (bound(RATE, at_least=2, at_most=80), 0, "refuted"),
        (grows(TIME), 5, "supported"),
        (grows(TIME), 400, "inconclusive"),
        (grows(RATE), 0, "refuted"),
        (grows(RATE, falling=True), 0, "supported"),
        (monotone(TIME), 0, "supported"),
        (monotone(TIME, falling=True), 0, "refuted"),
        (all_of(grows(TIME), bound(TIME, at_most=500)), 0, "supported"),
        (all_of(grows(TIME), bound(TIME, at_most=490)), 0, "refuted"),
        (all_of(grows(TIME), bound(TIME, at_most=492)), 5, "inconclusive"),
        (any_of(grows(RATE), bound(TIME, at_most=500)), 0, "supported"),
        (any_of(grows(RATE), bound(TIME, at_most=490)), 0, "refuted"),
        (not_(grows(RATE)), 0, "supported"),
        (not_(bound(TIME, at_most=492)), 5, "inconclusive"),
        (not_(grows(TIME)), 0, "refuted"),
    ],
)
def test_verdicts(claim, sd, verdict):
    judgement = claim.judge(run_of(CLIENT, sd))
    assert judgement.verdict == verdict
    assert bool(judgement) == (verdict == "supported")
    assert Judgement.from_json(json.loads(json.dumps(judgement.to_json()))).to_json() == judgement.to_json()


def test_there_is_no_ratio_to_a_time_that_means_nothing():
    """With a free CPU a request over no delay takes the time of a few readings of the clock: it was "6794.435 measured"."""
    claim = ratio(TIME, {"rtt": "40ms"}, at_least=3, name="far away it takes longer")
    found = claim.judge(run_of({"0ms": 0.0059, "40ms": 40.01}), {})
    assert (found.verdict, found.measured, found.name) == ("inconclusive", None, "far away it takes longer")
    assert found.text == (
        "time_per_request_ms is 0.0059 at rtt 0ms, where the CPU is free and nothing else takes time: no ratio to it means "
        "anything; claim round trips (law), or measure again with the CPU charged"
    )
    assert found.stays_open, "further boots do not help"
    assert ratio(TIME, {"rtt": "40ms"}, of={"rtt": "0ms"}, at_least=3).judge(run_of({"0ms": 1.1, "40ms": 41.1}), {}).measured
    assert ratio(RATE, {"rtt": "40ms"}, at_most=3).judge(run_of({"0ms": 0.0059, "40ms": 40.01}), {}).measured


def test_a_short_time_over_a_link_with_a_delay_means_something():
    """A row of a batch of 100 takes its hundredth of the batch's round trip."""
    claim = ratio(TIME, {"rtt": "40ms"}, of={"rtt": "10ms"}, expected=100, within=0.02)
    assert claim.judge(run_of({"10ms": 0.11, "40ms": 11.0}), {}).verdict == "supported"


def test_a_judgement_says_all_of_it_in_one_line():
    judgement = ratio(TIME, {"rtt": "10ms"}, published=4.2047).judge(run_of(CLIENT, sd=1.0).at_confidence(0.99))
    assert str(judgement) == repr(judgement)
    assert str(judgement) == (
        "supported: time_per_request_ms at rtt 10ms is 4.2 times the one at rtt 0ms, within 5 %: "
        "4.206 (4.115 to 4.300) times measured, 4.205 published; 99 % interval 4.115 to 4.3; "
        "verified RTT 0.00, 10.00 ms, virtual clock, TDF inf"
    )
    assert judgement.cells == ({"rtt": "0ms"}, {"rtt": "10ms"})


def test_sentences_of_the_other_kinds():
    run = run_of(CLIENT)
    assert bound(TIME, at_most="500ms").judge(run).text == (
        "12.32 ms at rtt 0ms; 51.83 ms at rtt 10ms; 173.3 ms at rtt 40ms; 491.9 ms at rtt 120ms"
    )
    assert grows(TIME).judge(run).text.startswith("39.5 ms from rtt 0ms to rtt 10ms; 121.5 ms from rtt 10ms")
    assert equal(TIME, {"rtt": "10ms"}).judge(run).text == "51.83 against 12.32: 4.206 times"
    both = all_of(grows(TIME), bound(TIME, at_most=490)).judge(run)
    assert both.name == "time_per_request_ms grows along rtt_ms and time_per_request_ms at most 490"
    assert "at most 490: refuted" in both.text
    assert both.measured == 491.918  # that of the deciding part


def test_equal_values_do_not_grow_but_never_fall():
    level = run_of({"0ms": 12.0, "10ms": 12.0})
    assert grows(TIME).judge(level).verdict == "refuted"
    assert monotone(TIME, within=0).judge(level).verdict == "supported"
    assert equal(TIME, {"rtt": "10ms"}, within=0).judge(level).verdict == "supported"


def test_what_one_part_of_several_brings_about_takes_a_surer_look_and_what_all_must_show_does_not():
    run = run_of(CLIENT, sd=5.0)
    assert grows(TIME).judge(run).confidence == 0.95
    assert all_of(grows(TIME), grows(TIME)).judge(run).confidence == 0.95
    assert grows(TIME, falling=True).judge(run).confidence == pytest.approx(1 - 0.05 / 3)
    refuted = bound(TIME, at_most=490.85, at={"rtt": "120ms"})
    assert refuted.judge(run).confidence == 0.95
    both = all_of(refuted, grows(TIME)).judge(run)
    assert (both.verdict, both.confidence) == ("inconclusive", pytest.approx(1 - 0.05 / 2))
    assert refuted.judge(run.at_confidence(0.9)).verdict == "refuted"
    assert any_of(grows(TIME, falling=True), refuted).judge(run.at_confidence(0.9)).verdict == "refuted"
    assert any_of(grows(TIME), refuted).judge(run).confidence == pytest.approx(1 - 0.05 / 2)


def test_a_percentile_takes_single_values():
    values = [float(each) for each in range(1, 401)]
    run = gather([sample({"rtt": "0ms"}, 200.5, 115.6, 400, values=values)], FACTS)
    judgement = bound(TIME, at_most=401, percentile=99).judge(run)
    assert (judgement.verdict, judgement.measured, judgement.high) == ("supported", pytest.approx(396.01), 400)
    assert judgement.name == "p99 of time_per_request_ms at most 401"
    assert bound(TIME, at_most=300, percentile=99).judge(run).verdict == "refuted"
    two = gather([sample({"rtt": "0ms"}, 100.5, 57.9, 200, values=values[:200]) for _ in range(2)], FACTS)
    assert bound(TIME, at_most=401, percentile=99).judge(two).verdict == "supported"


def test_too_few_values_for_a_percentile_leave_it_open():
    run = gather([sample({"rtt": "0ms"}, 50.5, 29.0, 100, values=list(range(1, 101)))], FACTS)
    found = bound(TIME, at_most="300ms", percentile=99).judge(run)
    assert (found.verdict, found.measured, found.high) == ("inconclusive", pytest.approx(99.01), float("inf"))
    assert found.text.startswith("99.01 ms at rtt 0ms, 100 values for a percentile of 99: its 95 % interval needs 368 or more")
    with pytest.raises(ExperimentError, match=r"'requests_per_second' were kept.*with single values: time_per_request_ms"):
        bound(RATE, at_most=300, percentile=99).judge(run)


def test_warm_ups_are_dropped_but_kept_and_outliers_kept_and_counted():
    values = [90.0] * 10 + [50.0, 51.0] * 45
    values[60] = 500.0
    run = gather([sample({"rtt": "0ms"}, 55.0, 20.0, 100, values=values, ordered=True)], FACTS)
    (cell,) = run.cells
    assert cell.warm_up == {TIME: 10}
    assert cell.outliers == {TIME: 1}
    assert cell.summary(TIME).n == 90
    assert cell.summary(TIME).mean == pytest.approx(sum(values[10:]) / 90)
    assert cell.samples[0]["metrics"][TIME]["values"] == values
    unordered = gather([sample({"rtt": "0ms"}, 55.0, 20.0, 100, values=values)], FACTS)
    assert unordered.cells[0].warm_up == {}
    one = sample({"rtt": "0ms"}, 55.0, 20.0, 100, values=values, ordered=True) | {"played": True}
    played = gather([one], FACTS).cells[0]  # a schedule's first seconds are no warm-up: they are what is measured
    assert (played.warm_up, played.summary(TIME).n) == ({}, 100)


def test_claims_speak_of_the_conditions_they_name():
    samples = [
        sample({"rtt": rtt, "loss": loss}, mean * (2 if loss == "1%" else 1))
        for rtt, mean in CLIENT.items()
        for loss in ("0%", "1%")
    ]
    run = gather(samples, FACTS)
    with pytest.raises(ExperimentError, match="two cells at rtt_ms = 0"):
        law(TIME, round_trips=4).judge(run)
    assert law(TIME, round_trips=4, at={"loss": "0%"}).judge(run).verdict == "supported"
    assert law(TIME, round_trips=8, at={"loss": "1%"}).judge(run).verdict == "supported"
    assert ratio(TIME, {"rtt": "10ms", "loss": "1%"}, expected=8.411).judge(run).verdict == "supported"  # against 0ms, 0%
    with pytest.raises(ExperimentError, match=r"2 cells at rtt 10ms.*name one: rtt 10ms, loss 0%; rtt 10ms, loss 1%"):
        equal(TIME, {"rtt": "10ms"}).judge(run)
    assert equal(TIME, {"rtt": "10ms", "loss": "0%"}, of={"loss": "1%"}, within=0.6).judge(run).verdict == "supported"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (ratio("time_per_request", {"rtt": "10ms"}, expected=4), "did you mean 'time_per_request_ms'?"),
        (ratio(TIME, {"rt": "10ms"}, expected=4), "no condition 'rt', in experiment client_delay: did you mean 'rtt'?"),
        (ratio(TIME, {"rtt": "15ms"}, expected=4), "no cell at rtt 15ms, in experiment client_delay: the cells are rtt 0ms;"),
        (ratio(TIME, {"rtt": "0ms"}, expected=1), "compared with itself"),
        (equal(TIME, {"rtt": "10ms"}, of={"rtt": "1ms"}), "no cell at rtt 1ms"),
        (bound("p99_ms", at_most=1), "no metric 'p99_ms', in cell rtt 0ms"),
        (grows(TIME, along="delay_ms"), "no condition 'delay_ms'"),
        (grows(TIME, at={"rtt": "10ms"}), "no trend from 1 value of rtt_ms"),
    ],
)
def test_bad_input_is_one_line(claim, said):
    with pytest.raises(ExperimentError) as caught:
        claim.judge(run_of(CLIENT, sd=1.0))
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_composed_claim_needs_parts():
    with pytest.raises(ExperimentError, match="a composed claim without parts"):
        all_of()


def test_a_failed_cell_leaves_open_only_what_needs_it():
    samples = [sample({"rtt": rtt}, mean) for rtt, mean in CLIENT.items()]
    samples[2] |= {"status": "failed", "error": "ab timed out", "metrics": {}}
    run = gather(samples, FACTS)
    judgement = bound(TIME, at_most=500).judge(run)
    assert judgement.verdict == "inconclusive"
    assert "not decided, because 1 cell failed (rtt 40ms: ab timed out)" in judgement.text
    assert grows(TIME).judge(run).verdict == "inconclusive"
    assert ratio(TIME, {"rtt": "10ms"}, published=4.2055).judge(run).verdict == "supported"


def of(values, metric, name="rtt"):
    """A run with one number for each value of a condition."""
    cells = [{name: value} for value in values]
    metrics = [{metric: {"mean": float(mean), "sd": 0.0, "n": 100}} for mean in values.values()]
    conditions = [{f"{name}_ms": float(cell[name].removesuffix("ms"))} for cell in cells]
    samples = zip(cells, conditions, metrics, strict=True)
    return gather([{"cell": a, "condition": b, "status": "ok", "metrics": c} for a, b, c in samples], FACTS)


@pytest.mark.parametrize(("metric", "times"), [("page_ms", 1), ("page_s", 0.001), ("page_us", 1000), ("page", 1)])
def test_round_trips_are_counted_in_the_unit_of_the_time(metric, times):
    run = of({"0ms": 10 * times, "10ms": 30 * times, "40ms": 90 * times}, metric)
    assert law(metric, round_trips=2).judge(run).verdict == "supported"
    between = round_trips_between(metric, {"rtt": "10ms"}, of={"rtt": "0ms"}, because="", expected=2)
    assert between.judge(run).verdict == "supported"


def test_a_rate_has_no_round_trips():
    with pytest.raises(ExperimentError, match=r"mbit_per_s is in Mbit/s, not a time: round trips are of times"):
        law("mbit_per_s", round_trips=1).judge(of({"0ms": 10, "10ms": 20}, "mbit_per_s"))


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        (bound("received_bytes", at_most=1234567), "received_bytes at most 1234567"),
        (bound("received_bytes", at_least=1e-7), "received_bytes at least 0.0000001"),
        (bound("received_bytes", at_least=20, at_most=20), "received_bytes 20"),
        (ratio("received_bytes", {"rtt": "10ms"}, expected=1234567), "received_bytes at rtt 10ms is 1234567 times the one"),
        (ratio("received_bytes", {"rtt": "10ms"}, at_least=2, at_most=2), "received_bytes 2 times as much"),
        (law("received_bytes", round_trips=1200000), "1200000 round trips per operation"),
        (round_trips_between("received_bytes", {"rtt": "10ms"}, of={"rtt": "0ms"}, because="", at_most=1),
         "received bytes from rtt 0ms to rtt 10ms: at most 1 round trip"),
    ],
)  # fmt: skip
def test_a_stated_number_stays_as_it_was_stated(claim, name):
    assert claim.judge(of({"0ms": 1, "10ms": 2}, "received_bytes")).name.startswith(name)


def test_nothing_is_divided_by_what_is_0():
    near, far = {"rtt": "0ms"}, {"rtt": "10ms"}
    found = ratio("stalls", far, at_least=2).judge(of({"0ms": 0, "10ms": 20}, "stalls"))
    assert (found.verdict, found.text) == (
        "inconclusive", "stalls is 0 at rtt 0ms: there is no ratio to it; claim limits of the number itself (bound)"
    )  # fmt: skip
    assert found.stays_open
    assert equal("stalls", far, of=near).judge(of({"0ms": 0, "10ms": 0}, "stalls")).verdict == "supported"


def test_a_small_ratio_is_not_0():
    found = ratio("page_ms", {"rtt": "10ms"}, expected=1e-4).judge(of({"0ms": 1000, "10ms": 0.1}, "page_ms"))
    assert found.text == "0.000100 times measured, 0.0001 expected"
