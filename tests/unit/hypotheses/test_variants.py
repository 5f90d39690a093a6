"""Variants of an exercise: one for each student, always the same, and the key that fits it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from slownet.classroom import class_marks, marks, variants
from slownet.classroom.key import Exercise, Solution
from slownet.hypotheses import file as hypothesis
from slownet.model.errors import ExperimentError

EXERCISE = """\
question = "How long is a ping over ${far}? (It costs nothing: 0 $$.)"
tool = "ping"
[conditions]
link = ["client", "switch"]
rtt = ["0ms", "${far}"]
[[prediction]]
claim = "predicted"
metric = "rtt_ms"
at = { rtt = "${far}" }
expected = "?"
within = 0.1
"""
TABLE = '[[far_away]]\nfar = "20ms"\n[[far_away]]\nfar = "30ms"\n[[far_away]]\nfar = "40ms"\n'


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("far_away.toml").write_text(EXERCISE)
    Path("variants.toml").write_text(TABLE)
    return Path("far_away.toml")


def test_a_student_has_always_the_same_and_a_class_has_all():
    numbers = [variants.number("far_away", f"student{each}@example.org", 4) for each in range(400)]
    assert min(Counter(numbers).values()) > 60
    assert set(numbers) == {1, 2, 3, 4}
    assert [variants.number("far_away", name, 4) for name in ("ada@x", " ADA@x ", "ada@x")] == [
        variants.number("far_away", "ada@x", 4)
    ] * 3
    assert [variants.number(each, "ada@example.org", 1000) for each in ("far_away", "other")] == [643, 726]


def test_all_are_written_for_the_key_and_one_for_a_student(exercise):
    table = variants.read(Path("variants.toml"), "far_away")
    written = variants.write(exercise, table, Path())
    assert [str(each) for each in written] == ["far_away__1.toml", "far_away__2.toml", "far_away__3.toml"]
    assert [hypothesis.read(each).vary["rtt"] for each in written] == [("0ms", f"{far}ms") for far in (20, 30, 40)]
    assert "0 $.)" in hypothesis.read(written[0]).question
    Path("ada").mkdir()
    (own,) = variants.write(exercise, table, Path("ada"), "ada@example.org")
    assert own == Path("ada/far_away.toml")
    assert own.read_text() == written[variants.number("far_away", "ada@example.org", 3) - 1].read_text()
    with pytest.raises(ExperimentError, match=r"^far_away.toml is the exercise itself, --out: name another folder"):
        variants.write(exercise, table, Path(), "ada@example.org")


def test_the_files_that_it_names_go_along(exercise):
    exercise.write_text(EXERCISE.replace('tool = "ping"', 'tool = "mine.py:mine"'))
    Path("mine.py").write_text("def mine(net):\n    return 1\n")
    table = variants.read(Path("variants.toml"), "far_away")
    variants.write(exercise, table, Path("new/ada"), "ada@example.org")
    assert Path("new/ada/mine.py").read_text() == Path("mine.py").read_text()
    Path("mine.py").unlink()
    with pytest.raises(ExperimentError, match=r"^no file mine.py"):
        variants.write(exercise, table, Path())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[[near]]\nfar = 1", "no variants of 'far_away', variants.toml: choose from near"),
        ("[far_away]\nfar = 1", "far_away is not a list of tables, variants.toml: write [[far_away]] above each variant"),
        ("[[far_away]]\nfra = '1ms'", "no variant has a value for ${far}, far_away.toml: did you mean 'fra'?"),
        ("[[far_away]]\nfar = '1ms'\nx = 2", "its text does not use ${x}, far_away.toml: write it where the value belongs"),
        (
            "[[far_away]]\nfar = '1ms'\n[[far_away]]\nx = 2",
            "the variants of far_away have different names, variants.toml: give each one all values",
        ),
    ],
)
def test_mistakes_in_variants_are_one_line(exercise, text, line):
    Path("variants.toml").write_text(text)
    with pytest.raises(ExperimentError) as error:
        variants.write(exercise, variants.read(Path("variants.toml"), "far_away"), Path())
    assert str(error.value) == line
    exercise.write_text("costs 5 $")
    with pytest.raises(ExperimentError, match=r"a \$ that begins no name, far_away.toml: write \$\$ for a dollar sign"):
        variants.fill(exercise, {})


def test_each_student_is_marked_by_the_key_of_the_own_variant(exercise):
    key = [
        Exercise(f"far_away__{each}", f"Over {far}?", "", [Solution("expected", "So long", "ms", far, far - 1, far + 1)])
        for each, far in enumerate((20, 30, 40), 1)
    ]
    plain = replace(key[0], name="plain")
    names = [f"s{each}@x" for each in range(30)]
    for name in names:
        far = (20, 30, 40)[variants.number("far_away", name, 3) - 1]
        Path(f"{name}.toml").write_text(f'student = "S"\nid = "{name}"\n[far_away]\nexpected = {far}\n[plain]\nexpected = 30\n')
    marked = class_marks.mark([Path(f"{name}.toml") for name in names], [*key, plain])
    assert marked.most == 2
    assert {marked.points(name) for name in marked.students} == {1}
    page = marks.render(marked)
    assert page.count('<th scope="col"><a href="#question-') == 2
    assert [f"Over {far}?" in page for far in (20, 30, 40)] == [True] * 3
