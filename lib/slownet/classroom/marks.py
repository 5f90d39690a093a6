"""A class's marks: a page, with how the answers to each question lie around what is right, and CSV for gradebooks."""

from __future__ import annotations

import csv
import html
import re
from collections import Counter
from pathlib import Path
from typing import Any

from slownet.classroom.class_marks import MISSING, NOT_MARKED, RIGHT, UNREADABLE, WRONG, Mark, Marked
from slownet.classroom.key import Exercise, Solution
from slownet.hypotheses.answers import ROUND_TRIPS, Answers
from slownet.judge.records.naming import plural
from slownet.model.errors import ExperimentError
from slownet.report import spreadsheet
from slownet.report.page_template import template

# Moodle (``grade/import/csv``): any header; the teacher chooses which column identifies a user (``id``, ``idnumber``, ``email``
# or ``username``), and which ones are grades or feedback. A row whose identifying field is empty is passed
# over; ``-`` leaves a student without a grade.
#
# Canvas (``lib/gradebook_importer.rb``): ``Student, ID, SIS User ID, SIS Login ID, Section``, then assignments; a second row
# with "Points Possible" in its first field. A student is found by SIS User ID, then SIS Login ID, then name.

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


_ROW = re.compile(r'<th scope="row" class="row">(?P<student>.*?)</th><td(?P<without> colspan)?')


def check(path: Path, where: str, text: str) -> None:
    """Refuse to replace a file by a text without a row for each student who has marks in the file.

    path: the CSV file or the page, which need not exist.
    where: the option that names it.
    text: what is to be written there.
    Raises ExperimentError: students would lose their marks.
    """
    try:
        before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:  # writing it says why not
        return
    now = {name for name, _ in _students(text)}
    names = now | {name.partition(" (")[0] for name in now}  # with an id where two have one name
    lost = {name for name, has_marks in _students(before) if has_marks} - names
    if lost:
        what = f"{path} has marks of {plural(len(lost), 'student')} not among these files, and was not overwritten"
        raise ExperimentError(what, where, "mark all files in one call, name another file, or remove it")


def _students(text: str) -> set[tuple[str, bool]]:
    """Return each student in a table or a page, and whether the student has marks."""
    if text.lstrip().startswith("<"):
        return {(html.unescape(each["student"]), not each["without"]) for each in _ROW.finditer(text)}
    try:
        rows = [*csv.DictReader(text.splitlines(keepends=True))]
    except csv.Error:
        return set()
    return {(each["student"], each.get("mark") != NOT_MARKED) for each in rows if each.get("student")}


SIGNS = {RIGHT: "\u2713", WRONG: "\u2717", MISSING: "\u2013", UNREADABLE: "?"}
STYLES = {RIGHT: "supported", WRONG: "refuted", MISSING: "baseline", UNREADABLE: "inconclusive"}
WORST = 8
"""Different wrong answers that the page lists for a question, the most frequent first."""


def render(marked: Marked) -> str:
    """Return the page: one HTML file that needs no other."""
    questions = [(exercise, one) for exercise in marked.exercises for one in exercise.solutions]
    numbers: dict[tuple[str, str], int] = {}  # variants of a question have one number
    for exercise, one in questions:
        numbers.setdefault((exercise.name, one.name), len(numbers) + 1)
    return template("marks.html.j2").render(
        students=[_student(marked, each) for each in sorted(marked.students, key=str.casefold)],
        questions=[_question(marked, numbers[each[0].name, each[1].name], *each) for each in questions],
        without=[each.student for each in marked.without_marks],
        skipped=[each.line for each in marked.skipped],
        clocks=sorted({each.clock for each in marked.exercises if each.clock}),
        title=_title(marked),
    )


def _title(marked: Marked) -> str:
    """Return how many students and questions there are: "8 of 10 students marked, 3 questions"."""
    has, all_of_them = len(marked.students), len(marked.students) + len(marked.without_marks)
    students = plural(all_of_them, "student") if has == all_of_them else f"{has} of {plural(all_of_them, 'student')} marked"
    return f"{students}, {plural(marked.most, 'question')}"


def _student(marked: Marked, name: str) -> dict[str, Any]:
    why = marked.counted[marked.students.index(name)].why
    cells = [(SIGNS[each.mark], STYLES[each.mark], _shown(each)) for each in marked.of(name)]
    return {"name": name, "points": f"{marked.points(name):g}", "why": why, "cells": cells}


def _question(marked: Marked, number: int, exercise: Exercise, solution: Solution) -> dict[str, Any]:
    marks = marked.to(solution, exercise)
    wrong = Counter(_shown(each) for each in marks if each.mark in (WRONG, UNREADABLE))
    return {
        "number": number,
        "exercise": exercise,
        "solution": solution,
        "span": _in_unit(solution.span, solution.unit),
        "right": sum(each.mark == RIGHT for each in marks),
        "missing": sum(each.mark == MISSING for each in marks),
        "wrong": wrong.most_common(WORST),
        "others": max(0, len(wrong) - WORST),
        "students": len(marks),
    }


def _shown(mark: Mark) -> str:
    """Return an answer as it was written, with the unit if that was left out."""
    has_unit = mark.number is None or not mark.written or not mark.written.replace(".", "", 1).lstrip("-").isdigit()
    return mark.written if has_unit else _in_unit(mark.written, mark.solution.unit)


def _in_unit(number: str, unit: str) -> str:
    """Return a number, or a range, with its unit: "1 round trip", "1.9 to 2.1 round trips"."""
    one = number.split()[-1] == "1" and unit == ROUND_TRIPS
    return f"{number} {unit.removesuffix('s') if one else unit}".strip()
