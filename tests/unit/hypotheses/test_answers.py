import math

import pytest

from slownet.hypotheses import answers
from slownet.hypotheses.answers import Answers, Question, questions
from slownet.hypotheses.predictions import Prediction
from slownet.model.errors import ExperimentError
from slownet.model.units import TIMES

LAW = Prediction("law", {"metric": "time_per_request_ms", "round_trips": "?"})
TIME = Prediction("predicted", {"metric": "time_per_request_ms", "expected": "?"})
RATE = Prediction("predicted", {"metric": "mbit_per_s", "expected": "?"})
LOSS = Prediction("bound", {"metric": "loss", "at_least": "?", "at_most": "?"})
RATIO = Prediction("ratio", {"metric": "time_per_request_ms", "expected": "?"})


def _of(metric):
    return Prediction("predicted", {"metric": metric, "expected": "?"})


def test_each_unit_of_time_that_a_metric_may_have_is_one_of_answers():
    for each in TIMES:
        assert (questions([_of(f"wait_{each.name}")])[0].unit == each.name) == each.of_metrics


def test_each_open_field_is_a_question_with_a_name_of_its_own():
    found = questions([LAW, Prediction("bound", {"metric": "loss", "at_most": 1}), LAW, LOSS])
    assert [each.name for each in found] == ["round_trips", "round_trips_2", "at_least", "at_most"]
    assert [each.prediction for each in found] == [LAW, LAW, LOSS, LOSS]


@pytest.mark.parametrize(
    ("prediction", "unit", "texts"),
    [
        (LAW, "round trips", {"4": 4, " 4.5 ": 4.5, "4 round trips": 4, "1e1": 10}),
        (TIME, "ms", {"100": 100, "100ms": 100, "100 ms": 100, "0.1s": 100, "2min": 120_000}),
        (RATE, "Mbit/s", {"10": 10, "10 Mbit/s": 10, "10Mbit": 10, "1Gbit": 1000}),
        (LOSS, "a share of 1", {"0.1": 0.1, "10%": 0.1}),
        (RATIO, "times", {"10": 10, "10 times": 10}),
        (_of("handshake_us"), "us", {"100": 100, "100us": 100, "0.1 ms": 100}),
        (_of("setup_s"), "s", {"2": 2, "2s": 2, "2000ms": 2, "1min": 60}),
        (_of("rate_mbit_s"), "Mbit/s", {"10": 10, "10Mbit": 10}),
        (_of("kib_per_s"), "KiB/s", {"10": 10, "80Kibit": 10, "8192 bit": 1}),
        (_of("mib_per_s"), "MiB/s", {"10": 10, "80Mibit": 10}),
        (_of("requests_per_s"), "per second", {"10": 10, "10 per second": 10}),
        (_of("busy_percent"), "%", {"10": 10, "10%": 10, "2.5 %": 2.5}),
        (Prediction("law", {"metric": "rtt_ms", "along": "load_ms", "round_trips": "?"}), "", {"2": 2}),
        (Prediction("predicted", {"metric": "answers", "expected": "?"}), "", {"2": 2}),
    ],
)
def test_an_answer_has_the_unit_of_its_metric_or_says_another(prediction, unit, texts):
    question = questions([prediction])[0]
    assert question.unit == unit
    for text, number in texts.items():
        assert math.isclose(question.number(text), number), text


@pytest.mark.parametrize(
    ("prediction", "text", "line"),
    [
        (LAW, "many", "'many' is not a number (round trips), round_trips: write a number, such as 2.5"),
        (LAW, "100ms", "'100ms' is not a number (round trips), round_trips: write a number, such as 2.5"),
        (TIME, "100 Mbit", "'100 Mbit' is not a number (ms), expected: write a number, such as 2.5 or 2.5ms"),
        (TIME, "", "'' is not a number (ms), expected: write a number, such as 2.5 or 2.5ms"),
        (TIME, "inf", "'inf' is not a number (ms), expected: write a number, such as 2.5 or 2.5ms"),
        (RATIO, "nan", "'nan' is not a number (times), expected: write a number, such as 2.5"),
    ],
)
def test_what_is_no_number_is_one_line_with_an_example(prediction, text, line):
    with pytest.raises(ExperimentError) as error:
        questions([prediction])[0].number(text)
    assert str(error.value) == line


def test_a_file_is_read_as_it_was_written(tmp_path):
    given = {"02_page": {"round_trips": 4.0, "round_trips_2": "100ms"}, "übung 1": {"expected": 0.25}}
    Answers(tmp_path / "ada.toml", 'Ada "the" Lovelace', given).write()
    found = answers.read(tmp_path / "ada.toml")
    assert (found.student, found.given) == ('Ada "the" Lovelace', given)
    assert found.find("02_page", "round_trips") == 4
    assert found.find("02_page", "expected") is None
    assert found.find("03_page", "expected") is None


def test_who_does_not_say_a_name_has_that_of_the_file(tmp_path):
    (tmp_path / "ada.toml").write_text("[a]\nb = 1\n")
    assert answers.read(tmp_path / "ada.toml").student == "ada"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("student = 3", 'student is a number, FILE: write student = "Ada Lovelace"'),
        ("round_trips = 3", "round_trips is not a table, FILE: write [round_trips], and below it lines such as"),
        ("[a]\nb = true", "a.b is true or false, FILE: write a number, or a text such as"),
        ("[a", "not TOML: Expected ']' at the end of a table declaration (at end of document), FILE"),
    ],
)
def test_mistakes_are_one_line_with_the_file(tmp_path, text, line):
    (tmp_path / "ada.toml").write_text(text)
    with pytest.raises(ExperimentError) as error:
        answers.read(tmp_path / "ada.toml")
    assert str(error.value).replace(str(tmp_path / "ada.toml"), "FILE").startswith(line)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(ExperimentError, match=r"^cannot read .*/bob.toml: No such file or directory$"):
        answers.read(tmp_path / "bob.toml")
    with pytest.raises(ExperimentError, match=r"^cannot write .*bob.toml \(No such file or directory\): name another file$"):
        Answers(tmp_path / "nowhere" / "bob.toml").write()


def test_a_question_is_of_its_prediction():
    assert Question("at_most", "at_most", LOSS).unit == answers.SHARE
