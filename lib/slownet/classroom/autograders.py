"""Marks in the formats of classroom programs: Gradescope's results.json, Submitty's validation_results.json, and text.

Gradescope: https://gradescope-autograders.readthedocs.io/en/latest/specs/ (``score`` of the whole "overrides total of tests").
Submitty: https://submitty.org/instructor/autograding/validation (a custom validator's score is a share of its test case).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from slownet.classroom.grading import Graded

VISIBLE = ("visible", "after_due_date", "after_published", "hidden")
"""When students see the tests, and so their points: Gradescope's words."""


def gradescope(graded: Sequence[Graded], share: float = 1.0, visibility: str = VISIBLE[0]) -> str:
    """Return results.json. share: what a late submission keeps of its points."""
    late = {"output": f"late: it keeps {share:.0%} of its points"} if share < 1 else {}
    tests = [
        {
            "score": each.points,
            "max_score": each.most,
            "name": each.name,
            "number": str(number),
            "output": each.said,
            "visibility": visibility,
        }
        for number, each in enumerate(graded, 1)
    ]
    score = round(share * sum(each.points for each in graded), 4)
    whole = {"score": score, **late, "visibility": visibility, "stdout_visibility": "hidden", "tests": tests}
    return json.dumps(whole, indent=1) + "\n"


def submitty(graded: Sequence[Graded]) -> str:
    """Return validation_results.json of one test case."""
    most = sum(each.most for each in graded)
    score = sum(each.points for each in graded) / most if most else 0.0
    messages = [{"message": f"{each.name}: {each.said}", "status": "success" if each.passed else "failure"} for each in graded]
    return json.dumps({"status": "success", "data": {"score": round(score, 4), "message": messages}}, indent=1) + "\n"


def text(graded: Sequence[Graded]) -> str:
    """Return a line for each question and test, and the total."""
    points, most = sum(each.points for each in graded), sum(each.most for each in graded)
    lines = [f"{each.points:g} of {each.most:g}  {each.name}: {each.said}" for each in graded]
    return "\n".join([*lines, f"{points:g} of {most:g}"]) + "\n"
