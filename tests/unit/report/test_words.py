"""Tests of the words for claims and cells, with claims as the experiments make them."""

from pathlib import Path

import pytest

from slownet.judge.claim import (
    bound,
    constant_round_trips,
    equal,
    grows,
    law,
    more_round_trips,
    no_worse_than,
    predicted,
    published_times,
    ratio,
)
from slownet.judge.claim import round_trips_between as between
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.naming import contrast, counted, metric_name, where
from slownet.judge.records.result import RunData
from slownet.model.units import amount
from slownet.report.words import claim_sentence
from slownet.theory.stats import Summary

RATE, TIME = "mib_per_s", "time_per_request_ms"
FAR, QUEUE = {"delay_up": "100ms"}, {"delay_up": "100ms", "queue": "1000 packets"}
BBR, CUBIC = ({"congestion": name, "delay_up": "100ms", "loss_up": "10%", "seed": "1"} for name in ("bbr", "cubic"))
CLEAN = {"congestion": "cubic", "delay_up": "100ms"}


def exact(value):
    return Summary(value, value, value, 10)


def run_of(*labels, metric=RATE, value=lambda number: 2.0 + number, facts=None):
    cells = tuple(Cell(label, {}, ({"status": "ok"},), {metric: exact(value(number))}) for number, label in enumerate(labels))
    return RunData(Path("x"), "x", facts or {}, cells)


def delays(*values, slope=4.0, **facts):
    cells = tuple(
        Cell({"rtt": f"{each}ms"}, {"rtt_ms": float(each)}, ({"status": "ok"},), {TIME: exact(10 + slope * each)})
        for each in values
    )
    return RunData(Path("x"), "x", facts, cells)


def words(claim, run):
    return claim_sentence(claim.judge(run), run)


def test_only_what_differs_between_two_cells_is_named():
    run = run_of(QUEUE, FAR)
    found = words(ratio(RATE, FAR, of=QUEUE, at_least=1.5), run)
    assert found == "The throughput without a queue of 1000 packets is at least 1.5 times that with it"
    assert contrast(QUEUE, FAR, run) == ("with a queue of 1000 packets", "without it", "")


def test_what_other_cells_do_not_share_is_named_once():
    run = run_of(CUBIC, BBR, CLEAN)
    found = words(ratio(RATE, BBR, of=CUBIC, at_most=20), run)
    assert found == "The throughput with bbr is at most 20 times that with cubic, at 10 % loss"  # nor the seed, nor the delay
    assert words(equal(RATE, BBR, of=CUBIC), run).endswith("is the same with bbr as with cubic, at 10 % loss (within 5 %)")
    assert "is no worse with bbr than with cubic" in words(no_worse_than(RATE, BBR, of=CUBIC), run)


def test_an_expected_ratio_says_where_it_is_from():
    run = delays(0, 10, operation="page")
    found = words(ratio(TIME, {"rtt": "10ms"}, published=4.21), run)
    wanted = "The time per page with 10 ms of round trip is 4.21 times that with 0 ms of round trip, as published (within 5 %)"
    assert found == wanted


@pytest.mark.parametrize(
    ("claim", "wanted"),
    [
        (law(TIME, round_trips=4), "A page costs four round trips (within 5 %)"),
        (law(TIME, round_trips=4.5), "A page costs 4.5 round trips (within 5 %)"),
        (constant_round_trips(TIME, at=("10ms", "40ms")), "A page costs as many round trips at 10ms as at 40ms (within 5 %)"),
        (
            more_round_trips(TIME, at_least=0.5, of="other", otherwise=4),
            "A page costs at least 0.5 times as many round trips as in other",
        ),
        (grows(TIME), "The time per page grows with the rtt"),
        (bound(TIME, {"rtt": "10ms"}, at_most="60ms"), "The time per page is at most 60ms with 10 ms of round trip"),
        (bound(TIME, at_most=1000), "The time per page is at most 1000 ms in every cell"),
        (
            predicted(TIME, {"rtt": "10ms"}, expected=50),
            "The time per page with 10 ms of round trip is as predicted (within 5 %)",
        ),
        (
            between(TIME, {"rtt": "10ms"}, of={"rtt": "0ms"}, expected=4, because="x"),
            "A page costs four round trips more with 10 ms of round trip than with 0 ms of round trip (within 5 %)",
        ),
    ],
)  # fmt: skip
def test_claims_in_words(claim, wanted):
    assert words(claim, delays(0, 10, 40, operation="page")) == wanted


