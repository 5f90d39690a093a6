"""One submission graded: points and words, and never an exception for what a student wrote."""

import json
from pathlib import Path

import pytest

from slownet.hypotheses import autograders, grading
from slownet.hypotheses.grading import Graded
from slownet.hypotheses.key import Exercise, Solution
from slownet.model.errors import ExperimentError

KEY = [
    Exercise("ping", "A ping?", "", [Solution("round_trips", "So many", "round trips", 2.0, 1.9, 2.1)]),
    Exercise("page", "A page?", "", [Solution("expected", "So long", "ms", 100.0, 90.0)]),
]
NOT_TOML = "not TOML: Expected '=' after a key in a key/value pair (at line 1, column 5), answers.toml"
GRADED = [Graded("a.x", 1.0, 1, "3: right"), Graded("a.y", 0.0, 1, "<b>: wrong")]


@pytest.mark.parametrize(
    ("text", "points", "said"),
    [
        ("[ping]\nround_trips = 2\n[page]\nexpected = '0.1s'", [1, 1], ["2: right", "0.1s: right"]),
        ("[ping]\nround_trips = 3", [0, 0], ["3: wrong", "no answer"]),
        ("[page]\nexpected = 'long'", [0, 0], ["no answer", "'long' is not a number of ms"]),
        (
            "not TOML",
            [0, 0],
            [NOT_TOML] * 2,
        ),
        ("[pong]", [0, 0], ["the key has no exercise 'pong', answers.toml: did you mean 'ping'?"] * 2),
        (None, [0, 0], ["cannot read answers.toml: No such file or directory"] * 2),
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


def test_one_file_of_another_name_will_do(tmp_path):
    (tmp_path / "charles.toml").write_text("[ping]\nround_trips = 2")
    assert grading.answers(tmp_path, KEY, "")[0].points == 1
    (tmp_path / "other.toml").write_text("")
    assert grading.answers(tmp_path, KEY, "")[0].said == "cannot read answers.toml: No such file or directory"


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
