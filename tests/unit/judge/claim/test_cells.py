"""Tests of claims about single cells."""

from pathlib import Path

import pytest

from slownet.judge.claim import bound, predicted, ratio
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError
from slownet.theory.stats import Summary

STALLS, FINE, FAILED = {"pattern": "wwr"}, {"pattern": "one"}, {"pattern": "broken"}


def run_of(half: float = 0.5):
    def cell(label, mean):
        return Cell(label, label, ({"status": "ok"},), {"ms": Summary(mean, mean - half, mean + half, 100)})

    broken = Cell(FAILED, FAILED, ({"status": "failed", "error": "no listener"},), {})
    return RunData(Path("runs/x"), "patterns", {}, (cell(STALLS, 44.0), cell(FINE, 1.0), broken))


@pytest.mark.parametrize(
    ("least", "most", "verdict", "said"),
    [
        (39, 48, "supported", "ms 39 to 48 at pattern wwr"),
        (39, 44, "inconclusive", "ms 39 to 44 at pattern wwr"),
        (None, 40, "refuted", "ms at most 40 at pattern wwr"),
        (40, None, "supported", "ms at least 40 at pattern wwr"),
        (None, 44.5, "supported", "ms at most 44.5 at pattern wwr"),
    ],
)
def test_the_cells_interval_decides(least, most, verdict, said):
    judgement = bound("ms", STALLS, at_least=least, at_most=most, because="ACKs wait").judge(run_of(), {})
    assert (judgement.verdict, judgement.name) == (verdict, said)
    assert judgement.text == "44.0 (43.5 to 44.5) ms measured; ACKs wait"


def test_an_exact_zero_is_at_most_zero():
    run = RunData(Path("x"), "x", {}, (Cell(FINE, FINE, (), {"n": Summary(0.0, 0.0, 0.0, 9)}),))
    assert bound("n", FINE, at_most=0).judge(run, {}).verdict == "supported"


def test_one_cell_against_another():
    judgement = ratio("ms", STALLS, of=FINE, at_least=40).judge(run_of(half=0.0), {})
    assert (judgement.verdict, judgement.measured) == ("supported", 44.0)
    assert judgement.name == "ms at least 40 times as much at pattern wwr as at pattern one"
    assert ratio("ms", STALLS, of=FINE, at_most=2).judge(run_of(half=0.0), {}).verdict == "refuted"


def test_a_prediction_may_come_from_the_run():
    claim = predicted(
        "ms", STALLS, expected=lambda run: 43 * run.at(FINE).summary("ms"), within=0.05, because="43 of the other"
    )
    judgement = claim.judge(run_of(half=0.01), {})
    assert (judgement.verdict, judgement.expected) == ("supported", 43.0)
    assert judgement.text.endswith(
        "ms measured, 43.0 (42.6 to 43.4) ms predicted, 1.023 (1.013 to 1.034) times; 43 of the other"
    )
    assert predicted("ms", STALLS, expected=30.0).judge(run_of(), {}).verdict == "refuted"


@pytest.mark.parametrize(
    "claim", [bound("ms", FAILED, at_most=1), ratio("ms", FAILED, of=FINE, at_most=1), predicted("ms", FAILED, expected=1.0)]
)
def test_a_failed_cell_leaves_the_claim_open(claim):
    judgement = claim.judge(run_of(), {})
    assert judgement.verdict == "inconclusive"
    assert "pattern broken: no listener" in judgement.text


def test_mistakes_of_the_experiments_author():
    run = run_of()
    with pytest.raises(ExperimentError, match=r"no cell at pattern wrw, .*the cells are pattern wwr; pattern one"):
        bound("ms", {"pattern": "wrw"}, at_most=1).judge(run, {})
    with pytest.raises(ExperimentError, match="3 cells at"):
        predicted("ms", {}, expected=1).judge(run, {})
    with pytest.raises(ExperimentError, match="did you mean 'ms'"):
        bound("mss", STALLS, at_most=1).judge(run, {})
    with pytest.raises(ExperimentError, match="pattern wwr is not a number"):
        run.along("pattern")
