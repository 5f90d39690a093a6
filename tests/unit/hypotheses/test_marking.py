"""Keys made of runs, and classes marked against them."""

import csv
import math
import re
from pathlib import Path

import pytest

from slownet.cli import marking as command
from slownet.hypotheses import answers, key, marking
from slownet.hypotheses.answers import Answers, questions
from slownet.hypotheses.key import Exercise, Solution
from slownet.hypotheses.predictions import Prediction
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError
from slownet.report import marks
from slownet.theory.stats import Summary

METRIC = "time_per_request_ms"


def run(spread=0.0, **times):
    """A run with these mean times, by the rtt of the cell: run(_0ms=1.0, _10ms=41.0)."""
    cells = []
    for name, mean in times.items():
        where = {"rtt": name.lstrip("_")}
        facts = {"rtt_ms": float(name.strip("_ms"))}
        cells.append(Cell(where, facts, (), {METRIC: Summary(mean, mean - spread, mean + spread, 9)}))
    return RunData(Path("runs/x"), "pages", {}, tuple(cells))


def solved(prediction, measured):
    (question,) = questions([prediction])
    return key.solve(question, measured, prediction.blank.claim().judge(measured))


PAGE = run(_0ms=1.0, _10ms=41.0, _40ms=161.0)


def test_a_margin_makes_a_range_of_right_answers():
    found = solved(Prediction("law", {"metric": METRIC, "round_trips": "?", "within": 0.1}, "So many:"), PAGE)
    assert (found.name, found.says, found.unit) == ("round_trips", "So many", "round trips")
    assert math.isclose(found.measured, 4)
    assert math.isclose(found.low, 4 / 1.1, rel_tol=1e-4)
    assert math.isclose(found.high, 4 / 0.9, rel_tol=1e-4)
    assert [found.accepts(each) for each in (3.6, 3.7, 4, 4.4, 4.5)] == [False, True, True, True, False]
    assert found.span == "3.636 to 4.444"


def test_a_limit_has_one_side():
    found = solved(Prediction("bound", {"metric": METRIC, "at_most": "?", "at": {"rtt": "10ms"}}), PAGE)
    assert (math.isclose(found.low, 41, rel_tol=1e-4), found.high, found.span) == (True, None, "at least 41")
    found = solved(Prediction("bound", {"metric": METRIC, "at_least": "?", "at": {"rtt": "10ms"}}), PAGE)
    assert (found.low, math.isclose(found.high, 41, rel_tol=1e-4)) == (None, True)


def test_what_varies_too_much_for_any_answer_is_one_line():
    wavers = run(30.0, _0ms=40.0, _10ms=80.0)
    prediction = Prediction("ratio", {"metric": METRIC, "at": {"rtt": "10ms"}, "expected": "?", "within": 0.01})
    with pytest.raises(ExperimentError, match=r"^no answer can be marked right: .*, pages, expected: repeat it more often"):
        solved(prediction, wavers)


KEY = [
    Exercise(
        "01_ping", 'A "ping"?', "virtual clock, TDF inf", [Solution("round_trips", "So many", "round trips", 2.0, 1.9, 2.1)]
    ),
    Exercise("02_übung", "Wie lang?", "", [Solution("expected", "So lang", "ms", 100.0, low=90.0), Solution("at_least", "x")]),
]


def test_a_key_is_read_as_it_was_written(tmp_path):
    (tmp_path / "key.toml").write_text(key.as_toml(KEY))
    assert key.read(tmp_path / "key.toml") == KEY


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "it is no key, FILE: slownet check --key KEY.toml writes one"),
        ("a = 1", "a has no answers, FILE: slownet check --key KEY.toml writes a key"),
        ("[a.answers]\nx = 3", "it is not a table, FILE, a.answers.x: write low = ... and high = ..."),
        ("[a.answers.x]\nlow = 'two'", "low is 'two', FILE, a.answers.x: write a number"),
        ("[a.answers.x]\nlow = 3\nhigh = 2", "low (3) is greater than high (2), FILE, a.answers.x: exchange them"),
    ],
)
def test_mistakes_in_a_key_are_one_line(tmp_path, text, line):
    (tmp_path / "key.toml").write_text(text)
    with pytest.raises(ExperimentError) as error:
        key.read(tmp_path / "key.toml")
    assert str(error.value).replace(str(tmp_path / "key.toml"), "FILE") == line


def student(name, **given):
    return Answers(Path(f"{name}.toml"), name, given)


CLASS = [
    student("Ada", **{"01_ping": {"round_trips": 2}, "02_übung": {"expected": "0.1s", "at_least": -5}}),
    student("Bob", **{"01_ping": {"round_trips": "1"}, "02_übung": {"expected": "many"}}),
    student("<Çelik>"),
]


def test_a_class_is_marked():
    marked = marking.mark(CLASS, KEY)
    assert [[each.mark for each in marked.of(name)] for name in marked.students] == [
        ["right", "right", "right"],
        ["wrong", "unreadable", "missing"],
        ["missing", "missing", "missing"],
    ]
    assert [marked.points(name) for name in marked.students] == [3, 0, 0]
    assert marked.of("Ada")[1].number == 100


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (student("Ada"), "Ada.toml and Ada.toml are both of Ada: give them different names"),
        (student("Eve", **{"01_pong": {}}), "the key has no exercise '01_pong', Eve.toml: did you mean '01_ping'?"),
        (
            student("Eve", **{"01_ping": {"roundtrips": 2}}),
            "the key has no answer 'roundtrips' to 01_ping, Eve.toml: did you mean 'round_trips'?",
        ),
    ],
)
def test_answers_that_cannot_be_marked_are_one_line(one, line):
    with pytest.raises(ExperimentError) as error:
        marking.mark([*CLASS, one], KEY)
    assert str(error.value) == line


def test_the_page_has_each_student_and_each_question():
    page = marks.render(marking.mark(CLASS, KEY))
    assert "&lt;Çelik&gt;" in page
    assert "<Çelik>" not in page
    assert re.search(r"So many: <strong>1\.9 to 2\.1 round trips</strong>\s*<span class=\"soft\">\(measured 2\)", page)
    assert "1 of 3 right, 1 without an answer." in page
    assert "Wrong: 1 round trips." in page
    assert "at least 90 ms" in page
    assert "http" not in page


def test_the_command_writes_table_and_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("key.toml").write_text(key.as_toml(KEY))
    for each in CLASS[:2]:
        each.write()
    command.mark([Path("Ada.toml"), Path("Bob.toml")], Path("key.toml"), Path("marks.csv"), Path("marks.html"))
    assert capsys.readouterr().out == "Ada  3 of 3\nBob  0 of 3\nwritten  marks.csv, marks.html\n"
    rows = list(csv.DictReader(Path("marks.csv").read_text().splitlines()))
    assert [row["mark"] for row in rows] == ["right", "right", "right", "wrong", "unreadable", "missing"]
    assert rows[1] == {
        "student": "Ada", "exercise": "02_übung", "answer to": "expected", "answer": "0.1s", "number": "100.0", "unit": "ms",
        "measured": "100", "low": "90", "high": "", "mark": "right",
    }  # fmt: skip
    assert Path("marks.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(
        ExperimentError, match=r"^cannot write nowhere/marks.csv \(No such file or directory\), --csv: name ano"
    ):
        command.mark([Path("Ada.toml")], Path("key.toml"), Path("nowhere/marks.csv"), Path("marks.html"))
    assert answers.read(Path("Ada.toml")).student == "Ada"
