from dataclasses import replace

import pytest
from conftest import TIMES

from slownet.comparison import outcome
from slownet.comparison.compare import compare
from slownet.comparison.row import DIFFERS, EQUIVALENT, INCONCLUSIVE
from slownet.comparison.runs import compare_runs
from slownet.model.errors import ExperimentError


def test_a_run_equals_itself(made):
    found = compare_runs(made(), made(), 0.05)
    assert [row.verdict for row in found.rows] == [EQUIVALENT] * 4
    assert [row.condition for row in found.rows] == ["rtt 0ms", "rtt 10ms", "rtt 40ms", "rtt 120ms"]
    assert found.status == 0


def test_a_percentile_of_one_sample_has_no_interval(made):
    found = compare_runs(made(), made(), 0.05)
    assert {row.metric for row in found.rows} == {"time_per_request_ms"}
    assert found.notes[0] == "not compared, for lack of an interval (--metric compares them): time_p99_ms"
    asked = compare_runs(made(), made(), 0.05, ["time_p99_ms"])
    assert [row.verdict for row in asked.rows] == [INCONCLUSIVE] * 4
    assert asked.rows[1].ratio.mean == 1
    exact = compare_runs(made(sd=0.0), made(sd=0.0), 0.05, ["time_p99_ms"])
    assert [row.verdict for row in exact.rows] == [EQUIVALENT] * 4


def test_a_percentile_that_another_repetition_gives_again_is_compared(made):
    exact, slower = (
        made(dict.fromkeys((0, 10), time), clock={"tdf": "inf", "cpu": "free"}, random=False) for time in (9.0, 9.9)
    )
    found = compare_runs(exact, exact, 0.05)
    assert [(row.metric, row.verdict) for row in found.rows] == [
        ("time_per_request_ms", EQUIVALENT), ("time_p99_ms", EQUIVALENT)
    ] * 2  # fmt: skip
    assert {row.verdict for row in compare_runs(exact, slower, 0.05, ["time_p99_ms"]).rows} == {DIFFERS}


def test_runs_whose_cpu_was_free_say_what_they_cannot_compare(made):
    free, charged = (made(clock={"tdf": tdf, "cpu": cpu}, random=False) for tdf, cpu in (("inf", "free"), (2, "time")))
    said = "the CPU was free in both runs: what programs compute is not compared (slownet run --tdf auto charges it)"
    assert said in compare_runs(free, free, 0.05).notes
    assert said not in compare_runs(charged, charged, 0.05).notes
    assert said not in compare_runs(free, charged, 0.05).notes


def test_equal_values_have_an_interval_although_another_metric_varies(made):
    metrics = {
        "time_per_request_ms": {"mean": 9.0, "sd": 0.0, "n": 10, "values": [9.0] * 10, "ordered": True},
        "server_ms": {"mean": 1.0, "sd": 0.1, "n": 10},
    }
    found = compare_runs(made(metrics=metrics), made(metrics=metrics), 0.05, ["time_per_request_ms"])
    assert {row.verdict for row in found.rows} == {EQUIVALENT}


def test_a_metric_that_one_run_has_alone_is_named(made):
    metrics = {"time_per_request_ms": {"mean": 9.0, "sd": 0.4, "n": 100}}
    less, more = made(metrics=metrics), made()
    alone = "measured only in .: time_p99_ms"
    assert alone in compare_runs(more, less, 0.05).notes
    assert alone in compare_runs(less, more, 0.05).notes
    assert alone not in compare_runs(less, more, 0.05, ["time_per_request_ms"]).notes
    assert alone not in compare_runs(more, made(status="failed", metrics={}), 0.05).notes


def test_only_what_both_measured_is_compared(made):
    found = compare_runs(made(), made({0: 9.1, 10: 60.0, 25: 109.0}), 0.05)
    assert [row.verdict for row in found.rows] == [EQUIVALENT, DIFFERS]
    assert found.rows[1].difference.mean == pytest.approx(11.0)
    assert found.status == 1
    assert [note for note in found.notes if note.startswith("only in")] == [
        "only in .: rtt 40ms; rtt 120ms",
        "only in .: rtt 25ms",
    ]


def test_a_baseline_whose_cells_were_not_all_measured_again_is_open(made):
    less = made({0: 9.0, 10: 49.0})
    assert compare_runs(made(), less, 0.05).status == 0
    found = compare_runs(made(), less, 0.05, whole=True)
    assert found.status == 3
    assert "rtt 40ms (not measured again)" in found.outcome.text
    assert replace(found, judge=outcome.gate).status == 3
    assert compare_runs(less, made(), 0.05, whole=True).status == 0


