"""Exercises with variants: the key, which a lab has measured, gives theory's answers all marks, and others none."""

import sys
import tomllib
from pathlib import Path

import pytest

from slownet.classroom import grading, key, variants
from slownet.hypotheses import file as hypothesis
from slownet.hypotheses.answers import questions
from slownet.model import importing

FOLDER = Path(__file__).parents[3] / "examples/exercises/variants"
TEACHER = FOLDER / "teacher"
TABLE = tomllib.loads((FOLDER / "variants.toml").read_text())
EACH = [(name, number) for name, found in TABLE.items() for number in range(1, len(found) + 1)]


@pytest.fixture(scope="module")
def theory():
    path = list(sys.path)
    yield importing.file(TEACHER / "theory.py", "")
    sys.path[:] = path


def a_student(exercise, number):
    """Return a student who has this variant."""
    count = len(TABLE[exercise])
    return next(f"student{n}" for n in range(1000) if variants.number(exercise, f"student{n}", count) == number)


def graded(folder, exercise, number, given):
    """Return the marks by question of a student who answers this exercise alone."""
    lines = [f"[{exercise}]", *(f"{name} = {answer!r}" for name, answer in given.items())]
    (folder / "answers.toml").write_text("\n".join(lines))
    found = grading.answers(folder, key.read(TEACHER / "key.toml"), a_student(exercise, number))
    return {each.name.partition(".")[2]: each.points for each in found if each.name.startswith(f"{exercise}.")}


def test_each_exercise_has_variants_theory_and_a_measured_key(theory, tmp_path):
    names = [path.stem for path in sorted(FOLDER.glob("*_*.toml"))]
    assert list(TABLE) == names == list(theory.EXERCISES)
    written = [one for name in names for one in variants.write(FOLDER / f"{name}.toml", TABLE[name], tmp_path)]
    asked = {one.stem: [each.name for each in questions(hypothesis.read(one).predictions)] for one in written}
    assert asked == {each.name: [one.name for one in each.solutions] for each in key.read(TEACHER / "key.toml")}
    for name, number in EACH:
        assert [each for each, *_ in theory.answers(name, TABLE[name][number - 1])] == asked[f"{name}__{number}"]


@pytest.mark.parametrize(("name", "number"), EACH)
def test_theory_has_all_marks(theory, tmp_path, name, number):
    given = {each: right for each, right, _ in theory.answers(name, TABLE[name][number - 1])}
    assert graded(tmp_path, name, number, given) == dict.fromkeys(given, 1.0)


@pytest.mark.parametrize(("name", "number"), EACH)
def test_what_students_think_instead_has_none(theory, tmp_path, name, number):
    for each, _, wrong in theory.answers(name, TABLE[name][number - 1]):
        assert wrong
        for why, answer in wrong.items():
            assert graded(tmp_path, name, number, {each: answer})[each] == 0.0, why


def test_a_neighbours_answers_are_not_ones_own(theory, tmp_path):
    for name, found in TABLE.items():
        answers = [{each: right for each, right, _ in theory.answers(name, values)} for values in found]
        for number in range(1, len(found) + 1):
            for other in range(1, len(found) + 1):
                marks = graded(tmp_path, name, number, answers[other - 1])
                assert (sum(marks.values()) == len(marks)) == (number == other), (name, number, other)
