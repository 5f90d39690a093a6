"""Tests of claims that compare cells with theory, on hand-computed examples."""

from pathlib import Path

import pytest

from slownet.judge.claim import INCONCLUSIVE, REFUTED, SUPPORTED, follows, round_trips_between
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError
from slownet.theory.stats import Summary

NEAR, FAR, LOST = {"step": "before"}, {"rtt": "100ms"}, {"rtt": "100ms", "loss": "1%"}


def cell(label, mean, half=0.0, status="ok", **condition):
    sample = {"cell": label, "index": 0, "status": status, "error": None if status == "ok" else "wget is not installed"}
    metrics = {"mib_per_s": Summary(mean, mean - half, mean + half, 9)} if status == "ok" else {}
    return Cell(label, condition, (sample,), metrics)


RUN = RunData(
    Path("runs/x"), "example", {}, (cell(NEAR, 100.0, 2.0), cell(FAR, 10.0, 0.5, rtt_ms=100.0), cell(LOST, 2.0, 0.1, loss=1.0))
)
WITH_A_FAILURE = RunData(Path("runs/x"), "example", {}, (*RUN.cells[:2], cell(LOST, 0.0, status="failed", loss=1.0)))


def by_rtt(condition):
    return {100.0: 11.0}.get(condition.get("rtt_ms"), 1.0 if "loss" in condition else None)


@pytest.mark.parametrize(("least", "most", "verdict"), [(0.8, 2.2, SUPPORTED), (0.8, 2.0, INCONCLUSIVE), (0.8, 1.5, REFUTED)])
def test_the_cell_that_is_furthest_off_decides(least, most, verdict):
    judged = follows("mib_per_s", by_rtt, at_least=least, at_most=most, because="of theory", name="as theory says").judge(
        RUN, {}
    )
    assert judged.verdict == verdict
    assert judged.measured == pytest.approx(2.0)
    assert "10 (11) at rtt 100ms" in judged.text


@pytest.mark.parametrize(
    "claim",
    [
        follows("mib_per_s", by_rtt, at_least=0.5, at_most=2, because="", name="as theory says"),
    ],
)
def test_a_failed_cell_decides_nothing(claim):
    judged = claim.judge(WITH_A_FAILURE, {})
    assert judged.verdict == INCONCLUSIVE
    assert "wget is not installed" in judged.text


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        (follows("mib_per_s", lambda condition: None, at_least=1, at_most=2, because="", name="x"), "no cell for 'x'"),
    ],
)
def test_claims_that_cannot_be_judged(claim, line):
    with pytest.raises(ExperimentError, match=line):
        claim.judge(RUN, {})


@pytest.mark.parametrize(
    ("margin", "verdict"),
    [
        ({"expected": 20, "within": 0.05}, SUPPORTED),
        ({"expected": 21, "within": 0.02}, REFUTED),
        ({"at_most": 25}, SUPPORTED),
        ({"at_most": 20}, INCONCLUSIVE),
        ({"at_most": 19}, REFUTED),
    ],
)
def test_round_trips_between_two_cells(margin, verdict):
    run = RunData(Path("runs/x"), "example", {}, (timed("0.3ms", 6.0, 0.3), timed("10.3ms", 206.0, 10.3, half=1.0)))
    claim = round_trips_between("latency_min_ms", {"rtt": "10.3ms"}, of={"rtt": "0.3ms"}, because="they wait", **margin)
    judged = claim.judge(run, {})
    assert judged.verdict == verdict
    assert (judged.measured, judged.low, judged.high) == pytest.approx((20.0, 19.9, 20.1))
    assert "from 6 ms to 206 ms, 20.00 (19.90 to 20.10) round trips: they wait" in judged.text


def timed(rtt, mean, rtt_ms, half=0.0):
    label = {"rtt": rtt}
    metrics = {"latency_min_ms": Summary(mean, mean - half, mean + half, 9)}
    return Cell(label, {"rtt_ms": rtt_ms}, ({"cell": label, "index": 0, "status": "ok"},), metrics)