def test_a_gate_does_not_pass_what_was_not_measured_again(made):
    """`compare --fail-if-slower 5%` passed a run that lacked half of the conditions."""
    whole, less = made(), made({0: 9.0, 10: 49.0})
    found = compare(whole, less, 0.05, one_sided=True)
    assert (found.outcome.word, found.status) == ("open", 3)
    assert "2 of 4 comparisons are undecided, such as rtt 40ms (not measured again)" in found.outcome.text
    assert compare(less, whole, 0.05, one_sided=True).status == 0
    assert compare(whole, less, 0.05, at={"rtt": "10ms"}, one_sided=True).status == 0
    slower = made({0: 9.0, 10: 60.0})
    assert compare(whole, slower, 0.05, one_sided=True).status == 1


def test_a_gate_and_a_baseline_do_not_pass_a_time_that_was_not_measured_again(made):
    metrics = {"time_ms": {"mean": 9.0, "sd": 0.4, "n": 100}, "wait_ms": {"mean": 2.0, "sd": 0.1, "n": 100}}
    both, one = made(metrics=metrics), made(metrics={"time_ms": metrics["time_ms"]})
    found = compare(both, one, 0.05, one_sided=True)
    assert (found.status, found.outcome.text) == (3, "1 of 5 comparisons are undecided, such as wait_ms (not measured again)")
    assert compare(both, one, 0.05, whole=True).status == 3
    assert compare(both, one, 0.05, ["time_ms"], one_sided=True).status == 0
    assert compare(both, one, 0.05).status == 0
    assert compare(one, both, 0.05, one_sided=True).status == 0


@pytest.mark.parametrize(("clock", "least"), [({"tdf": "inf"}, 4), ({"tdf": 4, "cpu": "work"}, 3)])
def test_one_boot_of_unknown_programs_is_compared_with_no_other(made, clock, least):
    """A program that draws a number when it starts was "better: 1.63 times, 5 round trips fewer" than itself."""
    slower = {rtt: 2 * time for rtt, time in TIMES.items()}
    one, other = (made(times, clock=clock | {"own_programs": True}, boot=1, random=False) for times in (TIMES, slower))
    found = compare_runs(one, other, 0.05)
    assert found.outcome.word == "open"
    assert not found.outcome.cause
    assert f"one boot: how much boots differ is not known: that takes {least} repetitions or more" in str(found.notes)
    known = [made(times, clock=clock, boot=1, random=False) for times in (TIMES, slower)]
    assert compare_runs(*known, 0.05).outcome.word == "worse"


def test_a_failed_cell_is_inconclusive(made):
    found = compare_runs(made(), made({0: 9.0}, status="failed", error="ab is missing"), 0.05)
    assert [(row.verdict, row.note) for row in found.rows] == [(INCONCLUSIVE, "failed: ab is missing")]


def test_runs_without_anything_in_common(made):
    with pytest.raises(ExperimentError, match=r"no condition in common: rtt 0ms; .* in client_delay, rtt 5ms in client_delay"):
        compare_runs(made(), made({5: 29.0}), 0.05)
    with pytest.raises(ExperimentError, match=r"no metric in common: .* in client_delay, mbit_per_s in client_delay"):
        compare_runs(made(), made(metrics={"mbit_per_s": {"mean": 5.0, "sd": 0.1, "n": 9}}), 0.05)
    with pytest.raises(ExperimentError, match="did you mean 'time_per_request_ms'"):
        compare_runs(made(), made(), 0.05, ["time_per_reqest_ms"])


EXACT = {"clock": "exact", "tdf": None, "cpu": "instructions", "machine": {"emulator": "QEMU 7.2.22", "instructions_per_ns": 3}}


def test_on_the_exact_clock_the_same_numbers_are_equal_however_narrow_the_margin(made):
    one, same, other = (made({0: time, 10: 50.0}, clock=EXACT, random=False) for time in (9.0, 9.0, 9.02))
    found = compare_runs(one, same, 0.0001)
    assert {row.verdict for row in found.rows} == {EQUIVALENT}
    assert all(row.difference.low == row.difference.high == 0 for row in found.rows)
    found = compare_runs(one, other, 0.0001)
    assert [row.verdict for row in found.rows] == [INCONCLUSIVE, EQUIVALENT]  # chance of programs makes as much
    slower = made({0: 9.3, 10: 50.0}, clock=EXACT, random=False)
    assert [row.verdict for row in compare_runs(one, slower, 0.01).rows] == [DIFFERS, EQUIVALENT]


def test_another_emulated_machine_is_named(made):
    newer = EXACT | {"machine": {"emulator": "QEMU 10.0.3", "instructions_per_ns": 3}}
    found = compare_runs(made(clock=EXACT), made(clock=newer), 0.05)
    assert "machine QEMU 7.2.22 3 against QEMU 10.0.3 3" in found.notes
