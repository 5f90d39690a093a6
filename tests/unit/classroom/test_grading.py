"""One submission graded: points and words, and never an exception for what a student wrote."""

import json
import os
import socket
import time
from pathlib import Path

import pytest

from slownet.classroom import autograders, class_marks, grading
from slownet.classroom.grading import Graded
from slownet.classroom.key import Exercise, Solution
from slownet.model.errors import ExperimentError

KEY = [
    Exercise("ping", "A ping?", "", [Solution("round_trips", "So many", "round trips", 2.0, 1.9, 2.1)]),
    Exercise("page", "A page?", "", [Solution("expected", "So long", "ms", 100.0, 90.0)]),
]
NOT_TOML = "not TOML (at line 1, column 5), answers.toml"
MISSING = "cannot read answers.toml: No such file or directory"
MANY = "{} files are of the kind .toml, and none of them is answers.toml: hand in one file, answers.toml"
GRADED = [Graded("a.x", 1.0, 1, "3: right"), Graded("a.y", 0.0, 1, "<b>: wrong")]


@pytest.mark.parametrize(
    ("text", "points", "said"),
    [
        ("[ping]\nround_trips = 2\n[page]\nexpected = '0.1s'", [1, 1], ["2: right", "0.1s: right"]),
        ("[ping]\nround_trips = 3", [0, 0], ["3: wrong", "no answer"]),
        ("[page]\nexpected = 'long'", [0, 0], ["no answer", "it is not a number of ms"]),
        (
            "not TOML",
            [0, 0],
            [NOT_TOML] * 2,
        ),
        ("[pong]", [0, 0], ["the key has no exercise 'pong', answers.toml: did you mean 'ping'?"] * 2),
        (None, [0, 0], [MISSING] * 2),
    ],
)
def test_answers_are_graded_whatever_they_are(tmp_path, text, points, said):
    if text is not None:
        (tmp_path / "answers.toml").write_text(text)
    found = grading.answers(tmp_path, KEY, "ada")
    assert [each.name for each in found] == ["ping.round_trips", "page.expected"]
    assert [each.points for each in found] == points
    assert [each.said for each in found] == said
    assert "1.9" not in str(found)


SECRET = 'low = 38.096\nhigh = "of the teacher"\n[x.answers.y]\nlow = 12.5\n'


def link(path, key):
    path.symlink_to(key)


def hard_link(path, key):
    path.hardlink_to(key)


def through_a_linked_folder(path, key):
    path.symlink_to(key.parent / "key.toml")


def fifo(path, key):
    os.mkfifo(path)


def listening(path, key):
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(os.path.relpath(path))


def device(path, key):
    path.symlink_to("/dev/zero")


def folder(path, key):
    path.mkdir()


def huge(path, key):
    with path.open("wb") as file:
        file.truncate(2**40)


def secret_of_another_kind(path, key):
    path.write_text(SECRET)


@pytest.mark.parametrize("name", ["answers.toml", "mine.toml"])
@pytest.mark.parametrize(
    "hand_in",
    [link, hard_link, through_a_linked_folder, fifo, listening, device, folder, huge, secret_of_another_kind],
    ids=lambda each: each.__name__,
)
def test_nothing_but_a_students_own_file_is_read(tmp_path, monkeypatch, hand_in, name):
    (tmp_path / "key.toml").write_text(SECRET)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    hand_in(tmp_path / "sub" / name, tmp_path / "key.toml")
    began = time.monotonic()
    found = grading.answers(tmp_path / "sub", KEY, "ada")
    assert time.monotonic() - began < 2
    assert {each.points for each in found} == {0}
    shown = autograders.gradescope(found, 1.0, "visible") + autograders.text(found) + autograders.submitty(found)
    assert not [each for each in ("38.096", "of the teacher", "12.5") if each in shown]
    assert all(len(each.said) < 200 for each in found)


def test_ten_thousand_files_are_graded(tmp_path):
    (tmp_path / "answers.toml").write_text("[ping]\nround_trips = 2")
    for number in range(10_000):
        (tmp_path / f"{number}.toml").touch()
    began = time.monotonic()
    assert grading.answers(tmp_path, KEY, "")[0].points == 1
    (tmp_path / "answers.toml").unlink()
    assert grading.answers(tmp_path, KEY, "")[0].said == MANY.format(10_000)
    assert time.monotonic() - began < 2


def test_a_class_is_marked_without_following_links(tmp_path):
    (tmp_path / "key.toml").write_text(SECRET)
    (tmp_path / "ada.toml").write_text("[ping]\nround_trips = 2")
    (tmp_path / "eve.toml").symlink_to("key.toml")
    os.mkfifo(tmp_path / "fifo.toml")
    names = ("ada", "eve", "fifo")
    marked = class_marks.mark([tmp_path / f"{each}.toml" for each in names], KEY)
    assert marked.students == ["ada"]
    assert [each.what for each in marked.skipped] == ["eve.toml is a symbolic link", "fifo.toml is a FIFO"]


def test_one_file_of_another_name_will_do(tmp_path):
    (tmp_path / "charles.toml").write_text("[ping]\nround_trips = 2")
    assert grading.answers(tmp_path, KEY, "")[0].points == 1
    (tmp_path / "other.toml").write_text("")
    assert grading.answers(tmp_path, KEY, "")[0].said == MANY.format(2)


def test_results_are_as_gradescope_documents_them():
    found = json.loads(autograders.gradescope(GRADED, 0.5, "after_due_date"))
    assert found.keys() <= {"score", "execution_time", "output", "visibility", "stdout_visibility", "extra_data", "tests"}
    assert (found["score"], found["output"]) == (0.5, "late: it keeps 50% of its points")
    assert {found["visibility"], *(each["visibility"] for each in found["tests"])} == {"after_due_date"}
    assert found["tests"][1] == {
        "score": 0.0, "max_score": 1, "name": "a.y", "number": "2", "output": "<b>: wrong", "visibility": "after_due_date",
    }  # fmt: skip
    assert "output" not in json.loads(autograders.gradescope(GRADED))


def test_results_are_as_submitty_documents_them():
    found = json.loads(autograders.submitty(GRADED))
    assert found["status"] == "success"
    assert found["data"]["score"] == 0.5
    assert found["data"]["message"][1] == {"message": "a.y: <b>: wrong", "status": "failure"}
    assert autograders.text(GRADED).splitlines() == ["1 of 1  a.x: 3: right", "0 of 1  a.y: <b>: wrong", "1 of 2"]


def test_who_handed_in_is_read_from_gradescopes_file(tmp_path):
    path = tmp_path / "submission_metadata.json"
    text = {
        "created_at": "2018-07-01T14:22:32.365935-07:00",
        "assignment": {"due_date": "2018-07-01T14:22:32.000000-07:00", "late_due_date": None},
        "users": [{"email": "b@x.org", "id": 1, "name": "B"}, {"email": "a@x.org", "id": 2, "name": "A"}],
    }
    path.write_text(json.dumps(text))
    assert (grading.metadata(path).student, grading.metadata(path).is_late) == ("a@x.org", True)
    path.write_text(json.dumps(text | {"assignment": {"due_date": None}}))
    assert not grading.metadata(path).is_late
    for wrong in ("", "[]", "{}", '{"users": []}', json.dumps(text | {"created_at": "soon"})):
        path.write_text(wrong)
        with pytest.raises(ExperimentError, match=r"^cannot read who handed in "):
            grading.metadata(path)
    with pytest.raises(ExperimentError, match=r"^cannot read who handed in "):
        grading.metadata(Path("nowhere"))
