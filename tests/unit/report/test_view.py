"""The rows of a run: cells are compared with each other and with the law by what varies within the run."""

import pytest

from slownet.claim import ratio
from slownet.records.result import gather
from slownet.report.view import view

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


def test_without_its_baseline_a_run_has_no_ratios():
    rows = view(pages(measured=LABELS[1:])).rows
    assert [(row.ratio, row.verdict) for row in rows] == [(None, ""), (None, "")]


def test_an_operation_has_its_own_baseline_in_claims_too():
    labels = [{"operation": name, "rtt": rtt} for name in ("row", "message") for rtt in ("10ms", "0ms")]
    run = pages(labels, labels)
    assert run.baseline_of({"operation": "message", "rtt": "0ms"}).label == {"operation": "message", "rtt": "10ms"}
    assert run.baseline_of(labels[1]).label == labels[0]
