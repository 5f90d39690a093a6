"""One student's submission, graded: the answers in it against a key, and tests its code in a lab."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.classroom import class_marks, variants
from slownet.classroom.class_marks import MISSING, RIGHT, UNREADABLE, WRONG, Mark
from slownet.classroom.key import Exercise
from slownet.hypotheses.answers import shown
from slownet.model import userfile
from slownet.model.errors import ExperimentError, SlownetError

ANSWERS = "answers.toml"
SAID = {RIGHT: "right", WRONG: "wrong", MISSING: "no answer"}
"""None of these shows which answers are right: a student may hand in again."""


@dataclass(frozen=True)
class Graded:
    """The result of one question or test."""

    name: str
    points: float
    most: float
    said: str

    @property
    def passed(self) -> bool:
        """True if it gave all its points."""
        return self.points >= self.most


@dataclass(frozen=True)
class Submitted:
    """The students who handed in, and when; of a group the first by address."""

    student: str = ""
    at: datetime.datetime | None = None
    due: datetime.datetime | None = None

    @property
    def is_late(self) -> bool:
        """True if it came after what was due."""
        return self.at is not None and self.due is not None and self.at > self.due


def metadata(path: Path) -> Submitted:
    """Read Gradescope's submission_metadata.json. Raises ExperimentError."""
    try:
        data: Any = userfile.json(userfile.read_text(path))
        students = sorted(str(each["email"]) for each in data["users"])
        at, due = data["created_at"], data.get("assignment", {}).get("due_date")
        times = [datetime.datetime.fromisoformat(each) if each else None for each in (at, due)]
        return Submitted(students[0], *(each.astimezone() if each else None for each in times))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ExperimentError(f"cannot read who handed in ({error})", str(path), "see what Gradescope writes there") from error


def answers(folder: Path, key: Sequence[Exercise], student: str) -> list[Graded]:
    """Grade a submission's answers. A wrong answer is a mark, not an error."""
    own = variants.Assigned(key).of(student)
    try:
        marked = class_marks.mark([_file(folder)], own, alone=True)
    except SlownetError as error:
        return [
            Graded(name(exercise, one.name), 0, 1, _without(error.line, folder))
            for exercise in own
            for one in exercise.solutions
        ]
    return [_graded(each) for each in marked.marks]


def name(exercise: Exercise, answer: str) -> str:
    """Return a question's name: the exercise and the answer."""
    return f"{exercise.name}.{answer}"


def _file(folder: Path) -> Path:
    named = folder / ANSWERS
    if os.path.lexists(named):
        return named
    with os.scandir(folder) as entries:
        found = (each.name for each in entries if each.name.endswith(".toml") and each.is_file(follow_symlinks=False))
        first, *others = [*found] or [ANSWERS]
    if others:
        what = f"{1 + len(others)} files are of the kind .toml, and none of them is {ANSWERS}"
        raise ExperimentError(what, fix=f"hand in one file, {ANSWERS}")
    return folder / first


def _graded(mark: Mark) -> Graded:
    said = SAID.get(mark.mark, "")
    if mark.mark == UNREADABLE:
        said = "it is not a number" + (f" of {mark.solution.unit}" if mark.solution.unit else "")
    elif mark.written:
        said = f"{shown(mark.written)}: {said}"
    return Graded(name(mark.exercise, mark.solution.name), float(mark.mark == RIGHT), 1, said)


def _without(line: str, folder: Path) -> str:
    """Return a line without the folder, which is the autograder's."""
    return line.replace(f"{folder}/", "").replace(f", in {folder}", "")
