"""`slownet mark`: marks a class's answers against one key."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.errors import writing

if TYPE_CHECKING:  # `slownet --help` imports this module
    from slownet.hypotheses.marking import Marked

COLUMNS = ("student", "exercise", "answer to", "answer", "number", "unit", "measured", "low", "high", "mark")


def mark(
    answers: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Students' answers (TOML), see `slownet check --answers`.")
    ],
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The key that `slownet check --key KEY.toml` wrote.")],
    csv_file: Annotated[Path, typer.Option("--csv", metavar="FILE", help="Where to write the marks as CSV.")] = Path(
        "marks.csv"
    ),
    page: Annotated[Path, typer.Option("--page", metavar="FILE", help="Where to write the page.")] = Path("marks.html"),
) -> None:
    """Mark the answers of a class against one measurement; write them as CSV and as a page."""
    from slownet.hypotheses import answers as files
    from slownet.hypotheses import key as keys
    from slownet.hypotheses import marking
    from slownet.report import marks
    from slownet.report.page import write_html

    marked = marking.mark([files.read(each) for each in answers], keys.read(key))
    _write_csv(csv_file, marked)
    write_html(page, marks.render(marked))
    most = sum(len(each.solutions) for each in marked.exercises)
    width = max(map(len, marked.students))
    for student in marked.students:
        print(f"{student:<{width}}  {marked.points(student)} of {most}")
    print(f"written  {csv_file}, {page}")


def _write_csv(path: Path, marked: Marked) -> None:
    with writing(path, "--csv"), path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for each in marked.marks:
            one = each.solution
            numbers = ("" if number is None else number for number in (one.measured, one.low, one.high))
            rows.writerow([
                each.student, each.exercise.name, one.name, each.written, "" if each.number is None else each.number,
                one.unit, *numbers, each.mark,
            ])  # fmt: skip
