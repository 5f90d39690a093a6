"""The rows of a run: cells are compared with each other and with the law by what varies within the run."""

import io

import pytest
from rich.console import Console

from slownet.judge.claim import constant_round_trips, law, published_times, ratio, round_trips_between
from slownet.judge.records.result import gather
from slownet.report.answer import answer
from slownet.report.table import show
from slownet.report.view import law_line, ratios_line, view

TIME = "time_per_request_ms"


@pytest.fixture
def seen():
    """Three boots on a clock that charges CPU time, 100 ms of it a page: another run's pages may take a quarter more."""
    samples = [
        {
            "cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "status": "ok", "boot": boot,
            "metrics": {TIME: {"mean": 100 + 4 * rtt + 0.1 * boot, "sd": 1.0, "n": 100}},
        }
        for boot in (1, 2, 3) for rtt in (0, 1, 2, 3)
    ]  # fmt: skip
    return view(gather(samples, {"experiment": "pages", "clock": "virtual", "tdf": 1, "cpu": "time"}))


def test_a_time_has_the_interval_of_another_run(seen):
    assert all(row.time.half_width > 0.2 * row.time.mean for row in seen.rows)


def test_a_cell_is_compared_with_the_law_of_its_run(seen):
    assert [row.verdict for row in seen.rows] == ["baseline", "supported", "supported", "supported"]


def test_a_ratio_is_one_of_the_same_run(seen):
    assert seen.rows[3].ratio.half_width < 0.01


LABELS = [{"rtt": "40ms"}, {"rtt": "0ms"}, {"rtt": "10ms"}]


def pages(planned=LABELS, measured=LABELS, t0=10, k=4):
    """Return a run with free CPU whose pages took t0 + k d, whatever the order in which its cells were planned."""
    samples = []
    for label in measured:
        rtt = int(label["rtt"].removesuffix("ms"))
        numbers = {TIME: {"mean": t0 + k * rtt, "sd": 0.0, "n": 10}}
        samples.append(
            {"cell": label, "condition": {"rtt_ms": float(rtt)}, "status": "ok", "boot": 1, "random": False}
            | {"metrics": numbers}
        )
    return gather(samples, {"experiment": "pages", "clock": "virtual", "tdf": "inf", "cpu": "free", "planned": list(planned)})


@pytest.mark.parametrize("planned", [LABELS, LABELS[::-1], [LABELS[1], LABELS[0], LABELS[2]]])
@pytest.mark.parametrize("measured", [LABELS, LABELS[::-1]])
def test_claims_and_report_compare_with_the_same_cell(planned, measured):
    """It is the one that the experiment names first, not the one with the smallest value."""
    run = pages(planned, measured)
    times = {"0ms": 10, "10ms": 50, "40ms": 170}
    first = planned[0]["rtt"]
    rows = {cell.label["rtt"]: row for cell, row in zip(run.cells, view(run).rows, strict=True)}
    assert {rtt: row.ratio.mean for rtt, row in rows.items()} == {
        rtt: pytest.approx(t / times[first]) for rtt, t in times.items()
    }
    assert [rtt for rtt, row in rows.items() if row.verdict == "baseline"] == [first]
    for label in planned[1:]:
        claimed = ratio(TIME, at=label, expected=times[label["rtt"]] / times[first]).judge(run)
        assert claimed.verdict == "supported"
        assert claimed.measured == pytest.approx(rows[label["rtt"]].ratio.mean)


ACROSS = [{"protocol": "HTTP/2", "rtt": "10ms"}, {"protocol": "HTTP/3", "rtt": "10ms"}]
ALONG = [{"protocol": "HTTP/2", "rtt": "10ms"}, {"protocol": "HTTP/2", "rtt": "20ms"}]


