"""Marks a class: the answers of many students against one key, which is one measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.classroom import attempts
from slownet.classroom.attempts import Counted, Rules, Unmarked
from slownet.classroom.key import Exercise, Solution
from slownet.classroom.variants import Assigned
from slownet.hypotheses.answers import Answers, number, shown
from slownet.judge.records.judgement import Verdict
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.options import ONLY

RIGHT, WRONG, MISSING, UNREADABLE = Verdict.SUPPORTED.mark, Verdict.REFUTED.mark, "missing", "unreadable"
NOT_MARKED = "not marked"
"""The mark of a student whose file cannot be marked."""


@dataclass(frozen=True)
class Mark:
    """One answer of one student."""

    student: str
    exercise: Exercise
    solution: Solution
    written: str
    """As the student wrote it; empty without an answer."""
    number: float | None
    mark: str


@dataclass(frozen=True)
class Marked:
    """A class, its exercises and all marks."""

    exercises: Sequence[Exercise]
    """Several of one name are its variants; a student has one of them."""
    counted: Sequence[Counted]
    """A student's attempt each."""
    marks: Sequence[Mark]
    students: Sequence[str]
    """Their names, with the id where two have one name; in the order of `counted`."""
    unmarked: Sequence[Unmarked] = ()

    @property
    def skipped(self) -> list[SlownetError]:
        """The faults of the files that were not marked."""
        return [each.error for each in self.unmarked]

    @property
    def without_marks(self) -> list[Unmarked]:
        """The students whose files were not marked and who have no other one: the first file of each."""
        marked = {name for each in self.counted for name in (each.answers.identity, each.answers.student.casefold())}
        found: dict[str, Unmarked] = {}
        for each in self.unmarked:
            found.setdefault(each.answers.identity if each.answers else each.student.casefold(), each)
        return [each for name, each in found.items() if name not in marked]

    @property
    def most(self) -> int:
        """The number of answers that one student has to give."""
        return len({(each.name, one.name) for each in self.exercises for one in each.solutions})

    def of(self, student: str) -> list[Mark]:
        """Return a student's marks, in the order of the key."""
        return [each for each in self.marks if each.student == student]

    def points(self, student: str) -> float:
        """Return how many of a student's answers are right; a late attempt keeps a share of them."""
        share = self.counted[self.students.index(student)].share
        return share * sum(each.mark == RIGHT for each in self.of(student))

    @property
    def unread(self) -> list[str]:
        """Answers that are not numbers, a line each: file, question and text."""
        files = {name: each.answers.path for name, each in zip(self.students, self.counted, strict=True)}
        return [
            f"{files[each.student]}, {each.exercise.name}.{each.solution.name}: '{each.written}' is not a number"
            + (f" of {each.solution.unit}" if each.solution.unit else "")
            for each in self.marks
            if each.mark == UNREADABLE
        ]

    @property
    def unanswered(self) -> list[str]:
        """The exercises that no file answers."""
        answered = {each.exercise.name for each in self.marks if each.written}
        return list(dict.fromkeys(each.name for each in self.exercises if each.name not in answered))

    def to(self, solution: Solution, exercise: Exercise) -> list[Mark]:
        """Return all answers to one question."""
        return [each for each in self.marks if each.exercise is exercise and each.solution is solution]


def mark(
    paths: Sequence[Path],
    key: Sequence[Exercise],
    rules: Rules | None = None,
    *,
    alone: bool = False,
    only: Sequence[str] = (),
) -> Marked:
    """Mark a class's files of answers. One with a fault is in `unmarked`; the others are marked all the same.

    alone: see `answers.read_handed_in`. only: the exercises that count, by default all; answers to others of the key are left
    aside. Raises ExperimentError if none can be marked.
    """
    assigned = Assigned(key)
    counting = Assigned(_chosen(key, only)) if only else assigned
    tables = {one.name: each.name for each in assigned.exercises for one in each.solutions}
    found, wrong = attempts.read(
        paths, lambda one: _known(one, assigned.of(one.identity)), alone=alone, tables=tables
    )  # fmt: skip
    if not found:
        if len(wrong) == 1:
            raise wrong[0].error
        raise ExperimentError(f"none of the {len(wrong)} files can be marked", fix=f"the first: {wrong[0].error.line}")
    counted = attempts.choose(found, rules or Rules(), lambda one: _points(one, counting.of(one.identity)))
    return _mark_all(counted, counting, wrong)


def _chosen(key: Sequence[Exercise], only: Sequence[str]) -> list[Exercise]:
    """Return the exercises of these names, each with all its variants. Raises ExperimentError."""
    named = [(each, assigned.name) for each, assigned in zip(key, Assigned(key).exercises, strict=True)]
    known = list(dict.fromkeys(name for _, name in named))
    for wanted in only:
        if wanted not in known:
            raise ExperimentError(f"the key has no exercise '{shown(wanted)}'", ONLY, nearest(wanted, known))
    return [each for each, name in named if name in only]


def _mark_all(counted: Sequence[Counted], assigned: Assigned, wrong: Sequence[Unmarked]) -> Marked:
    students = _named([each.answers for each in counted])
    marks = [
        _mark(student, each.answers, exercise, solution)
        for student, each in zip(students, counted, strict=True)
        for exercise in assigned.of(each.answers.identity)
        for solution in exercise.solutions
    ]
    return Marked(assigned.exercises, counted, marks, students, wrong)


def _named(all_answers: Sequence[Answers]) -> list[str]:
    """Return a name for each student, no two alike."""
    names, found = Counter(each.student for each in all_answers), dict[str, None]()
    for each in all_answers:
        name = f"{each.student} ({each.id or each.path})" if names[each.student] > 1 else each.student
        while name in found:  # somebody is called what another one's name became
            name += "'"
        found[name] = None
    return list(found)


def _points(answers: Answers, key: Sequence[Exercise]) -> int:
    return sum(_mark("", answers, exercise, each).mark == RIGHT for exercise in key for each in exercise.solutions)


def _known(answers: Answers, key: Sequence[Exercise]) -> None:
    names = {each.name: [one.name for one in each.solutions] for each in key}
    for exercise, given in answers.given.items():
        if exercise not in names:
            raise ExperimentError(
                f"the key has no exercise '{shown(exercise)}'", str(answers.path), nearest(shown(exercise), names)
            )
        for name in given:
            if name not in names[exercise]:
                fix = nearest(shown(name), names[exercise])
                raise ExperimentError(f"the key has no answer '{shown(name)}' to {exercise}", str(answers.path), fix)


def _mark(student: str, answers: Answers, exercise: Exercise, solution: Solution) -> Mark:
    written = answers.find(exercise.name, solution.name)
    if written is None or not str(written).strip():
        return Mark(student, exercise, solution, "", None, MISSING)
    try:
        given = number(written, solution.unit, solution.name)
    except ExperimentError:
        return Mark(student, exercise, solution, str(written), None, UNREADABLE)
    return Mark(student, exercise, solution, str(written), given, RIGHT if solution.accepts(given) else WRONG)
