"""Tests of the answer that an experiment writes: it is kept with the run, and nothing of the run depends on it."""

import pytest

from slownet.hypotheses.experiment import experiment
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData, load
from slownet.model.errors import ExperimentError
from slownet.report.answer import answer
from slownet.report.view import view
from slownet.runner.run import answered
from slownet.theory.stats import Summary
from slownet.topologies import TwoHosts


def asking():
    @experiment(topology=TwoHosts, vary={"rtt": ["0ms", "10ms"]})
    def files(net, rtt):
        """How long does a file take?"""

    return files


def run_of(tmp_path, *rtts):
    times = {"0ms": 2100.0, "10ms": 44_120.0}
    cells = tuple(
        Cell({"rtt": rtt}, {"rtt_ms": float(rtt[:-2])}, ({"status": "ok"},), {"file_ms": Summary(*(3 * [times[rtt]]), 1)})
        for rtt in rtts
    )
    return RunData(tmp_path, "files", {"experiment": "files", "question": "How long does a file take?"}, cells)


def written(run):
    return f"A file takes {run.at({'rtt': '10ms'}).amount('file_ms')}."


def judged(verdict):
    return Judgement("x", verdict, None, None, None, None, (None, None))


def test_its_answer_is_the_first_sentence_and_is_kept(tmp_path):
    files = asking()
    assert files.answer(written) is written
    run = answered(run_of(tmp_path, "0ms", "10ms"), files)
    assert answer(view(run)) == "A file takes 44.1 s."
    run.save()
    assert load(tmp_path).facts["answer"] == "A file takes 44.1 s."


def test_it_is_not_surer_than_the_claims(tmp_path):
    files = asking()
    files.answer(written)
    run = answered(run_of(tmp_path, "0ms", "10ms"), files)
    assert answer(view(run.judged([judged("supported")]))) == "A file takes 44.1 s."
    for verdict in ("refuted", "inconclusive", "not judged"):
        assert answer(view(run.judged([judged("supported"), judged(verdict)]))) == "As measured: A file takes 44.1 s."


def test_a_second_answer_replaces_the_first(tmp_path):
    files = asking()
    files.answer(written)
    run = answered(run_of(tmp_path, "0ms", "10ms"), files)
    files.answer(lambda run: "Long.\n  Very\tlong. ")
    assert answered(run, files).facts["answer"] == "Long. Very long."
    assert "answer" not in answered(run, asking()).facts


def test_without_its_cells_the_general_answer_is_shown(tmp_path, capsys):
    files = asking()
    files.answer(written)
    run = answered(run_of(tmp_path, "0ms"), files)
    assert "answer" not in run.facts
    assert answer(view(run)) == "The file time is 2.1 s."
    assert capsys.readouterr().err == ""


def raising(run):
    raise ZeroDivisionError("nothing was sent")


def mistaken(run):
    raise ExperimentError("no metric 'fil_ms'", "in cell rtt 10ms", "did you mean file_ms?")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raising, "ZeroDivisionError: nothing was sent"),
        (mistaken, "no metric 'fil_ms'"),
        (lambda run: 44.1, "the answer of files must be a str, got float"),
        (lambda run: written, "the answer of files must be a str, got function"),
    ],
)
def test_a_function_that_fails_is_one_line_and_the_run_stays(function, said, tmp_path, capsys):
    files = asking()
    files.answer(function)
    run = answered(run_of(tmp_path, "0ms", "10ms"), files)
    assert "answer" not in run.facts
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("slownet: ")
    assert said in line
    assert answer(view(run)).startswith("A request costs 4200 round trips as measured here")


def test_an_answer_is_not_endless(tmp_path):
    files = asking()
    files.answer(lambda run: "a" * 5000)
    assert len(answered(run_of(tmp_path, "0ms", "10ms"), files).facts["answer"]) == 1000


def test_every_built_in_question_has_an_answer_of_its_own_or_the_laws():
    from slownet.hypotheses import catalogue

    without = {name for name, found in catalogue.discover().items() if found.answered_by is None}
    assert without == {"client_delay", "database_delay"}
