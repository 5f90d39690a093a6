"""Tests of the answer: it says what was measured, and is never surer than the verdicts."""

from dataclasses import replace
from pathlib import Path

import pytest

from slownet.judge.claim import law
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.report.answer import answer, standing
from slownet.report.view import view
from slownet.theory.stats import Summary

TIME = "time_per_request_ms"


def cell(label, half=0.0, **metrics):
    found = {name: Summary(value, value - half, value + half, 100) for name, value in metrics.items()}
    condition = {f"{name}_ms": float(text[:-2]) for name, text in label.items() if text.endswith("ms")}
    return Cell(label, condition, ({"status": "ok"},), found)


def page(k, half=0.0, expected=4):
    cells = tuple(cell({"rtt": f"{d}ms"}, half, **{TIME: 10 + k * d}) for d in (0, 10, 40, 120))
    run = RunData(Path("x"), "x", {"operation": "page"}, cells)
    return run.judged([law(TIME, round_trips=expected).judge(run)]) if expected else run


def said(run):
    return answer(view(run))


@pytest.mark.parametrize(
    ("run", "verdict", "wanted"),
    [
        (page(4.02), "supported", "A page costs four round trips: 40 ms further away, it takes 160 ms longer."),
        (
            page(5.2), "refuted",
            "A page does not cost the four round trips that were expected, but 5.2 round trips: "
            "40 ms further away, it takes about 210 ms longer.",
        ),
        (
            page(4.1, half=30), "inconclusive",
            "Not decided: a page seems to cost 4.10 round trips (3.78 to 4.42), "
            "so that 40 ms further away, it takes about 160 ms longer.",
        ),
    ],
)  # fmt: skip
def test_the_law_is_said_as_surely_as_its_claim(run, verdict, wanted):
    assert run.claims[0].verdict == verdict
    assert said(run) == wanted


def starred(links, k=16):
    """A run without claims whose rtt was set on some links of a star."""
    cells = []
    for d in (0, 10, 40, 120):
        made = cell({"rtt": f"{d}ms"}, **{TIME: 10 + k * d})
        conditions = {f"host{number}-switch": f"rtt {d}ms" for number in range(links)} | {"far-switch": "rate 10Mbit"}
        cells.append(replace(made, samples=({"status": "ok", "links": conditions if d else {"far-switch": "rate 10Mbit"}},)))
    return RunData(Path("x"), "x", {"operation": "request"}, tuple(cells))


def test_a_delay_on_several_links_is_not_counted_in_round_trips():
    assert said(starred(3)) == "A request takes 16 ms longer for each ms of rtt, which is set on 3 links."
    assert said(starred(1)).startswith("A request costs 16 round trips as measured here: 40 ms further away")


def test_one_round_trip_that_was_expected_is_singular():
    assert said(page(2, expected=1)).startswith(
        "A page does not cost the one round trip that was expected, but 2 round trips: "
    )


def test_three_round_trips_of_35_ms_are_105_ms():
    cells = tuple(cell({"rtt": f"{d}ms"}, **{TIME: 1 + 3 * d}) for d in (0, 35))
    run = RunData(Path("x"), "x", {"operation": "page"}, cells)
    run = run.judged([law(TIME, round_trips=3).judge(run)])
    assert said(run) == "A page costs three round trips: 35 ms further away, it takes 105 ms longer."


def test_without_a_claim_the_law_is_what_was_measured():
    assert said(page(27.0, expected=None)) == (
        "A page costs 27 round trips as measured here: 40 ms further away, it takes about 1.1 s longer."
    )


def test_a_few_cells_apart_from_the_others_are_named():
    times = {"write-write-read": 43.5, "quickack-once": 43.4, "nodelay": 0.007, "cork": 0.006, "one-write": 0.005}
    run = RunData(Path("x"), "x", {}, tuple(cell({"pattern": name}, exchange_ms=each) for name, each in times.items()))
    assert said(run) == (
        "The exchange time is 43.4 ms to 43.5 ms with quickack-once and write-write-read, and at most 7 us with the other 3."
    )


def test_otherwise_the_extremes_are_named():
    rates = {"100ms": 13.5, "10ms": 40.0, "1ms": 90.0}
    run = RunData(Path("x"), "x", {}, tuple(cell({"delay_up": at}, mib_per_s=each) for at, each in rates.items()))
    extremes = "throughput ranges from 13.5 MiB/s with 100 ms of delay to 90 MiB/s with 1 ms of delay."
    assert said(run) == f"The {extremes}"
    unsure = Judgement("x", "inconclusive", None, None, None, None, (None, None))
    assert said(run.judged([unsure])) == f"As measured, the {extremes}"


def test_a_count_of_things_is_plural():
    one, two = (cell({"room": room}, acknowledged_operations=number) for room, number in (("one", 100.0), ("two", 90.0)))
    assert said(RunData(Path("x"), "x", {}, (one,))) == "The acknowledged operations are 100."
    assert said(RunData(Path("x"), "x", {}, (one, two))).startswith("The acknowledged operations range from 90 with ")


def test_both_latencies():
    alone = cell({"load": "capacity"}, corrected_p99_s=0.9, uncorrected_p99_s=0.02)
    over = cell({"load": "2.32 times"}, corrected_p99_s=0.734, uncorrected_p99_s=0.0179)
    found = said(RunData(Path("x"), "x", {}, (alone, over)))
    assert found == (
        "With load 2.32 times, 99 % of requests took up to 734 ms from when they were due; counted from when they were sent, "
        "it looks like 17.9 ms."
    )


def test_the_best_cure_of_each_harm():
    times = {("none", "none"): 1, ("none", "cache"): 0.5, ("far", "none"): 250, ("far", "cache"): 20, ("far", "pool"): 90}
    cells = [cell({"harm": harm, "cure": cure}, **{TIME: time}) for (harm, cure), time in times.items()]
    assert (
        said(RunData(Path("x"), "x", {}, tuple(cells))) == "The best cure of each harm: far: from 250 ms to 20 ms with cache."
    )


def test_nothing_measured_is_no_answer():
    run = page(4.0)
    failed = tuple(replace(each, metrics={}, samples=({"status": "failed", "error": "x"},)) for each in run.cells)
    assert said(replace(run, cells=failed)) == ""


def test_how_far_the_claims_carry_it():
    def claims(*verdicts):
        return [Judgement("x", verdict, None, None, None, None, (None, None)) for verdict in verdicts]

    assert standing([]) == ""
    assert standing(claims("supported")) == "The claim is supported."
    assert standing(claims(*["supported"] * 3)) == "All three claims are supported."
    assert standing(claims(*["not judged"] * 2)) == "Neither claim is judged."
    assert standing(claims(*["inconclusive"] * 3)) == "None of the three claims is decided."
    assert standing(claims(*["refuted"] * 2)) == "Both claims are refuted."
    mixed = claims("supported", "supported", "refuted", "inconclusive", "not judged")
    assert standing(mixed) == "Of the five claims two are supported, one is refuted, one is not decided and one is not judged."
