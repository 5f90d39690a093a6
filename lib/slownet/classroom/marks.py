"""The page of a class's marks: each student's, and how the answers to each question lie around what is right."""

from __future__ import annotations

from collections import Counter
from typing import Any

from slownet.classroom.class_marks import MISSING, RIGHT, UNREADABLE, WRONG, Mark, Marked
from slownet.classroom.key import Exercise, Solution
from slownet.hypotheses.answers import ROUND_TRIPS
from slownet.judge.records.naming import plural
from slownet.report.page_template import template

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