@pytest.mark.parametrize(("labels", "names_it"), [(ACROSS, True), (ALONG, False)])
def test_where_rows_differ_in_more_than_links_the_table_names_what_ratios_are_relative_to(labels, names_it):
    run = pages(labels, labels)
    assert ratios_line(view(run)) == "ratios are relative to protocol HTTP/2, rtt 10ms, the baseline"
    printed = io.StringIO()
    Console(file=printed, width=200).print(show(run))
    assert ("ratios are relative" in printed.getvalue()) is names_it


def test_without_its_baseline_a_run_has_no_ratios():
    rows = view(pages(measured=LABELS[1:])).rows
    assert [(row.ratio, row.verdict) for row in rows] == [(None, ""), (None, "")]


def test_an_operation_has_its_own_baseline_in_claims_too():
    labels = [{"operation": name, "rtt": rtt} for name in ("row", "message") for rtt in ("10ms", "0ms")]
    run = pages(labels, labels)
    assert run.baseline_of({"operation": "message", "rtt": "0ms"}).label == {"operation": "message", "rtt": "10ms"}
    assert run.baseline_of(labels[1]).label == labels[0]


def over_delay(name, *values, k, metric=TIME):
    """Return a run with free CPU whose links delay by each of these, and whose pages take 10 ms and k times as much more."""
    samples = [
        {
            "cell": {name: f"{value}ms"}, "condition": {f"{name}_ms": float(value)}, "status": "ok", "boot": 1, "random": False,
            "metrics": {metric: {"mean": 10 + k * value, "sd": 0.0, "n": 10}},
        }
        for value in values
    ]  # fmt: skip
    return gather(samples, {"experiment": "pages", "clock": "virtual", "tdf": "inf", "cpu": "free"})


@pytest.mark.parametrize(("name", "k"), [("rtt", 1.0), ("delay", 2.0), ("delay_up", 1.0), ("delay_down", 1.0)])
def test_round_trips_are_counted_whatever_delays_them(name, k):
    """A ping over a delay of 10 ms in each direction takes 20 ms more: that is one round trip, not two."""
    run = over_delay(name, 0, 10, 40, k=k)
    seen = view(run)
    assert seen.law.k.mean == pytest.approx(1.0)
    assert [row.predicted.mean for row in seen.rows] == pytest.approx([10, 10 + 10 * k, 10 + 40 * k])
    assert law(TIME, round_trips=1, along=f"{name}_ms").judge(run).verdict == "supported"
    assert constant_round_trips(TIME, along=f"{name}_ms").judge(run).text.startswith("1.00 round trips per operation at 10ms")
    between = round_trips_between(TIME, {name: "40ms"}, of={name: "0ms"}, because="", expected=1, along=f"{name}_ms")
    assert between.judge(run).verdict == "supported"
    times = {"10ms": 10 + 10 * k, "40ms": 10 + 40 * k}
    assert published_times(TIME, t0_ms=10, times_ms=times, along=f"{name}_ms").judge(run).verdict == "supported"
    assert ("d = 2 x delay" in law_line(seen)) == (name == "delay")
    assert "costs 1 round trip as measured here" in answer(seen)


def test_what_delays_no_link_has_no_round_trips():
    seen = view(over_delay("think", 0, 10, 40, k=1))
    assert seen.law is None
    assert not seen.lawful


def test_with_a_free_cpu_no_ratio_to_a_time_that_means_nothing_is_shown():
    """A page of 0.02 ms, which are readings of the clock, was 6360 times as fast as one over 120 ms."""
    nothing = view(pages(LABELS[1:], LABELS[1:], t0=0.02))
    assert [row.ratio for row in nothing.rows] == [None, None]
    assert [row.ratio.mean for row in view(pages(LABELS[1:], LABELS[1:], t0=8)).rows] == [1.0, 6.0]
    charged = pages(LABELS[1:], LABELS[1:], t0=0.02)
    charged = gather([each for cell in charged.cells for each in cell.samples], {**charged.facts, "cpu": "work", "tdf": 1})
    assert view(charged).rows[1].ratio is not None
