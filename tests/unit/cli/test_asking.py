"""Open predictions that are asked for, or taken from a student's file."""

from dataclasses import replace
from pathlib import Path

import pytest

from slownet.cli.checking import answered
from slownet.hypotheses import answers
from slownet.hypotheses.file import Hypothesis
from slownet.hypotheses.predictions import Prediction
from slownet.model.errors import ExperimentError

LAW = Prediction("law", {"metric": "time_per_request_ms", "round_trips": "?"}, "Round trips of a page:")
LIMITS = Prediction("bound", {"metric": "time_per_request_ms", "at_least": "?", "at_most": "?"}, "A page takes:")
STATED = Prediction("bound", {"metric": "time_per_request_ms", "at_most": 100})
ONE = Hypothesis(
    Path("01 page.toml"), "How slow is it?", "star", {}, None, "", "ping", {}, ("a", "b"), {}, {}, (LAW, STATED, LIMITS, LAW)
)


class Person:
    """Answers one line after the other; notes what was asked."""

    def __init__(self, *lines):
        self.lines, self.asked = list(lines), []

    def __call__(self, prompt):
        self.asked.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def test_each_open_field_is_asked_for_with_its_unit_after_the_question(capsys):
    person = Person("4", "100ms", "1s", "5")
    (filled,), student = answered([ONE], person, None)
    assert [each.fields for each in filled] == [
        {"metric": "time_per_request_ms", "round_trips": 4},
        STATED.fields,
        {"metric": "time_per_request_ms", "at_least": 100, "at_most": 1000},
        {"metric": "time_per_request_ms", "round_trips": 5},
    ]
    assert capsys.readouterr().out == "\n01_page: How slow is it?\n"
    assert [each.splitlines()[-1] for each in person.asked] == [
        "  How many round trips? ", "  At least how many ms? ", "  At most how many ms? ", "  How many round trips? ",
    ]  # fmt: skip
    assert person.asked[0].startswith("Round trips of a page:\n")
    assert student == ""


def test_a_typo_is_asked_again(capsys):
    person = Person("for", "10 Mbit", "4", "1", "2", "4")
    answered([ONE], person, None)
    assert capsys.readouterr().out.splitlines()[2:] == [
        "  'for' is not a number (round trips): write a number, such as 2.5",
        "  '10 Mbit' is not a number (round trips): write a number, such as 2.5",
    ]
    assert person.lines == []


def test_a_file_gives_answers_and_gets_those_that_it_lacks(tmp_path):
    path = tmp_path / "ada.toml"
    path.write_text('student = "Ada"\n[01_page]\nround_trips = "4 round trips"\n')
    person = Person("1", "2", "5")
    (filled,), student = answered([ONE], person, path)
    assert (student, filled[0].fields["round_trips"], filled[3].fields["round_trips"]) == ("Ada", 4, 5)
    given = {"round_trips": "4 round trips", "at_least": 1, "at_most": 2, "round_trips_2": 5}
    assert answers.read(path).given == {"01_page": given}
    before = path.stat().st_mtime_ns
    assert answered([ONE], None, path)[0] == [filled]
    assert path.stat().st_mtime_ns == before


def test_a_new_file_asks_for_the_name(tmp_path):
    closed = replace(ONE, predictions=(LAW,))
    person = Person(" Ada ", "4")
    assert answered([closed], person, tmp_path / "a.toml")[1] == "Ada"
    assert person.asked[0] == "Your name: "
    assert answers.read(tmp_path / "a.toml").student == "Ada"
    assert answered([closed], Person("", "4"), tmp_path / "bob.toml")[1] == "bob"


def test_what_is_left_open_is_one_line(tmp_path):
    path = tmp_path / "ada.toml"
    path.write_text("[01_page]\nround_trips = 'many'\n")
    for ask, file, line in (
        (
            None,
            None,
            "round_trips is left to be predicted, Round trips of a page: write a number, or run it with --b",
        ),
        (None, path, f"'many' is not a number (round trips), {path}, round_trips: write a number, such as 2.5"),
        (Person(), None, "no answer, round_trips: enter a number such as 2.5"),
        (Person(), tmp_path / "new.toml", "no answer, student: enter your name"),
        (None, tmp_path / "new.toml", f"cannot read {tmp_path / 'new.toml'}: No such file or directory"),
    ):
        with pytest.raises(ExperimentError) as error:
            answered([ONE], ask, file)
        assert str(error.value).startswith(line)
    path.write_text("[01_page]\n")
    with pytest.raises(ExperimentError, match=r": write a number into .*/ada.toml under \[01_page\]$"):
        answered([ONE], None, path)
    assert not (tmp_path / "new.toml").exists()
