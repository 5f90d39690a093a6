"""Marks a class: the answers of many students against one key, which is one measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slownet.hypotheses.answers import Answers, number
from slownet.hypotheses.key import Exercise, Solution
from slownet.model.errors import ExperimentError, nearest

RIGHT, WRONG, MISSING, UNREADABLE = "right", "wrong", "missing", "unreadable"


@dataclass(frozen=True)
class Mark:
    """One answer of one student."""

    student: str
    exercise: Exercise
    solution: Solution
    written: str
    """As the student wrote it; empty if there is no answer."""
    number: float | None
    mark: str


@dataclass(frozen=True)
class Marked:
    """A class, its exercises and all marks."""

    exercises: Sequence[Exercise]
    students: Sequence[str]
    marks: Sequence[Mark]

    def of(self, student: str) -> list[Mark]:
        """Return a student's marks, in the order of the key."""
        return [each for each in self.marks if each.student == student]

    def points(self, student: str) -> int:
        """Return how many of a student's answers are right."""
        return sum(each.mark == RIGHT for each in self.of(student))

    def to(self, solution: Solution, exercise: Exercise) -> list[Mark]:
        """Return all answers to one question."""
        return [each for each in self.marks if each.exercise is exercise and each.solution is solution]


def mark(answers: Sequence[Answers], key: Sequence[Exercise]) -> Marked:
    """Mark all answers. Raises ExperimentError if an exercise is not in the key, or two files are of one student."""
    students = [each.student for each in answers]
    for one in answers:
        twice = next((other for other in answers if other is not one and other.student == one.student), None)
        if twice:
            raise ExperimentError(f"{one.path} and {twice.path} are both of {one.student}", fix="give them different names")
        _known(one, key)
    found = [_mark(one, exercise, each) for one in answers for exercise in key for each in exercise.solutions]
    return Marked(key, students, found)


def _known(answers: Answers, key: Sequence[Exercise]) -> None:
    names = {each.name: [one.name for one in each.solutions] for each in key}
    for exercise, given in answers.given.items():
        if exercise not in names:
            raise ExperimentError(f"the key has no exercise '{exercise}'", str(answers.path), nearest(exercise, names))
        for name in given:
            if name not in names[exercise]:
                fix = nearest(name, names[exercise])
                raise ExperimentError(f"the key has no answer '{name}' to {exercise}", str(answers.path), fix)


def _mark(answers: Answers, exercise: Exercise, solution: Solution) -> Mark:
    written = answers.find(exercise.name, solution.name)
    if written is None or not str(written).strip():
        return Mark(answers.student, exercise, solution, "", None, MISSING)
    try:
        given = number(written, solution.unit, solution.name)
    except ExperimentError:
        return Mark(answers.student, exercise, solution, str(written), None, UNREADABLE)
    return Mark(answers.student, exercise, solution, str(written), given, RIGHT if solution.accepts(given) else WRONG)
