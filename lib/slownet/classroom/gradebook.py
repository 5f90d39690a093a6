"""A class's totals as CSV, in the forms that the gradebooks of Moodle and Canvas import.

Moodle (``grade/import/csv``): any header; the teacher chooses which column identifies a user (``id``, ``idnumber``, ``email``
or ``username``), and which ones are grades or feedback. A row whose identifying field is empty is passed
over; ``-`` leaves a student without a grade.

Canvas (``lib/gradebook_importer.rb``): ``Student, ID, SIS User ID, SIS Login ID, Section``, then assignments; a second row with
"Points Possible" in its first field. A student is found by SIS User ID, then SIS Login ID, then name.
"""

from __future__ import annotations

from slownet.classroom.class_marks import Marked
from slownet.hypotheses.answers import Answers
from slownet.report import spreadsheet

MOODLE = ("Full name", "Email address", "Username", "ID number")
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
NO_GRADE = "-"
POINTS = "    Points Possible"


def moodle(marked: Marked, title: str) -> str:
    """Return Moodle's file: points, and as feedback which attempt counts and why."""
    rows: list[tuple[spreadsheet.Value, ...]] = [(*MOODLE, title, f"{title} (feedback)")]
    for student, each in zip(marked.students, marked.counted, strict=True):
        email, login, number = _known_as(each.answers)
        rows.append((each.answers.student, email, login, number, _plain(marked.points(student)), each.why))
    for one in marked.without_marks:
        rows.append((one.student, *_known_as(one.answers), NO_GRADE, f"not marked: {one.error.line}"))
    return spreadsheet.text(rows)


def canvas(marked: Marked, title: str) -> str:
    """Return Canvas' file."""
    rows: list[tuple[spreadsheet.Value, ...]] = [(*CANVAS, title), (POINTS, "", "", "", "", marked.most)]
    for student, each in zip(marked.students, marked.counted, strict=True):
        email, login, number = _known_as(each.answers)
        rows.append((each.answers.student, "", number, email or login, "", _plain(marked.points(student))))
    for one in marked.without_marks:
        email, login, number = _known_as(one.answers)
        rows.append((one.student, "", number, email or login, "", ""))
    return spreadsheet.text(rows)


def _known_as(answers: Answers | None) -> tuple[str, str, str]:
    """Return a student's id as an address, a login or a number, the others empty; all are if the file cannot be read."""
    if answers is None:
        return "", "", ""
    email, number = "@" in answers.id, answers.id.isdecimal()
    return answers.id if email else "", "" if email or number else answers.id, answers.id if number else ""


def _plain(points: float) -> float:
    return int(points) if points == int(points) else round(points, 2)
