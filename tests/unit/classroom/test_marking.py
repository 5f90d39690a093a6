"""Keys made of runs, and classes marked against them."""

import csv
import math
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from slownet.classroom import attempts, class_marks, key, marks
from slownet.classroom.attempts import Rules
from slownet.classroom.key import Exercise, Solution
from slownet.cli import app, checking
from slownet.hypotheses import answers
from slownet.hypotheses.answers import Answers, Question, questions
from slownet.hypotheses.predictions import Prediction
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError
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


@pytest.mark.parametrize("name", ["key.toml", "KEY.md"])
def test_the_path_of_a_key_is_printed(monkeypatch, capsys, name):
    monkeypatch.setattr(checking, "_run", lambda *_: [])
    assert checking.key([], None, Path("runs"), Path(name)) == 0
    assert capsys.readouterr().out == f"written  {name}\n"


def test_a_key_for_people_marks_nothing(tmp_path):
    (tmp_path / "KEY.md").write_text("# Answers\n")
    with pytest.raises(ExperimentError, match=r"KEY\.md is a key for people: slownet check --key KEY\.toml writes one that"):
        key.read(tmp_path / "KEY.md")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "it is not a key, FILE: slownet check --key KEY.toml writes one"),
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


def student(name, path="", at=0, **given):
    """Write a student's file, as of that second."""
    one = Answers(Path(path or f"{name}.toml"), name, given)
    one.write()
    os.utime(one.path, (at, at))
    return one.path


