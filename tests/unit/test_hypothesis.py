"""Hypothesis files: what they say, and what is wrong with them, with line and column."""

from pathlib import Path

import pytest

from slownet import claim
from slownet.errors import ExperimentError
from slownet.hypotheses import file as hypothesis
from slownet.hypotheses.file import place_of, read

EXERCISES = sorted((Path(__file__).parents[2] / "experiments/exercises").glob("*.toml"))

WHOLE = """\
question = "Is it slow?"
topology = "star"
parameters = { n = 2 }
service = "nginx"
page = "30kB"
tool = "ab"

[options]
requests = 20

[conditions]
link = ["client1", "switch"]
rtt = ["0ms", "10ms"]
loss = "1%"

[[prediction]]
claim = "law"
metric = "time_per_request_ms"
round_trips = "?"

[[prediction]]
says = "Three times slower."
claim = "ratio"
metric = "time_per_request_ms"
at = { rtt = "10ms" }
expected = 3
"""


@pytest.fixture
def file(tmp_path):
    def make(text):
        path = tmp_path / "my hypothesis.toml"
        path.write_text(text)
        return path

    return make


def test_a_file(file):
    found = read(file(WHOLE))
    assert (found.name, found.question, found.service, found.page) == ("my_hypothesis", "Is it slow?", "nginx", "30kB")
    assert (found.link, found.fixed, found.vary) == (("client1", "switch"), {"loss": "1%"}, {"rtt": ("0ms", "10ms")})
    first, second = found.predictions
    assert first.open == ("round_trips",)
    assert first.filled({"round_trips": 3.0}).claim() == claim.law("time_per_request_ms", 3.0)
    assert second.claim() == claim.ratio("time_per_request_ms", {"rtt": "10ms"}, expected=3)
    assert second.text == "Three times slower."


def test_it_is_an_experiment(file):
    experiment = read(file(WHOLE)).experiment()
    assert experiment.cells() == [{"rtt": "0ms"}, {"rtt": "10ms"}]
    assert len(experiment.topology().hosts()) == 3
    assert experiment.judged_by == []
    closed = read(file(WHOLE.replace('"?"', "3"))).experiment()
    assert [type(each) for each in closed.judged_by] == [claim.law, claim.ratio]


def test_an_open_prediction_is_no_claim(file):
    with pytest.raises(ExperimentError, match=r"round_trips is left to be predicted.*--blind"):
        read(file(WHOLE)).predictions[0].claim()


@pytest.mark.parametrize(
    ("old", "new", "where", "said"),
    [
        ("question =", "questoin =", ":1:1:", "did you mean 'question'?"),
        ("requests", "reqests", ":9:1:", "did you mean 'requests'?"),
        ("[options]", "[optoins]", ":8:2:", "did you mean 'options'?"),
        ("round_trips =", "  roundtrips =", ":19:3:", "did you mean 'round_trips'?"),
        ("expected = 3", "expectd = 3", ":26:1:", "did you mean 'expected'?"),
        ('claim = "ratio"', 'claim = "ration"', ":23:1:", "did you mean 'ratio'?"),
        ('tool = "ab"', 'tool = "aab"', ":6:1:", "did you mean 'ab'?"),
        ('"star"', '"stra"', ":2:1:", "did you mean 'star'?"),
        ('"nginx"', '"ngnix"', ":4:1:", "did you mean 'nginx'?"),
        ('"10ms"]', '"10"]', ":13:1:", "has no unit"),
        ('"10ms"]', "10]", ":13:1:", "in quotes"),
        ('loss = "1%"', 'los = "1%"', ":14:1:", "did you mean 'loss'?"),
        ('rtt = ["0ms", "10ms"]\n', "", ":12:1:", "no condition varies"),
        ('link = ["client1", "switch"]\n', "", ":1:1:", "conditions need a link"),
        ('service = "nginx"\npage = "30kB"\n', "", ":4:1:", "ab needs a service"),
        ('"nginx"', '"wordpress"', ":5:1:", "page is the size of nginx's page"),
        ('metric = "time_per_request_ms"\nround', "round", ":17:1:", "law needs metric"),
        ("question =", "question", "", "(at line 1, column 10)"),
    ],
)
def test_mistakes_are_one_line_that_says_where(file, old, new, where, said):
    assert old in WHOLE
    with pytest.raises(ExperimentError) as caught:
        read(file(WHOLE.replace(old, new, 1)))
    line = str(caught.value)
    assert where in line
    assert said in line
    assert len(line.splitlines()) == 1


def test_where_keys_stand():
    assert place_of(WHOLE, ("tool",)) == (6, 1)
    assert place_of(WHOLE, ("prediction", 1, "at")) == (25, 1)
    assert place_of(WHOLE, ("parameters", "n")) == (3, 16)
    assert place_of(WHOLE, ("nothing",)) == (1, 1)


def test_there_are_ten_exercises():
    assert len(EXERCISES) == 10


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_every_exercise_asks_or_claims(path):
    found = hypothesis.read(path)
    assert found.question.endswith("?")
    for each in found.predictions:
        assert each.says
        assert each.filled(dict.fromkeys(each.open, 1.0)).claim()


def test_the_key_answers_every_exercise():
    key = (EXERCISES[0].parent / "KEY.md").read_text()
    for path in EXERCISES:
        section = key[key.index(f"## {path.name}") :].split("\n## ")[0]
        for each in hypothesis.read(path).predictions:
            assert each.says.rstrip(".:") in section
            assert all(f"{name} = " in section for name in each.open)
