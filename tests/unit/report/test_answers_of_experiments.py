"""The first sentence of every experiment's page, of a run as it was measured, beside its question: to be read by a person."""

import json
from pathlib import Path

import pytest

from slownet.hypotheses import catalogue
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.report.answer import answer, standing
from slownet.report.view import view
from slownet.runner.run import answered
from slownet.theory.stats import Summary

HERE = Path(__file__).parent.parent
RUNS = json.loads((HERE / "captured_runs.json").read_text())
SAID = HERE / "answers.txt"


def captured(name, cells=None):
    """Return a run that tests/capture_runs.py kept."""
    kept = RUNS[name]
    made = tuple(
        Cell(
            each["label"], each["condition"], ({"status": "ok"},), {m: Summary(*found) for m, found in each["metrics"].items()}
        )
        for each in kept["cells"][:cells]
    )
    facts = {key: value for key, value in kept.items() if key not in ("cells", "claims")}
    claims = tuple(Judgement.from_json(each) for each in kept["claims"])
    return answered(RunData(Path(name), name, facts, made, claims if cells is None else ()), catalogue.find(name))


def said(name):
    run = captured(name)
    return f"{run.facts['question']}\n    {answer(view(run))} {standing(run.claims)}\n"


def test_each_question_is_answered_as_written_down():
    found = "\n".join(said(name) for name in sorted(RUNS))
    assert found == SAID.read_text(), f"read them; if they are right: {SAID} is what this test found"


def test_every_experiment_was_captured():
    assert sorted(RUNS) == sorted(catalogue.discover())


@pytest.mark.parametrize("name", sorted(RUNS))
def test_one_cell_alone_is_no_error(name, capsys):
    assert answer(view(captured(name, cells=1)))
    assert capsys.readouterr().err == ""