def write_class():
    return [
        student("Ada", **{"01_ping": {"round_trips": 2}, "02_übung": {"expected": "0.1s", "at_least": -5}}),
        student("Bob", **{"01_ping": {"round_trips": "1"}, "02_übung": {"expected": "many"}}),
        student("<Çelik>", "c.toml"),
    ]


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_class_is_marked():
    marked = class_marks.mark(write_class(), KEY)
    assert [[each.mark for each in marked.of(name)] for name in marked.students] == [
        ["right", "right", "right"],
        ["wrong", "unreadable", "missing"],
        ["missing", "missing", "missing"],
    ]
    assert [marked.points(name) for name in marked.students] == [3, 0, 0]
    assert marked.of("Ada")[1].number == 100


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('student = "Eve"\n[01_pong]', "the key has no exercise '01_pong', eve.toml: did you mean '01_ping'?"),
        ("[01_ping]\nroundtrips = 2", "the key has no answer 'roundtrips' to 01_ping, eve.toml: did you mean 'round_trips'?"),
        ("student = ", "not TOML: Invalid value (at end of document), eve.toml"),
        ("student = 3", 'student is a number, eve.toml: write student = "Ada Lovelace"'),
        ("id = true", 'id is true or false, eve.toml: write id = "ada@example.org", or leave it out'),
        ("x = " + "[" * 1000, "not TOML: tables and lists are nested deeper than 50, eve.toml"),
        (b"\xff\xfe", "cannot read eve.toml: it is not UTF-8, at byte 0"),
        (None, "cannot read eve.toml: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_marked_is_named_and_the_class_is_marked(text, line):
    if text is not None:
        Path("eve.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    marked = class_marks.mark([Path("eve.toml"), *write_class()], KEY)
    assert [each.line for each in marked.skipped] == [line]
    assert [marked.points(name) for name in marked.students] == [3, 0, 0]
    with pytest.raises(ExperimentError) as error:
        class_marks.mark([Path("eve.toml")], KEY)
    assert str(error.value) == line
    with pytest.raises(ExperimentError, match=r"^none of the 2 files can be marked: the first: "):
        class_marks.mark([Path("eve.toml"), Path("eve.toml")], KEY)


RIGHT, WRONG = {"01_ping": {"round_trips": 2}}, {"01_ping": {"round_trips": 1}}


@pytest.mark.parametrize(
    ("rules", "points", "why"),
    [
        (Rules(), 0, "3.toml, the last of 3 attempts"),
        (Rules("best"), 1, "2.toml, the best of 3 attempts"),
        (Rules(due=attempts.due("1970-01-01T00:00:20+00:00")), 1, "2.toml, the last of 3 attempts, 1 late"),
        (
            Rules("best", attempts.due("1970-01-01T00:00:05+00:00"), 0.5),
            0.5,
            "2.toml, the best of 3 attempts; late: 1970-01-01 00:00+00:00, counts 50%",
        ),
        (
            Rules(due=attempts.due("1970-01-01T00:00:05+00:00")),
            0,
            "3.toml, the last of 3 attempts; late: 1970-01-01 00:00+00:00, counts 0%",
        ),
    ],
)
def test_two_files_of_one_student_are_attempts(rules, points, why):
    paths = [
        student("Ada", "1.toml", 10, **RIGHT),
        student("ada ", "2.toml", 20, **RIGHT),
        student("ADA", "3.toml", 30, **WRONG),
    ]
    for order in (paths, paths[::-1]):
        marked = class_marks.mark(order, KEY, rules)
        assert len(marked.students) == 1
        assert (marked.points(marked.students[0]), marked.counted[0].why) == (points, why)


def test_a_date_ends_at_midnight():
    assert attempts.due("2026-11-30") == attempts.due("2026-12-01T00:00")
    with pytest.raises(ExperimentError, match=r"^'soon' is not a time, --due: write 2026-11-30 or 2026-11-30T18:00$"):
        attempts.due("soon")
    with pytest.raises(ExperimentError, match="unknown attempt 'first', --counts: choose from best, last"):
        attempts.rules("first", None, None)


def test_two_students_of_one_name_are_told_apart_by_their_ids():
    for name, known_as in (("a", "a@x"), ("b", "b@x"), ("c", "")):
        Path(f"{name}.toml").write_text(f'student = "Ada"\nid = "{known_as}"\n')
    Path("d.toml").write_text('student = "Ada (a@x)"\n[01_ping]\nround_trips = 2')
    marked = class_marks.mark([Path(f"{each}.toml") for each in "abcd"], KEY)
    assert marked.students == ["Ada (a@x)", "Ada (b@x)", "Ada (c.toml)", "Ada (a@x)'"]
    assert [marked.points(each) for each in marked.students] == [0, 0, 0, 1]


def test_only_the_chosen_exercises_are_marked():
    far = [replace(KEY[0], name=f"far__{number}") for number in (1, 2)]
    paths = [
        student("Ada", "ada.toml", **RIGHT),
        student("Bob", "bob.toml", **WRONG),
    ]
    both = class_marks.mark(paths, [*KEY, *far])
    chosen = class_marks.mark(paths, [*KEY, *far], only=["01_ping"])
    assert (both.most, chosen.most) == (4, 1)
    assert {each.exercise.name for each in chosen.marks} == {"01_ping"}
    assert [chosen.points(each) for each in chosen.students] == [1, 0]
    variants = class_marks.mark(paths, [*KEY, *far], only=["far"])
    assert [each.name for each in variants.exercises] == ["far", "far"]
    assert len(variants.marks) == 2
    with pytest.raises(ExperimentError, match=r"^the key has no exercise '01_pin', --only: did you mean '01_ping'"):
        class_marks.mark(paths, KEY, only=["01_pin"])


def test_a_class_of_a_hundred_is_marked_in_seconds():
    paths = [student(f"Student {number}", f"{number}.toml", **RIGHT) for number in range(100)]
    paths[50].write_text("not TOML")
    key_of_twelve = [replace(KEY[0], name=f"{number:02}") for number in range(11)] + KEY
    before = time.process_time()
    marked = class_marks.mark(paths, key_of_twelve)
    page = marks.render(marked)
    assert time.process_time() - before < 10
    assert (len(marked.students), len(marked.skipped)) == (99, 1)
    assert "50.toml" in page


def test_moodle_finds_a_user_by_what_the_id_is():
    for name, known_as in (("a", '"ada@x.org"'), ("b", '"bob"'), ("c", "1234"), ("d", '"=cmd|0"')):
        Path(f"{name}.toml").write_text(f'student = "=HYPERLINK({name})"\nid = {known_as}\n[01_ping]\nround_trips = 2')
    marked = class_marks.mark([Path(f"{each}.toml") for each in "abcd"], KEY)
    rows = list(csv.DictReader(marks.moodle(marked, "Delays").splitlines()))
    assert list(rows[0]) == ["Full name", "Email address", "Username", "ID number", "Delays", "Delays (feedback)"]
    assert [(row["Email address"], row["Username"], row["ID number"]) for row in rows] == [
        ("ada@x.org", "", ""), ("", "bob", ""), ("", "", "1234"), ("", "'=cmd|0", ""),
    ]  # fmt: skip
    assert {row["Full name"][:2] for row in rows} == {"'="}
    assert {row["Delays"] for row in rows} == {"1"}


def test_canvas_takes_the_header():
    """By the rules of its importer: two columns that say who, then SIS ids, Section, and only then assignments."""
    Path("a.toml").write_text('student = "Ada"\nid = "ada"\n[01_ping]\nround_trips = 2')
    Path("b.toml").write_text('student = "Bob, jr."\nid = 77\n')
    marked = class_marks.mark([Path("a.toml"), Path("b.toml")], KEY, Rules(due=attempts.due("1970-01-02"), late=0.5))
    header, points, *rows = csv.reader(marks.canvas(marked, "Delays").splitlines())
    assert "Student" in header[0]
    assert "ID" in header[1]
    assert re.search(r"SIS\s+User\s+ID", header[2])
    assert re.search(r"SIS\s+Login\s+ID", header[3])
    assert "Section" in header[4]
    assert header[5:] == ["Delays"]
    assert "Points Possible" in points[0]
    assert points[5] == "3"
    assert rows == [["Ada", "", "", "ada", "", "0.5"], ["Bob, jr.", "", "77", "", "", "0"]]


def test_the_page_has_each_student_and_each_question():
    page = marks.render(class_marks.mark(write_class(), KEY))
    assert "&lt;Çelik&gt;" in page
    assert "<Çelik>" not in page
    assert re.search(r"So many: <strong>1\.9 to 2\.1 round trips</strong>\s*<span class=\"soft\">\(measured 2\)", page)
    assert "1 of 3 right, 1 without an answer." in page
    assert "Wrong: 1 round trip." in page
    assert "at least 90 ms" in page
    assert "http" not in page


def mark(*words):
    """Return the status of `slownet check mark`."""
    try:
        app.main(["check", "mark", "--key", "key.toml", *words])
    except SystemExit as ended:
        return ended.code


def test_the_command_writes_table_and_page(capsys):
    Path("key.toml").write_text(key.as_toml(KEY))
    write_class()

    assert mark("Ada.toml", "Bob.toml") == 0
    said = capsys.readouterr()
    assert said.out == "Ada  3 of 3\nBob  0 of 3\nwritten  marks.csv, marks.html\n"
    assert re.fullmatch(r"slownet: not read: Bob\.toml, 0\d_\w+\.\w+: '.+' is not a number( of \w+)?\n", said.err)
    rows = list(csv.DictReader(Path("marks.csv").read_text().splitlines()))
    assert [row["mark"] for row in rows] == ["right", "right", "right", "wrong", "unreadable", "missing"]
    assert rows[1] == {
        "student": "Ada", "exercise": "02_übung", "answer to": "expected", "answer": "0.1s", "number": "100.0", "unit": "ms",
        "measured": "100", "low": "90", "high": "", "mark": "right", "file": "Ada.toml", "attempt": "",
    }  # fmt: skip
    assert Path("marks.html").read_text().startswith("<!DOCTYPE html>")
    for made in ("marks.csv", "marks.html"):
        Path(made).unlink()
    assert mark("Ada.toml", "--csv", "nowhere/marks.csv") == 2
    assert "cannot write nowhere/marks.csv (No such file or directory), --csv: name another" in capsys.readouterr().err
    assert mark("Ada.toml", "key.toml", "--moodle", "m.csv", "--canvas", "c.csv", "--title", "Delays") == 1
    said = capsys.readouterr()
    assert said.out == "Ada  3 of 3\nkey  not marked\nwritten  marks.csv, m.csv, c.csv, marks.html\n"
    assert said.err.startswith("slownet: not marked: 01_ping.answers is a table")
    assert Path("m.csv").read_text().startswith("Full name,Email address,Username,ID number,Delays,Delays (feedback)\n")
    assert mark("Ada.toml", "--late", "much") == 2
    assert "--late: write a percentage such as 50%" in capsys.readouterr().err
    assert answers.read(Path("Ada.toml")).student == "Ada"


def test_fewer_students_do_not_replace_a_class(capsys):
    Path("key.toml").write_text(key.as_toml(KEY))
    files = [str(each) for each in write_class()]
    assert mark(*files) == 0
    table, page = Path("marks.csv").read_bytes(), Path("marks.html").read_bytes()
    capsys.readouterr()
    lost = "has marks of 2 students not among these files, and was not overwritten"
    for words, line in (([], f"marks.csv {lost}, --csv: "), (["--csv", "other.csv"], f"marks.html {lost}, --page: ")):
        assert mark("Ada.toml", *words) == 2
        fix = "mark all files in one call, name another file, or remove it"
        assert capsys.readouterr().err == f"slownet: {line}{fix}\n"
        assert (Path("marks.csv").read_bytes(), Path("marks.html").read_bytes()) == (table, page)
        assert not Path("other.csv").exists()
    Path("again.toml").write_text('student = "Ada"\nid = "ada@example.org"\n')  # now two have this name
    assert mark(*files, "again.toml") == 0
    assert mark("Ada.toml", "--csv", "one.csv", "--page", "one.html") == 0


def test_who_could_not_be_marked_may_get_another_name():
    Path("key.toml").write_text(key.as_toml(KEY))
    student("Ada", **RIGHT)
    Path("cyd.toml").write_text("round_trips = = 4")
    assert mark("Ada.toml", "cyd.toml") == 1
    student("Cyd Smith", "cyd.toml", **RIGHT)
    assert mark("Ada.toml", "cyd.toml") == 0


def test_exercises_that_no_file_answers_are_noted(capsys):
    Path("key.toml").write_text(key.as_toml([replace(KEY[0], name=each) for each in ("01_ping", "02", "03")]))
    student("Ada", **RIGHT)
    assert mark("Ada.toml") == 0
    assert capsys.readouterr().err == (
        "slownet: note: no file answers 2 of the key's 3 exercises: 02, 03; if they were not set, mark only those that "
        "were: --only 01_ping\n"
    )
    Path("key.toml").write_text(key.as_toml(KEY))
    assert mark("Ada.toml") == 0
    assert capsys.readouterr().err == ""


def test_a_share_for_late_files_needs_a_time_and_a_folder_names_its_files(capsys):
    Path("key.toml").write_text(key.as_toml(KEY))
    student("Ada", **RIGHT)
    assert mark("Ada.toml", "--late", "50%") == 2
    line = "slownet: no file is late without a due date, --late: add --due 2026-11-30\n"
    assert capsys.readouterr().err == line
    Path("answers").mkdir()
    assert mark("answers") == 2
    assert capsys.readouterr().err == "slownet: answers is a folder: name the files in it: answers/*.toml\n"
    assert not Path("marks.csv").exists()


def test_the_title_counts_all_students_and_one_is_singular():
    Path("eve.toml").write_text("not TOML")
    once = [replace(KEY[0], solutions=[Solution("round_trips", "So many", "round trips", 1.0, 1.0, 1.0)])]
    page = marks.render(class_marks.mark([student("Ada", **WRONG), student("Bob", **RIGHT), Path("eve.toml")], once))
    assert "<h1>2 of 3 students marked, 1 question</h1>" in page
    assert "So many: <strong>1 round trip</strong>" in page
    assert "Wrong: 2 round trips." in page
    assert "<h1>1 student, 1 question</h1>" in marks.render(class_marks.mark([Path("Ada.toml")], once))


ONE = [Exercise("one", "How slow?", "", (Solution("round_trips", "How many?", "round trips", 4.0, 3.9, 4.1),))]


def test_an_answer_without_its_table_is_told_which_and_its_student_has_a_row(tmp_path):
    good, bad = tmp_path / "ada.toml", tmp_path / "ben.toml"
    good.write_text("[one]\nround_trips = 4\n")
    bad.write_text("round_trips = 4\n")
    found = class_marks.mark([good, bad], ONE)
    assert [each.line for each in found.skipped] == [f"round_trips stands in no table, {bad}: write [one] in a line above it"]
    assert [each.student for each in found.without_marks] == ["ben"]
    assert "not marked: see below" in marks.render(found)


def test_students_who_cannot_be_marked_have_a_row_in_each_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key.toml").write_text(key.as_toml(ONE))
    Path("ada.toml").write_text('student = "Ada"\n[one]\nround_trips = 4\n')
    Path("ben.toml").write_text('student = "Ben"\nid = "ben@example.org"\n[other]\nround_trips = 4\n')
    Path("again.toml").write_text('student = "Ada"\n[other]\nround_trips = 4\n')  # she has another file
    Path("cyd.toml").write_text("round_trips = = 4\n")
    assert mark("ada.toml", "ben.toml", "again.toml", "cyd.toml", "--moodle", "m.csv", "--canvas", "c.csv") == 1
    rows = [list(csv.DictReader(Path(name).read_text().splitlines())) for name in ("marks.csv", "m.csv", "c.csv")]
    assert [(each["student"], each["mark"], each["file"]) for each in rows[0]] == [
        ("Ada", "right", "ada.toml"), ("Ben", "not marked", "ben.toml"), ("cyd", "not marked", "cyd.toml"),
    ]  # fmt: skip
    assert "no exercise 'other'" in rows[0][1]["attempt"]
    assert [(each["Full name"], each["Email address"], each["slownet"]) for each in rows[1]] == [
        ("Ada", "", "1"), ("Ben", "ben@example.org", "-"), ("cyd", "", "-"),
    ]  # fmt: skip
    assert rows[1][1]["slownet (feedback)"].startswith("not marked: the key has no exercise 'other'")
    assert [(each["Student"], each["SIS Login ID"], each["slownet"]) for each in rows[2][1:]] == [
        ("Ada", "", "1"), ("Ben", "ben@example.org", ""), ("cyd", "", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prediction", "field", "asked"),
    [
        (Prediction("law", {"metric": "time_ms", "round_trips": "?"}), "round_trips", "How many round trips?"),
        (Prediction("bound", {"metric": "time_ms", "at_most": "?"}), "at_most", "At most how many ms?"),
        (Prediction("ratio", {"metric": "time_ms", "expected": "?"}), "expected", "How many times as much?"),
        (Prediction("bound", {"metric": "lost_percent", "at_least": "?"}), "at_least", "At least how many percent?"),
    ],
)
def test_a_prompt_is_a_question(prediction, field, asked):
    assert Question(field, field, prediction).asks == asked