def test_a_name_of_the_authors_stays():
    run = delays(0, 10)
    assert (
        words(ratio(TIME, {"rtt": "10ms"}, at_most=9, name="ten milliseconds hardly show"), run)
        == "ten milliseconds hardly show"
    )
    assert words(predicted(TIME, {"rtt": "10ms"}, expected=50, name="fifty"), run) == "fifty, within 5 %"


def test_numbers_units_and_nouns():
    assert [counted(n, "round trip") for n in (1, 4, 21, 4.25)] == [
        "one round trip",
        "four round trips",
        "21 round trips",
        "4.25 round trips",
    ]
    assert [amount(*each) for each in ((0.00701, "ms"), (160.3, "ms"), (98.04, "s"), (13.5, "MiB/s"), (99, ""))] == [
        "7.01 us", "160 ms", "98 s", "13.5 MiB/s", "99",
    ]  # fmt: skip
    run = run_of(FAR)
    assert [metric_name(each, run) for each in (RATE, "exchange_ms", "corrected_p99_9_s", "stalls", TIME)] == [
        "the throughput", "the exchange time", "the corrected p99.9", "the number of stalls", "the time per request",
    ]  # fmt: skip
    assert where(CUBIC, run_of(CUBIC, CLEAN)) == "10 % loss"
    drawn = [{"seed": "1"}, {"seed": "2"}]  # what differs is chance alone: "no condition" twice would tell nothing apart
    assert [where(label, run_of(*drawn)) for label in drawn] == ["seed 1", "seed 2"]


def test_a_law_of_some_cells_says_which():
    label = {"protocol": "HTTP/2"}
    cells = tuple(
        Cell(
            label | {"rtt": f"{rtt}ms"},
            {"protocol": "HTTP/2", "rtt_ms": float(rtt)},
            ({"status": "ok"},),
            {TIME: exact(4.0 * rtt)},
        )
        for rtt in (10, 20)
    )
    run = RunData(Path("x"), "x", {"operation": "page"}, cells)
    claim = law(TIME, round_trips=4, at=label)
    assert words(claim, run) == "A page costs four round trips with HTTP/2 (within 5 %)"


def test_another_time_than_the_runs_is_not_the_operations():
    """ "A request costs two round trips" stood beside "A request costs one round trip", which was about the connection."""
    label = {"rtt": "10ms"}
    cells = tuple(
        Cell(
            {"rtt": f"{rtt}ms"},
            {"rtt_ms": float(rtt)},
            ({"status": "ok"},),
            {TIME: exact(2.0 * rtt), "connect_rtt_ms": exact(1.0 * rtt)},
        )
        for rtt in (0, 10, 40)
    )
    run = RunData(Path("x"), "x", {}, cells)
    assert words(law(TIME, round_trips=2), run) == "A request costs two round trips (within 5 %)"
    assert words(law("connect_rtt_ms", round_trips=1), run) == "The connect rtt time is one round trip (within 5 %)"
    gained = between("connect_rtt_ms", {"rtt": "40ms"}, of=label, because="", expected=1)
    assert words(gained, run).startswith("The connect rtt time is one round trip more with 40 ms")


@pytest.mark.parametrize("name", [f"{TIME} must not double", "time per request from near to far", "p99 of all is fine"])
def test_a_name_that_its_author_gave_a_claim_stays(name):
    """It was replaced where it begins as the name of a metric."""
    run = delays(0, 10)
    for claim in (
        ratio(TIME, {"rtt": "10ms"}, at_most=9, name=name),
        between(TIME, {"rtt": "10ms"}, of={"rtt": "0ms"}, because="", expected=4, name=name),
    ):
        judgement = claim.judge(run)
        assert judgement.name.startswith(name)
        assert claim_sentence(judgement, run) == judgement.name
        assert Judgement.from_json(judgement.to_json()).named is True
    made = ratio(TIME, {"rtt": "10ms"}, at_most=9).judge(run)
    assert claim_sentence(made, run) != made.name


def test_a_number_of_things_is_one_number():
    run = run_of({"listener": "silent"}, {"listener": "answered"}, metric="quick_acks", value=lambda number: 1.0)
    found = words(bound("quick_acks", {"listener": "answered"}, at_least=1, at_most=1), run)
    assert found == "The number of quick ACKs is 1 with listener answered"


def test_rates_are_said_in_their_usual_unit():
    rates = run_of({"rate_up": "2000kbit"}, {"rate_up": "1Gbit"}, {"rate_up": "none"})
    assert [where(cell.label, rates) for cell in rates.cells] == ["2 Mbit/s", "1 Gbit/s", "none"]


def test_a_published_time_has_four_digits():
    run = delays(0, 10)
    found = words(published_times(TIME, t0_ms=12.323, times_ms={"10ms": 52.323}), run)
    assert found.startswith("The article's times follow from its own 12.32 ms without delay")
